/**
 * Partitions host keys into shards that are sorted separately: all keys of a shard come before those of the
 * next one. A sample determines the splitters (a sample sort: Frazer and McKellar, 1970). A splitter is a
 * code and, among the keys with that code, a position. So equal keys may be in several shards, which keeps
 * shards even. Each shard keeps the order of the input, so the whole is stable.
 */
import {
  byteRange,
  emptyLike,
  type HostColumn,
  type KeyWords,
  keyWords,
  withFixedLength,
} from '../../keys/array.js';
import { codecWords, encode, keyCodec } from '../../keys/key-codec.js';
import { splitAsync } from '../../native-host/host-functions.js';
import { Random } from '../../util/random.js';
import { hostThreads } from '../../util/threads.js';
import { hostSort } from '../host/host-sort.js';
import { hostColumn } from '../model/column.js';
import type { HostJob } from '../model/job.js';
import { throwIfAborted } from '../model/options.js';
import { MAX_CONCURRENT_PIECES, MAX_THREADS, PIECE_BYTES, SAMPLES } from './policy.js';

/** Destination of a shard's keys and values. */
export interface PieceBuffers {
  readonly keys: ArrayBufferView;
  readonly values?: ArrayBufferView;
}

/** Receives a shard piece by piece. */
export interface PartitionWriter {
  /** Reserves memory for all keys of the next piece; resolves to undefined to only count them. */
  reserve(): Promise<PieceBuffers | undefined>;
  /** Records that `count` keys of a piece were written. Called in the order of the pieces. */
  pieceWritten(count: number): void;
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

  /** @param weights relative size of each shard, in any unit */
  constructor(job: HostJob, weights: readonly number[]) {
    const { keys, values, settings } = job;
    const { bits = [0, keys.info.width] } = settings;
    const mask = (1n << BigInt(bits[1])) - (1n << BigInt(bits[0]));
    const codec = keyCodec(keys.dtype, settings);
    // Threads must not read memory that may shrink.
    this.#job = {
      ...job,
      keys: { ...keys, place: withFixedLength(keys.place) },
      ...(values && { values: { ...values, place: withFixedLength(values.place) } }),
    };
    this.#codec = codecWords(codec, mask);
    const sample = sampleOf(hostColumn(keys), SAMPLES * weights.length);
    const sorted = emptyLike(sample.column.view, sample.column.n);
    const order = new Uint32Array(sample.column.n);
    hostSort(sample.column, { ...settings, bits }, { sorted, moved: order });
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    let before = 0;
    const ranks = weights.slice(0, -1).map((weight) => {
      before += weight;
      return Math.min(Math.round((before / total) * sorted.length), sorted.length - 1);
    });
    this.#codes = BigUint64Array.from(ranks, (rank) => encode(codec, BigInt(sorted[rank] ?? 0)) & mask);
    this.#positions = BigUint64Array.from(ranks, (rank) => BigInt(sample.positions[order[rank] ?? 0] ?? 0));
  }

  get shardCount(): number {
    return this.#codes.length + 1;
  }

  /**
   * Writes each shard to its writer, in the order of the keys.
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
    const step = pieceKeys(this.#job);
    const totals = writers.map(() => 0);
    const threads = Math.min(hostThreads(), MAX_THREADS);
    const pieceFrom = async (start: number): Promise<Uint32Array> => {
      const end = Math.min(start + step, keys.n);
      const buffers = await Promise.all(writers.map((writer) => writer?.reserve()));
      const counts = new Uint32Array(this.shardCount);
      await splitAsync(
        byteRange(keys.place, start * info.bytes, end * info.bytes),
        info.bytes,
        this.#codec,
        this.#codes,
        this.#positions,
        start,
        values && valueBytes > 0 ? byteRange(values.place, start * valueBytes, end * valueBytes) : null,
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
