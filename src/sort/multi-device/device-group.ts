import { byteRange, copyBytes, type HostColumn, newBytes } from '../../keys/array.js';
import type { ReduceOp } from '../../primitives/possible.js';
import type { ClsortError } from '../../util/errors.js';
import { verifyOnHost } from '../backend/host-backend.js';
import { runWhileAttached, spansOf } from '../model/array-assertions.js';
import { byteLengthOf, type Column, column } from '../model/column.js';
import { type HostJob, isHostJob, type SortJob, valueBytesOf } from '../model/job.js';
import { type SortSettings, throwIfAborted } from '../model/options.js';
import { type SortReport, sharedReport } from '../model/report.js';
import type { TopColumns } from '../operations/operation.js';
import { widenOnHost } from '../operations/positions.js';
import { enqueueReduce } from '../operations/reduce/reduce.js';
import { enqueueTopK } from '../operations/top-k/top-k.js';
import type { MemoryUsage } from '../transfer/column-memory.js';
import type { DeviceWorker } from './device-worker.js';
import { sortWorkKind, type WorkKind } from './measurements.js';
import { carriedBytes, Partitioner } from './partition.js';
import { combineResults, startsOf } from './parts.js';
import { MAX_TOP_FRACTION, MIN_SHARED_BYTES, SHARD_SLACK } from './policy.js';
import type { WorkDivision } from './rates.js';
import { firstSuccessful, isRetryableElsewhere } from './retryable-elsewhere.js';
import { settleAll } from './settle-all.js';
import { HostShardWriter, type Shard, type ShardWriter, shardWriterFor } from './shard-writer.js';
import { candidateWorkers, WorkDivider } from './work-divider.js';

/** The sort of shard number `s`, whose keys are those from `at` on in the order of all. */
interface ShardSort {
  readonly partitioner: Partitioner;
  readonly writer: ShardWriter | undefined;
  readonly worker: DeviceWorker;
  readonly s: number;
  readonly at: number;
  readonly count: number;
  readonly kind: WorkKind;
}

/** Several devices that share work on host arrays. */
export class DeviceGroup {
  readonly workers: readonly DeviceWorker[];
  readonly #onWarning: (warning: ClsortError) => void;
  readonly #divider: WorkDivider;

  /** @param workers two or more devices; the first one runs all work that is not shared */
  constructor(workers: readonly DeviceWorker[], onWarning: (warning: ClsortError) => void) {
    this.workers = workers;
    this.#onWarning = onWarning;
    this.#divider = new WorkDivider(workers, onWarning);
  }

  /**
   * Whether to consider sharing an input: from 4 MiB on, or with `tuning.deviceCount`; never with the `host` algorithm.
   */
  isWorthSharing(bytes: number, { tuning, algorithm }: SortSettings): boolean {
    if (algorithm === 'host') return false;
    return tuning.deviceCount !== undefined || bytes >= MIN_SHARED_BYTES;
  }

  /**
   * Decides whether the group sorts a job.
   *
   * @returns the job for the group; undefined if one device sorts it, or if its memory is not all on the host
   */
  sharedJob(job: SortJob): HostJob | undefined {
    const { keys, settings, widePositions } = job;
    if (widePositions) return undefined; // the partition writes positions of 32 bits
    const bytes = byteLengthOf(keys) + valueBytesOf(job);
    return keys.n > 0 && this.isWorthSharing(bytes, settings) && isHostJob(job) ? job : undefined;
  }

