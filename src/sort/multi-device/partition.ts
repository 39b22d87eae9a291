/**
 * Partitions host keys into shards that are sorted separately: all keys of a shard come before those of the
 * next one. A sample determines the splitters (a sample sort: Frazer and McKellar, 1970). A splitter is a
 * code and, among the keys with that code, a position. So equal keys may be in several shards, which keeps
 * shards even. Each shard keeps the order of the input, so the whole is stable.
 */
import { availableParallelism } from 'node:os';
import { assertNotAbandoned, type StagedTransferTarget } from '../../device/staging.js';
import { typedError } from '../../device/status.js';
import {
  byteRange,
  emptyLike,
  type HostColumn,
  isDetached,
  type KeyWords,
  keyWords,
  withFixedLength,
} from '../../keys/array.js';
import { codecWords, encode, keyCodec } from '../../keys/key-codec.js';
import * as cl from '../../opencl/index.js';
import { errorOfCode } from '../../util/errors.js';
import { Random } from '../../util/random.js';
import { hostSort } from '../host/host-sort.js';
import type { Column } from '../model/column.js';
import type { HostJob } from '../model/job.js';
import { throwIfAborted } from '../model/options.js';
import { partitionOnDevices } from './device-partition.js';
import { type DeviceWorker, MAX_CONCURRENT_PIECES } from './device-worker.js';
import { isRetryableElsewhere } from './retryable-elsewhere.js';

/**
 * Sampled keys per shard. With these, shard boundaries are almost surely off by less than a hundredth of all
 * keys.
 */
const SAMPLES = 2 ** 13;

/** Bytes of keys, or of values, that are partitioned at a time. */
const PIECE_BYTES = 2 ** 25;

/** Most threads that partition a piece. */
const MAX_THREADS = 32;

/**
 * For two devices: bytes of keys between two checks of the signal, bytes per transfer, and bytes of a staging
 * ring.
 */
const CHUNK_BYTES = 2 ** 30;
const TRANSFER_BYTES = 2 ** 21;
const RING_BYTES = 2 ** 25;

/**
 * For more than two devices: chunks per device, and the limits of keys per chunk. Several chunks let the
 * transfers hide the sort. A chunk is large enough to be worth a sort and small enough for the scratch
 * memory.
 */
const CHUNKS_PER_DEVICE = 4;
const MIN_CHUNK_KEYS = 2 ** 22;
const MAX_CHUNK_KEYS = 2 ** 26;

/** Destination of a shard's keys and values. */
export interface PieceBuffers {
  readonly keys: ArrayBufferView;
  readonly values?: ArrayBufferView;
}

/** Direct upload of keys to a device, without pieces. */
export interface DirectUpload {
  readonly worker: DeviceWorker;
  readonly keys: Column;
  /** Capacity of the column in keys. */
  readonly maxKeys: number;
  /** Opens a staged transfer. Its errors, and those of `use`, become the failure of the writer. */
  feed(use: (feed: StagedTransferTarget) => Promise<void>): Promise<void>;
  /** Records that `count` keys have arrived. */
  received(count: number): void;
}

/** Receives a shard piece by piece. */
export interface PartitionWriter {
  /** Reserves memory for all keys of the next piece; resolves to undefined to only count them. */
  reserve(): Promise<PieceBuffers | undefined>;
  /** Records that `count` keys of a piece were written. Called in the order of the pieces. */
  pieceWritten(count: number): void;
  /** Direct upload, if the writer supports it. */
  readonly directUpload?: DirectUpload | undefined;
  /** Whether memory for a piece can be reserved before the previous piece was written. Default: false. */
  readonly reservesAhead?: boolean;
}

/** Returns the bytes of values per key of a job; 0 without values. */
export const carriedBytes = ({ values, moved }: HostJob): number => (moved ? (values?.bytes ?? 4) : 0);

/** Returns the most keys of a piece. */
export const pieceKeys = (job: HostJob): number =>
  Math.floor(PIECE_BYTES / Math.max(job.keys.info.bytes, carriedBytes(job)));

/** A partition of the keys of a job. */
export class Partitioner {
  readonly #job: HostJob;
  readonly #codec: BigUint64Array;
  readonly #codes: BigUint64Array;
  readonly #positions: BigUint64Array;
  /** Keys of these codes. */
  readonly #splitterKeys: KeyWords;

