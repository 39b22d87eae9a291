/**
 * Sorts host arrays on a device with dedicated memory during the transfers, which hide most of the sort.
 *
 * Parts are sorted as they arrive. Then the sorted runs are cut by rank. The slices that hold part p of the
 * result are concatenated in the order of their runs and sorted. The part is downloaded while the device
 * sorts the next one. Equal keys come from earlier runs first, so the result is as stable as the sort of a
 * part. The scheme is that of sort-in-chunks.ts with everything on the device at once. All commands are
 * enqueued before any is done.
 */
import type { Algorithm } from '../../algorithms/algorithm.js';
import { enqueueWithScratch } from '../../algorithms/run.js';
import type { Device } from '../../device/device.js';
import type { Buffer } from '../../device/memory/buffer.js';
import { byteRange } from '../../keys/array.js';
import { keyCodec } from '../../keys/key-codec.js';
import { TimeoutError } from '../../util/errors.js';
import type { HostJob } from '../model/job.js';
import type { Plan } from '../model/plan.js';
import { cutBytes, type RunCutter } from './run-cutter.js';

/** Keys or values: host memory to read and to write, and their parts on the device. */
interface Stream {
  readonly bytes: number;
  readonly from: ArrayBufferView;
  readonly to: ArrayBufferView;
  /** Each part as it arrives, and as it leaves. */
  readonly parts: readonly Buffer[];
  readonly runs: readonly Buffer[];
  /** Slices of the part that is sorted next. */
  readonly slices: Buffer;
}

/** Sorts the parts: compiled for them and stable. */
export interface PartSorter {
  readonly device: Device;
  readonly algorithm: Algorithm;
  readonly cutter: RunCutter;
  /** Plan of a part: all parts have `plan.n` keys, the last one possibly fewer. */
  readonly plan: Plan;
}

/**
 * Sorts a job of keys, or of keys and values, in parts. If the device cannot access the host memory directly,
 * the result is correct but nothing overlaps.
 *
 * @returns false when the algorithm gave up: the output must not be used
 * @throws MemoryError when memory runs out
 * @throws DeviceLostError when the device failed
 * @throws TimeoutError when the timeout passed
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
      ...(sorted ? [stream(keys.info.bytes, keys.place, sorted)] : []),
      ...(values && moved ? [stream(values.bytes, values.place, moved)] : []),
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
    hung = error instanceof TimeoutError; // the device is abandoned
    throw error;
  } finally {
    // No command may be in flight on memory that is returned to the pool. Errors here were already reported.
    for (const one of hung ? [] : [device.transferQueues.up, device.transferQueues.down, queue])
      await one.finish().catch(() => undefined);
    for (const buffer of buffers) pool.give(buffer);
  }
}

interface Work {
  readonly parts: readonly number[];
  readonly streams: readonly Stream[];
  /** A status word for each sort of a part. */
  readonly statuses: Buffer;
  readonly cuts: Buffer;
}

function enqueueAll(sorter: PartSorter, { keys, settings }: HostJob, work: Work): void {
  const { device, algorithm, cutter, plan } = sorter;
  const { queue, transferQueues } = device;
  const { parts, streams, statuses, cuts } = work;
  const { bitRange: bits, n: partKeys } = plan;
  const codec = keyCodec(keys.dtype, settings);
  const count = (p: number): number => Math.min(partKeys, keys.n - p * partKeys);
  const slice = ({ bytes }: Stream, array: ArrayBufferView, p: number): ArrayBufferView =>
    byteRange(array, p * partKeys * bytes, (p * partKeys + count(p)) * bytes);

  queue.fill(statuses, 0, { bytes: 4 * 2 * parts.length });
  /** Enqueues sort number i, of part p, between buffers of each stream. */
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
    run.release(); // later users of the scratch come later in the queue
  };

  const arrived = parts.map((p) => {
    for (const one of streams) transferQueues.up.write(one.parts[p] as Buffer, slice(one, one.from, p));
    return transferQueues.up.mark();
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
    transferQueues.down.waitFor(queue.mark());
    for (const one of streams) transferQueues.down.read(one.parts[p] as Buffer, slice(one, one.to, p));
    transferQueues.down.flush();
  }
}
