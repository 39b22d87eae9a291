/**
 * Sorting arrays of the host on a device with memory of its own while they are on their way, so that the
 * transfers hide most of the sort.
 *
 * Parts are sorted as they arrive. Then the sorted runs are cut by rank: the slices that hold part p of the
 * result, one run's behind the other's, are sorted as a part was, and leave while the device sorts the next.
 * Slices stand in the order of their runs and equal keys come from earlier runs first, so the whole is as
 * stable as the sort of a part. It is the scheme of chunked.ts with everything on the device at once.
 */
import type { Algorithm } from '../algorithms/algorithm.js';
import type { Buffer } from '../device/buffer.js';
import type { Device } from '../device/device.js';
import { bytesOf } from '../keys/array.js';
import { keyCodec } from '../keys/key-codec.js';
import { TimeoutError } from '../util/errors.js';
import type { HostJob } from './chunked.js';
import type { CutRuns } from './cut-runs.js';
import type { DeviceSort, Pending } from './device-sort.js';
import { throwIfAborted } from './options.js';
import type { Plan } from './planner.js';
import { download, upload } from './transfer.js';

/** Keys or values: where they come from and go to, and their parts on the device. */
interface Stream {
  readonly bytes: number;
  readonly from: Uint8Array;
  readonly to: Uint8Array;
  /** Each part as it arrives, and as it leaves. */
  readonly parts: readonly Buffer[];
  readonly runs: readonly Buffer[];
  /** Slices for the part that is sorted next. */
  readonly slices: Buffer;
}

/** What sorts the parts: compiled for them, and sure to sort stably. */
export interface PartSort {
  readonly device: Device;
  readonly engine: DeviceSort;
  readonly algorithm: Algorithm;
  readonly cutter: CutRuns;
  /** Of a part: all have `plan.n` keys but the last, which may have fewer. */
  readonly plan: Plan;
}

/**
 * Sorts a job of keys, or of keys and values, in parts.
 *
 * @returns false when the algorithm gave up: the output is not to be used
 * @throws MemoryError, DeviceLostError, TimeoutError, AbortedError
 */
export async function sortStreamed(by: PartSort, job: HostJob): Promise<boolean> {
  const { device, plan } = by;
  const { queue, pool, transfers } = device;
  const taken: Buffer[] = [];
  const take = (bytes: number): Buffer => {
    const buffer = pool.take(bytes);
    taken.push(buffer);
    return buffer;
  };
  const starts = Array.from({ length: Math.ceil(job.keys.n / plan.n) }, (_, i) => i * plan.n);
  const stream = (bytes: number, from: ArrayBufferView, to: ArrayBufferView): Stream => ({
    bytes,
    from: bytesOf(from),
    to: bytesOf(to),
    parts: starts.map(() => take(plan.n * bytes)),
    runs: starts.map(() => take(plan.n * bytes)),
    slices: take(plan.n * bytes),
  });
  let hung = false;
  try {
    const { keys, sorted, values, moved } = job;
    const streams = [
      ...(sorted ? [stream(keys.info.bytes, keys.view, sorted)] : []),
      ...(values && moved ? [stream(values.bytes, values.view, moved)] : []),
    ];
    return await new StreamedSort(by, job, starts, streams).run();
  } catch (error) {
    hung = error instanceof TimeoutError; // the device is given up
    throw error;
  } finally {
    // Nothing may be in flight on memory that others get; what fails here has failed before.
    for (const lane of hung ? [] : [transfers.queue, queue]) await lane.finish().catch(() => undefined);
    for (const buffer of taken) pool.give(buffer);
  }
}

class StreamedSort {
  readonly #by: PartSort;
  readonly #job: HostJob;
  readonly #starts: readonly number[];
  readonly #streams: readonly Stream[];
  readonly #pending: Pending[] = [];

  constructor(by: PartSort, job: HostJob, starts: readonly number[], streams: readonly Stream[]) {
    this.#by = by;
    this.#job = job;
    this.#starts = starts;
    this.#streams = streams;
  }