  /**
   * Sorts a job on as many devices as is fastest.
   *
   * @throws the errors of `Sorter.sort`
   */
  sort(job: HostJob): Promise<void> {
    return runWhileAttached(spansOf(job), () => this.#sort(job));
  }

  async #sort(job: HostJob): Promise<void> {
    const { keys, settings } = job;
    const started = performance.now();
    throwIfAborted(settings.signal);
    settings.onProgress?.({ phase: 'sort', done: 0, total: keys.n });
    const kind = sortWorkKind(job, this.workers);
    const division = await this.#divider.divide(kind, keys.n, settings);
    const sortStarted = performance.now();
    const shares = await this.#sortDivided(job, division, kind);
    const isShared = division.workers.length > 1;
    if (isShared)
      await this.#divider.recordOverrun(kind, (performance.now() - sortStarted) / 1000 / division.seconds);
    const verified = settings.verify && isShared ? await verifyOnHost(job, 'the sort by shares') : undefined;
    throwIfAborted(settings.signal);
    settings.onProgress?.({ phase: 'sort', done: keys.n, total: keys.n });
    if (!settings.onReport) return;
    const seconds = (performance.now() - started) / 1000;
    const whole = { n: keys.n, seconds, reason: division.reason, ...(verified && { verified }) };
    settings.onReport(
      sharedReport(
        shares.flatMap((report) => report ?? []),
        whole,
      ),
    );
  }

