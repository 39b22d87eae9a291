/**
 * Sorting arrays of the host on a device with memory of its own while they are on their way, so that the
 * transfers hide most of the sort.
 *
 * Parts are sorted as they arrive. Then the sorted runs are cut by rank: the slices that hold part p of the
 * result, one run's behind the other's, are sorted as a part was, and leave while the device sorts the next.
 * Slices stand in the order of their runs and equal keys come from earlier runs first, so the whole is as
 * stable as the sort of a part. It is the scheme of chunked.ts with everything on the device at once; all
 * of it is enqueued before any of it is done.
 */
import type { Algorithm } from '../../algorithms/algorithm.js';
import { enqueueWithScratch } from '../../algorithms/run.js';
import type { Buffer } from '../../device/buffer.js';
import type { Device } from '../../device/device.js';
import { byteRange } from '../../keys/array.js';
import { keyCodec } from '../../keys/key-codec.js';
import { TimeoutError } from '../../util/errors.js';
import type { HostJob } from '../backend/job.js';
import type { Plan } from '../backend/plan.js';
import { cutBytes, type RunCutter } from './run-cutter.js';

/** Keys or values: where they come from and go to, and their parts on the device. */
interface Stream {
  readonly bytes: number;
  readonly from: ArrayBufferView;
  readonly to: ArrayBufferView;
  /** Each part as it arrives, and as it leaves. */
  readonly parts: readonly Buffer[];
  readonly runs: readonly Buffer[];
  /** Slices for the part that is sorted next. */
  readonly slices: Buffer;
}

/** What sorts the parts: compiled for them, and sure to sort stably. */
export interface PartSorter {
  readonly device: Device;
  readonly algorithm: Algorithm;
  readonly cutter: RunCutter;
  /** Of a part: all have `plan.n` keys but the last, which may have fewer. */
  readonly plan: Plan;
}

/**
 * Sorts a job of keys, or of keys and values, in parts. Host memory that the device cannot reach by itself is
 * sorted right too, but nothing overlaps then.
 *
 * @returns false when the algorithm gave up: the output is not to be used
 * @throws MemoryError, DeviceLostError, TimeoutError
 */
export async function sortStreamed(sorter: PartSorter, job: HostJob): Promise<boolean> {
  const { device, plan } = sorter;
  const { queue, pool } = device;
  const { timeout } = job.settings;
  const buffers: Buffer[] = [];
  const take = (bytes: number): Buffer => {
    const buffer = pool.take(bytes);
    buffers.push(buffer);
    return buffer;
  };
  const parts = Array.from({ length: Math.ceil(job.keys.n / plan.n) }, (_, p) => p);
  const stream = (bytes: number, from: ArrayBufferView, to: ArrayBufferView): Stream => ({
    bytes,
    from,
    to,
    parts: parts.map(() => take(plan.n * bytes)),
    runs: parts.map(() => take(plan.n * bytes)),
    slices: take(plan.n * bytes),
  });
  let hung = false;
  try {
    const { keys, sorted, values, moved } = job;
    const streams = [
      ...(sorted ? [stream(keys.info.bytes, keys.view, sorted)] : []),
      ...(values && moved ? [stream(values.bytes, values.view, moved)] : []),
    ];
    const statuses = take(4 * 2 * parts.length);
    const cuts = take(cutBytes({ n: keys.n, runKeys: plan.n }));
    enqueueAll(sorter, job, { parts, streams, statuses, cuts });
    await queue.finish(timeout);
    const gaveUp = new Uint32Array(2 * parts.length);
    queue.read(statuses, gaveUp);
    await queue.finish(timeout);
    for (const way of [device.transferQueues.up, device.transferQueues.down]) await way.finish(timeout);
    return gaveUp.every((status) => status === 0);
  } catch (error) {
    hung = error instanceof TimeoutError; // the device is given up
    throw error;
  } finally {
    // Nothing may be in flight on memory that others get; what fails here has failed before.
    for (const one of hung ? [] : [device.transferQueues.up, device.transferQueues.down, queue])
      await one.finish().catch(() => undefined);
    for (const buffer of buffers) pool.give(buffer);
  }
}

interface Work {
  readonly parts: readonly number[];
  readonly streams: readonly Stream[];
  /** A word for each sort of a part. */
  readonly statuses: Buffer;
  readonly cuts: Buffer;
}

function enqueueAll(sorter: PartSorter, { keys, settings }: HostJob, work: Work): void {
  const { device, algorithm, cutter, plan } = sorter;
  const { queue, transferQueues: ways } = device;
  const { parts, streams, statuses, cuts } = work;
  const { bits, n: partKeys } = plan;
  const codec = keyCodec(keys.dtype, settings);
  const count = (p: number): number => Math.min(partKeys, keys.n - p * partKeys);
  const slice = ({ bytes }: Stream, array: ArrayBufferView, p: number): ArrayBufferView =>
    byteRange(array, p * partKeys * bytes, (p * partKeys + count(p)) * bytes);

  queue.fill(statuses, 0, { bytes: 4 * 2 * parts.length });
  /** Sort number i, of part p, from and to buffers of each stream. */
  const sort = (i: number, p: number, between: (stream: Stream) => [from: Buffer, to: Buffer]): void => {
    const [[input, output], values] = streams.map(between) as [[Buffer, Buffer], [Buffer, Buffer]?];
    const run = enqueueWithScratch(algorithm, queue, {
      n: count(p),
      bits,
      codec,
      input,
      output,
      ...(values && { inputValues: values[0], outputValues: values[1] }),
      indices: false,
    });
    if (run.status) queue.copy(run.status, statuses, { bytes: 4, toOffset: 4 * i, stage: 'status' });
    run.release(); // the next command that takes the scratch comes later in the queue
  };

  const arrived = parts.map((p) => {
    for (const one of streams) ways.up.write(one.parts[p] as Buffer, slice(one, one.from, p));
    return ways.up.mark();
  });
  for (const [p, mark] of arrived.entries()) {
    queue.waitFor(mark);
    sort(p, p, ({ parts: from, runs }) => [from[p] as Buffer, runs[p] as Buffer]);
    queue.flush();
  }
  const [{ runs } = { runs: [] }] = streams;
  cutter.cut({ runs, n: keys.n, runKeys: partKeys, bits, codec }, cuts);
  for (const p of parts) {
    for (const { bytes, runs: all, slices } of streams) {
      cutter.take(all, { bytes, cuts, slices }, { part: p, count: count(p) });
    }
    sort(parts.length + p, p, ({ slices, parts: to }) => [slices, to[p] as Buffer]);
    ways.down.waitFor(queue.mark());
    for (const one of streams) ways.down.read(one.parts[p] as Buffer, slice(one, one.to, p));
    ways.down.flush();
  }
}