  /** @param weights relative size of each shard, in any unit */
  constructor(job: HostJob, weights: readonly number[]) {
    const { keys, values, settings } = job;
    const { bits = [0, keys.info.width] } = settings;
    const mask = (1n << BigInt(bits[1])) - (1n << BigInt(bits[0]));
    const codec = keyCodec(keys.dtype, settings);
    // Threads must not read memory that may shrink.
    this.#job = {
      ...job,
      keys: { ...keys, view: keyWords(withFixedLength(keys.view), keys.info) },
      ...(values && { values: { ...values, view: withFixedLength(values.view) } }),
    };
    this.#codec = codecWords(codec, mask);
    const sample = sampleOf(keys, SAMPLES * weights.length);
    const sorted = emptyLike(sample.column.view, sample.column.n);
    const order = new Uint32Array(sample.column.n);
    hostSort(sample.column, { ...settings, bits }, { sorted, moved: order });
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    let before = 0;
    const ranks = weights.slice(0, -1).map((weight) => {
      before += weight;
      return Math.min(Math.round((before / total) * sorted.length), sorted.length - 1);
    });
    this.#splitterKeys = emptyLike(sorted, ranks.length);
    for (const [b, rank] of ranks.entries()) this.#splitterKeys[b] = sorted[rank] as never;
    this.#codes = BigUint64Array.from(ranks, (rank) => encode(codec, BigInt(sorted[rank] ?? 0)) & mask);
    this.#positions = BigUint64Array.from(ranks, (rank) => BigInt(sample.positions[order[rank] ?? 0] ?? 0));
  }

  /** Number of shards. */
  get shardCount(): number {
    return this.#codes.length + 1;
  }

  /**
   * Writes each shard to its writer, in the order of the keys. Keys without values that are compared by all
   * bits may arrive in any order.
   *
   * @param writers writer of each shard; undefined to skip the shard
   * @returns the number of keys of each shard
   * @throws AbortedError when the signal is aborted
   * @throws the errors of the writers
   */
  async partitionInto(writers: readonly (PartitionWriter | undefined)[]): Promise<number[]> {
    const { keys, values, settings } = this.#job;
    const { info } = keys;
    const valueBytes = carriedBytes(this.#job);
    const direct = this.#directUploads(writers);
    if (direct) {
      const divided = (await this.#exchange(direct)) ?? (await this.#divide(direct));
      if (divided) return divided;
    }
    const step = pieceKeys(this.#job);
    const totals = writers.map(() => 0);
    const threads = Math.min(availableParallelism(), MAX_THREADS);
    const pieceFrom = async (start: number): Promise<Uint32Array> => {
      const end = Math.min(start + step, keys.n);
      const buffers = await Promise.all(writers.map((writer) => writer?.reserve()));
      const counts = new Uint32Array(this.shardCount);
      await cl.splitAsync(
        byteRange(keys.view, start * info.bytes, end * info.bytes),
        info.bytes,
        this.#codec,
        this.#codes,
        this.#positions,
        start,
        values && valueBytes > 0 ? byteRange(values.view, start * valueBytes, end * valueBytes) : null,
        valueBytes,
        buffers.map((buffer) => buffer?.keys ?? null),
        valueBytes > 0 ? buffers.map((buffer) => buffer?.values ?? null) : null,
        counts,
        threads,
      );
      return counts;
    };
    const maxConcurrent = writers.every((writer) => !writer || writer.reservesAhead)
      ? MAX_CONCURRENT_PIECES
      : 1;
    const pending: Promise<Uint32Array>[] = [];
    const settleNext = async (): Promise<void> => {
      const counts = await pending[0];
      pending.shift();
      writers.forEach((writer, s) => {
        const count = counts?.[s] as number;
        totals[s] = (totals[s] as number) + count;
        writer?.pieceWritten(count);
      });
    };
    try {
      for (let start = 0; start < keys.n; start += step) {
        throwIfAborted(settings.signal);
        pending.push(pieceFrom(start));
        if (pending.length === maxConcurrent) await settleNext();
      }
      while (pending.length > 0) await settleNext();
    } finally {
      await Promise.allSettled(pending); // pending pieces still write to reserved memory
    }
    return totals;
  }

  /** Returns the direct uploads of all writers; undefined if keys have to go in pieces. */
  #directUploads(writers: readonly (PartitionWriter | undefined)[]): readonly DirectUpload[] | undefined {
    const { keys, settings } = this.#job;
    const { bits = [0, keys.info.width] } = settings;
    const direct = writers.flatMap((writer) => writer?.directUpload ?? []);
    // Keys that are equal in the window but differ elsewhere must keep their order.
    const isWhole = bits[0] === 0 && bits[1] === keys.info.width;
    const isPlain = isWhole && carriedBytes(this.#job) === 0;
    return isPlain && direct.length === writers.length && direct.length > 1 ? direct : undefined;
  }

  /**
   * Partitions the keys on the devices: by default with more than two, since host memory is then the
   * bottleneck, or as the tuning requests.
   *
   * @returns undefined otherwise, or if a device failed
   */
  async #exchange(direct: readonly DirectUpload[]): Promise<number[] | undefined> {
    const { settings } = this.#job;
    const { exchange = direct.length > 2 ? this.#chunkKeysFor(direct.length) : 0 } = settings.tuning;
    if (exchange === 0) return undefined;
    const splitters = { keys: this.#splitterKeys, positions: this.#positions };
    try {
      const counts = await partitionOnDevices(this.#job, splitters, direct, exchange);
      direct.forEach(({ received }, s) => {
        received(counts[s] as number);
      });
      return counts;
    } catch (error) {
      if (!isRetryableElsewhere(error, settings)) throw error;
      const message = `cannot partition the keys on the devices: ${error.message}; falling back to the host`;
      settings.onWarning?.(errorOfCode(error.code, message, { cause: error }));
      return undefined;
    }
  }

  #chunkKeysFor(devices: number): number {
    const chunk = Math.ceil(this.#job.keys.n / (CHUNKS_PER_DEVICE * devices));
    return Math.min(MAX_CHUNK_KEYS, Math.max(MIN_CHUNK_KEYS, chunk));
  }

  /**
   * Partitions the keys with host threads that upload to two devices.
   *
   * @returns undefined for more devices, or if the staged transfer of one could not start
   */
  async #divide(direct: readonly DirectUpload[]): Promise<number[] | undefined> {
    if (direct.length !== 2) return undefined;
    const two = direct as readonly [DirectUpload, DirectUpload];
    const { keys, settings } = this.#job;
    const { bytes } = keys.info;
    const step = CHUNK_BYTES / bytes;
    const totals = [0, 0];
    const statuses = [0, 0];
    const threads = Math.min(availableParallelism(), MAX_THREADS);
    const [code, position] = [this.#codes[0] as bigint, this.#positions[0] as bigint];
    const divide = async (feeds: readonly [StagedTransferTarget, StagedTransferTarget]): Promise<void> => {
      for (let start = 0; start < keys.n; start += step) {
        throwIfAborted(settings.signal);
        feeds.forEach(assertNotAbandoned);
        const end = Math.min(start + step, keys.n);
        const results = new BigInt64Array(2 * cl.SPLIT_TRANSFER.WORDS);
        const offsets = totals.map((total) => total * bytes);
        // A device that has failed, or that has too many keys, receives no more.
        const capacities = direct.map(({ maxKeys }, s) =>
          statuses[s] === 0 ? Math.max(0, maxKeys * bytes - (offsets[s] as number)) : 0,
        );
        await cl.splitToBuffersAsync(
          byteRange(keys.view, start * bytes, end * bytes),
          bytes,
          this.#codec,
          code,
          position,
          start,
          [feeds[0].queue, feeds[1].queue],
          [feeds[0].buffer, feeds[1].buffer],
          BigUint64Array.from(offsets, (offset, s) => (capacities[s] ? BigInt(offset) : 0n)),
          BigUint64Array.from(capacities, BigInt),
          [feeds[0].ring.subarray(0, RING_BYTES), feeds[1].ring.subarray(0, RING_BYTES)],
          TRANSFER_BYTES,
          results,
          threads,
        );
        for (let s = 0; s < 2; s++) {
          const { COUNT, STATUS, WORDS } = cl.SPLIT_TRANSFER;
          totals[s] = (totals[s] as number) + Number(results[s * WORDS + COUNT]);
          statuses[s] ||= Number(results[s * WORDS + STATUS]);
        }
      }
    };
    const check = (s: 0 | 1): void => {
      const status = statuses[s];
      if (status !== 0) throw typedError({ status, message: `status ${status}` }, 'upload a shard');
    };
    // Rings are taken in one global order, so that no two calls can deadlock. Each device gets only its own
    // failure.
    const [outer, inner] =
      two[0].worker.number < two[1].worker.number ? ([0, 1] as const) : ([1, 0] as const);
    let divided = false;
    let failure: { readonly error: unknown } | undefined;
    await two[outer].feed(async (own) => {
      await two[inner].feed(async (other) => {
        if (isDetached(own.ring)) return; // reported below to the device concerned
        divided = true;
        try {
          await divide(outer === 0 ? [own, other] : [other, own]);
        } catch (error) {
          failure = { error };
        }
        check(inner);
      });
      if (!divided) assertNotAbandoned(own);
      check(outer);
    });
    if (failure) throw failure.error;
    if (!divided) return undefined;
    direct.forEach(({ received }, s) => {
      received(totals[s] as number);
    });
    return totals;
  }
}

/** Samples keys evenly: one random position from each equal part of the array, with n as the seed. */
function sampleOf(keys: HostColumn, maxSamples: number): { column: HostColumn; positions: Float64Array } {
  const { view, n, info, dtype } = keys;
  const count = Math.min(n, maxSamples);
  const random = new Random(n);
  const positions = new Float64Array(count);
  const sample = emptyLike(view, count) as Uint32Array; // one type for all four types of words
  for (let i = 0; i < count; i++) {
    const from = Math.floor((i * n) / count);
    const position = from + random.below(Math.floor(((i + 1) * n) / count) - from);
    positions[i] = position;
    sample[i] = view[position] as number;
  }
  return { column: { dtype, info, n: count, view: keyWords(sample, info) as KeyWords }, positions };
}