  async run(): Promise<boolean> {
    const { queue } = this.#by.device;
    const { timeout } = this.#job.settings;
    const cuts = await this.#sortArriving();
    await queue.finish(timeout);
    if (this.#gaveUp) return false;
    await this.#sortLeaving(cuts());
    await queue.finish(timeout);
    return !this.#gaveUp;
  }

  get #gaveUp(): boolean {
    return this.#pending.some((one) => one.outcome().gaveUp);
  }

  /** Bytes of part p in host memory. */
  #slice({ bytes }: Stream, array: Uint8Array, p: number): Uint8Array {
    const start = this.#starts[p] ?? 0;
    return array.subarray(start * bytes, Math.min(start + this.#by.plan.n, this.#job.keys.n) * bytes);
  }

  /** @returns where the sorted runs are to be cut, once the queue has finished */
  async #sortArriving(): Promise<() => number[][]> {
    const { device, cutter, plan } = this.#by;
    const { keys, settings } = this.#job;
    const { transfers, queue } = device;
    const started = performance.now();
    // Each part is sent when the one before is on its way, whoever waits for it.
    let sent = Promise.resolve();
    const arrivals = this.#starts.map((_, p) => {
      const sending = sent.then(async () => {
        for (const one of this.#streams) {
          await upload(device, one.parts[p] as Buffer, this.#slice(one, one.from, p), { lane: transfers });
        }
      });
      sent = sending;
      return sending.then(() => transfers.queue.reached(settings.timeout));
    });
    try {
      for (const [p, arrived] of arrivals.entries()) {
        await arrived;
        throwIfAborted(settings.signal);
        this.#sort(p, ({ parts, runs }) => [parts[p] as Buffer, runs[p] as Buffer]);
        queue.flush();
      }
    } finally {
      await Promise.allSettled(arrivals); // they read the caller's memory
    }
    queue.note('upload', (performance.now() - started) / 1000);
    const runs = this.#streams[0]?.runs ?? [];
    const { bits, n: runKeys } = plan;
    return cutter.enqueue({ runs, n: keys.n, runKeys, bits, codec: keyCodec(keys.dtype, settings) });
  }

  async #sortLeaving(cuts: readonly (readonly number[])[]): Promise<void> {
    const { device } = this.#by;
    const { settings } = this.#job;
    const { transfers, queue } = device;
    const started = performance.now();
    const sorted = cuts.map((ends, p) => {
      let filled = 0;
      for (const [r, end] of ends.entries()) {
        const begin = cuts[p - 1]?.[r] ?? 0;
        for (const { bytes, runs, slices } of this.#streams) {
          const range = { bytes: (end - begin) * bytes, fromOffset: begin * bytes, toOffset: filled * bytes };
          queue.copy(runs[r] as Buffer, slices, { ...range, stage: 'copy slices' });
        }
        filled += end - begin;
      }
      this.#sort(p, ({ slices, parts }) => [slices, parts[p] as Buffer]);
      return queue.reached(settings.timeout);
    });
    try {
      for (const [p, ready] of sorted.entries()) {
        await ready;
        throwIfAborted(settings.signal);
        for (const one of this.#streams) {
          await download(device, one.parts[p] as Buffer, this.#slice(one, one.to, p), { lane: transfers });
        }
      }
      await transfers.queue.finish(settings.timeout);
    } finally {
      await Promise.allSettled(sorted);
    }
    queue.note('download', (performance.now() - started) / 1000);
  }

  /** Enqueues the sort of part p, from and to buffers of each stream. */
  #sort(p: number, between: (stream: Stream) => [from: Buffer, to: Buffer]): void {
    const { engine, algorithm, plan } = this.#by;
    const { keys, settings } = this.#job;
    const n = Math.min(plan.n, keys.n - (this.#starts[p] ?? 0));
    const [[input, output], values] = this.#streams.map(between) as [[Buffer, Buffer], [Buffer, Buffer]?];
    const pending = engine.enqueue(
      algorithm,
      { ...plan, n },
      {
        input,
        output,
        ...(values && { inputValues: values[0], outputValues: values[1] }),
        codec: keyCodec(keys.dtype, settings),
        bits: plan.bits,
        indices: false,
        verify: false,
      },
    );
    this.#pending.push(pending);
    pending.release(); // what takes the scratch next comes later in the queue
  }
}