  async #sortDivided(
    job: HostJob,
    { workers, weights }: WorkDivision<DeviceWorker>,
    kind: WorkKind,
  ): Promise<(SortReport | undefined)[]> {
    const { keys, settings } = job;
    const [first] = workers;
    if (!first || workers.length === 1) {
      const whole = { job, kind, count: keys.n, alone: true };
      return [await this.#onFirst(first, settings, (worker) => this.#sortOnWorker(worker, whole))];
    }
    const partitioner = new Partitioner(job, weights);
    const writers: (ShardWriter | undefined)[] = [];
    try {
      workers.forEach((worker, s) => {
        const maxKeys = Math.min(keys.n, Math.ceil(keys.n * ((weights[s] as number) + SHARD_SLACK)));
        writers.push(this.#shardWriterFor(worker, job, maxKeys));
      });
      const counts = await partitioner.partitionInto(writers);
      let start = 0;
      const shares = workers.map((worker, s) => {
        const at = start;
        start += counts[s] as number;
        return { worker, s, at, count: counts[s] as number };
      });
      const sorted = await settleAll(
        shares
          .filter(({ count }) => count > 0)
          .map((share) => this.#sortShard(job, { partitioner, writer: writers[share.s], kind, ...share })),
      );
      return sorted;
    } finally {
      for (const writer of writers) writer?.release();
    }
  }

  /** Creates the writer for a device's shard; undefined if memory runs out: the shard is then partitioned later. */
  #shardWriterFor(worker: DeviceWorker, job: HostJob, maxKeys: number): ShardWriter | undefined {
    try {
      return shardWriterFor(worker, job, maxKeys);
    } catch (error) {
      if (!isRetryableElsewhere(error, job.settings)) throw error;
      return undefined;
    }
  }

  /** Sorts a shard on its device. If that fails, another device takes the shard from the input again. */
  async #sortShard(
    job: HostJob,
    { partitioner, writer, worker, s, at, count, kind }: ShardSort,
  ): Promise<SortReport | undefined> {
    const { keys, sorted, moved, settings } = job;
    const carried = carriedBytes(job);
    const end = at + count;
    const jobFor = (share: Shard): SortJob => ({
      ...share,
      settings,
      ...(sorted && { sorted: byteRange(sorted, at * keys.info.bytes, end * keys.info.bytes) }),
      ...(moved && { moved: byteRange(moved, at * carried, end * carried) }),
    });
    const sort = (by: DeviceWorker, share: Shard) =>
      this.#sortOnWorker(by, { job: jobFor(share), kind, count, alone: false });
    const attempts: (readonly [DeviceWorker, () => Promise<SortReport | undefined>])[] = [];
    if (writer) attempts.push([worker, async () => sort(worker, await writer.finish())]);
    let repartitioned: Promise<Shard> | undefined;
    const repartition = async (by: DeviceWorker): Promise<Shard> => {
      const retryWriter = new HostShardWriter(by, job, count);
      await partitioner.partitionInto(
        Array.from({ length: partitioner.shardCount }, (_, i) => (i === s ? retryWriter : undefined)),
      );
      return retryWriter.finish();
    };
    const [own, ...others] = candidateWorkers(this.workers, worker) as [DeviceWorker, ...DeviceWorker[]];
    for (const by of writer ? [...others, own] : [own, ...others]) {
      attempts.push([
        by,
        async () => {
          repartitioned ??= repartition(by);
          return sort(by, await repartitioned);
        },
      ]);
    }
    return firstSuccessful(attempts, settings, settings.onWarning ?? this.#onWarning);
  }

  async #sortOnWorker(
    worker: DeviceWorker,
    { job, kind, count, alone }: { job: SortJob; kind: WorkKind; count: number; alone: boolean },
  ): Promise<SortReport | undefined> {
    let report: SortReport | undefined;
    const { onProgress: _, onReport, ...settings } = job.settings;
    const started = performance.now();
    await worker.sort({
      ...job,
      settings: {
        ...settings,
        ...(onReport && {
          onReport: (made: SortReport) => {
            report = made;
          },
        }),
      },
    });
    const seconds = (performance.now() - started) / 1000;
    await this.#divider.recordSort(kind, worker, { count, seconds, alone });
    return report;
  }

  /**
   * Prepares to reduce slices of the keys, each on its device.
   *
   * @returns undefined if one device should do it, as for sums of floats, which depend on the order of summation
   */
  reduce(keys: Column, op: ReduceOp, settings: SortSettings): (() => Promise<number | bigint>) | undefined {
    const { n, info, dtype, place } = keys;
    const summed = op === 'sum' && info.kind === 'float';
    if (n < this.workers.length || summed || !ArrayBuffer.isView(place)) return undefined;
    if (!this.isWorthSharing(n * info.bytes, settings)) return undefined;
    const one = (worker: DeviceWorker, start: number, count: number) => {
      const slice = column(dtype, count, byteRange(place, start * info.bytes, (start + count) * info.bytes));
      return worker.operate({ n: count, settings, onHost: true, again: true }, (call) =>
        enqueueReduce(call, slice, op),
      );
    };
    const kind: WorkKind = { name: `reduce ${dtype} ${op}`, probe: (worker, count) => one(worker, 0, count) };
    return async () => combineResults(await this.#bySlices(kind, n, settings, one), op, dtype);
  }

  /**
   * Prepares to select the first keys of the order from those of each slice.
   *
   * @returns undefined if one device should do it
   */
  topK(keys: Column, out: TopColumns, settings: SortSettings): (() => Promise<void>) | undefined {
    const { n, info, dtype, place } = keys;
    const k = out.keys.n;
    if (!ArrayBuffer.isView(place) || !this.isWorthSharing(n * info.bytes, settings)) return undefined;
    if (k > (n * MAX_TOP_FRACTION) / this.workers.length)
      return () => this.#firstOf(keys, undefined, out, settings);
    const one = async (worker: DeviceWorker, start: number, count: number) => {
      const slice = column(dtype, count, byteRange(place, start * info.bytes, (start + count) * info.bytes));
      const few = Math.min(k, count);
      const top = { keys: newBytes(few * info.bytes), positions: new Uint32Array(few) };
      const { onProgress: _, onReport: __, ...own } = settings;
      await worker.operate({ n: count, settings: own, onHost: true, again: true }, async (call) => {
        await enqueueTopK(call, slice, {
          keys: column(dtype, few, top.keys),
          positions: column('u32', few, top.positions),
        });
        return () => undefined;
      });
      for (let i = 0; i < few; i++) top.positions[i] = (top.positions[i] as number) + start;
      return top;
    };
    const kind: WorkKind = {
      name: `topK ${info.bytes} ${Math.ceil(Math.log2(k + 1))}`,
      probe: (worker, count) => one(worker, 0, count),
    };
    return async () => {
      const tops = await this.#bySlices(kind, n, settings, one);
      const candidates = tops.reduce((sum, { positions }) => sum + positions.length, 0);
      const all = { keys: newBytes(candidates * info.bytes), positions: new Uint32Array(candidates) };
      let at = 0;
      for (const top of tops) {
        copyBytes(top.keys, byteRange(all.keys, at * info.bytes));
        all.positions.set(top.positions, at);
        at += top.positions.length;
      }
      await this.#firstOf({ ...keys, n: candidates, place: all.keys }, all.positions, out, settings);
    };
  }

  /** Sorts keys with their positions, or with the given ones, and copies the first ones to `out`. */
  async #firstOf(
    keys: Column,
    positions: Uint32Array | undefined,
    out: TopColumns,
    settings: SortSettings,
  ): Promise<void> {
    const sorted = newBytes(keys.n * keys.info.bytes);
    const moved = new Uint32Array(keys.n);
    const values = positions && { place: positions, bytes: 4 };
    const job = { keys, settings, sorted, moved, ...(values && { values }) };
    const shared = this.sharedJob(job);
    if (shared) await this.#sort(shared);
    else await this.#onFirst(undefined, settings, (worker) => worker.sort(job));
    const [bytes, k] = [keys.info.bytes, out.keys.n];
    copyBytes(byteRange(sorted, 0, k * bytes), out.keys.place as ArrayBufferView);
    const first = column('u32', k, moved);
    if (out.positions.dtype === 'u64') await widenOnHost(first, out.positions, settings.signal);
    else copyBytes(byteRange(moved, 0, k * 4), out.positions.place as ArrayBufferView);
  }

  /** Runs `one` on slices of the keys, each on its device, and returns the results in order. */
  async #bySlices<T>(
    kind: WorkKind,
    n: number,
    settings: SortSettings,
    one: (worker: DeviceWorker, start: number, count: number) => Promise<T>,
  ): Promise<T[]> {
    throwIfAborted(settings.signal);
    const { workers, weights } = await this.#divider.divide(kind, n, settings);
    const starts = startsOf(n, weights);
    const slices = workers.map((worker, i) => {
      const start = starts[i] as number;
      return { worker, start, count: (starts[i + 1] as number) - start };
    });
    return settleAll(
      slices
        .filter(({ count }) => count > 0)
        .map(({ worker, start, count }) => this.#onFirst(worker, settings, (by) => one(by, start, count))),
    );
  }

  /** Runs `work` on a device, by default the first one, or on another one if it fails there. */
  #onFirst<T>(
    first: DeviceWorker | undefined,
    settings: SortSettings,
    work: (worker: DeviceWorker) => Promise<T>,
  ): Promise<T> {
    const attempts = candidateWorkers(this.workers, first).map(
      (worker) => [worker, () => work(worker)] as const,
    );
    return firstSuccessful(attempts, settings, settings.onWarning ?? this.#onWarning);
  }

  /** Returns the fraction of such keys for each device if all take part, by their measured sort times. */
  async weigh(keys: HostColumn, settings: SortSettings): Promise<number[]> {
    const job = { keys: { ...keys, place: keys.view }, settings, sorted: keys.view };
    const all = { ...settings, tuning: { deviceCount: this.workers.length } };
    const { workers, weights } = await this.#divider.divide(sortWorkKind(job, this.workers), keys.n, all);
    return this.workers.map((worker) => weights[workers.indexOf(worker)] ?? 0);
  }

  /** Memory usage of all devices; the peaks are summed, though they need not have occurred at the same time. */
  get usage(): MemoryUsage {
    const all = this.workers.map(({ session }) => session.backend.memory.usage);
    const sum = (of: keyof MemoryUsage) => all.reduce((bytes, usage) => bytes + usage[of], 0);
    return { used: sum('used'), idle: sum('idle'), peak: sum('peak') };
  }

  /** Releases the pooled memory of all devices. */
  trim(): void {
    for (const { session } of this.workers) session.backend.memory.trim();
  }

  /** Waits for pending work and closes the sessions of all devices but the first. */
  async close(): Promise<void> {
    for (const worker of this.workers) await worker.close();
    for (const { session } of this.workers.slice(1)) await session.close();
  }
}
