/**
 * Splitting keys of the host into shares that are sorted each by itself: all keys of a share come before those of the
 * next. Where a share begins is told by a sample (a sample sort: Frazer and McKellar, 1970), as a code and, among the keys
 * that have it, a position. So equal keys may be in several shares, which stay even, and the whole is stable since each
 * share is in the order of the input.
 */
import { availableParallelism } from 'node:os';
import { emptyLike, type HostColumn, type KeyWords, keyWords, part } from '../../keys/array.js';
import { codecWords, encode, keyCodec } from '../../keys/key-codec.js';
import * as cl from '../../opencl/index.js';
import { Random } from '../../util/random.js';
import { throwIfAborted } from '../api/options.js';
import type { HostJob } from '../backend/job.js';
import { hostSort } from '../host/host-sort.js';

/** Keys of the sample for each share: the ends of shares are off by less than a hundredth of all keys almost surely. */
const SAMPLES = 2 ** 13;

/** Bytes of keys, or of what travels with them, that are split at a time. */
const PIECE_BYTES = 2 ** 25;

/** Threads that split at once. */
const MOST_THREADS = 32;

/** Where keys of a share go, and what travels with them. */
export interface Room {
  readonly keys: ArrayBufferView;
  readonly values?: ArrayBufferView;
}

/** Takes a share, piece by piece. */
export interface Sink {
  /** Room for all keys of a piece, when there is some; undefined where they are only to be counted. */
  room(): Promise<Room | undefined>;
  /** So many have come. */
  took(count: number): void;
}

/** Bytes of what travels with each key of a job, 0 for nothing. */
export const carriedBytes = ({ values, moved }: HostJob): number => (moved ? (values?.bytes ?? 4) : 0);

/** Most keys of a piece. */
export const pieceKeys = (job: HostJob): number =>
  Math.floor(PIECE_BYTES / Math.max(job.keys.info.bytes, carriedBytes(job)));

/** One way to split the keys of a job. */
export class Split {
  readonly #job: HostJob;
  readonly #codec: BigUint64Array;
  readonly #codes: BigUint64Array;
  readonly #positions: BigUint64Array;

  /** @param weights what part of the keys each share is to have; in any unit */
  constructor(job: HostJob, weights: readonly number[]) {
    const { keys, settings } = job;
    const { bits = [0, keys.info.width] } = settings;
    const mask = (1n << BigInt(bits[1])) - (1n << BigInt(bits[0]));
    const codec = keyCodec(keys.dtype, settings);
    this.#job = job;
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
    this.#codes = BigUint64Array.from(ranks, (rank) => encode(codec, BigInt(sorted[rank] ?? 0)) & mask);
    this.#positions = BigUint64Array.from(ranks, (rank) => BigInt(sample.positions[order[rank] ?? 0] ?? 0));
  }

  /** How many shares there are. */
  get shares(): number {
    return this.#codes.length + 1;
  }

  /**
   * Has each share brought where it is wanted, in the order of the keys.
   *
   * @param sinks of each share; undefined where nobody wants it
   * @returns how many keys each has
   * @throws AbortedError; what sinks throw
   */
  async into(sinks: readonly (Sink | undefined)[]): Promise<number[]> {
    const { keys, values, settings } = this.#job;
    const { info } = keys;
    const valueBytes = carriedBytes(this.#job);
    const step = pieceKeys(this.#job);
    const totals = sinks.map(() => 0);
    const counts = new Uint32Array(this.shares);
    const threads = Math.min(availableParallelism(), MOST_THREADS);
    for (let start = 0; start < keys.n; start += step) {
      throwIfAborted(settings.signal);
      const end = Math.min(start + step, keys.n);
      const rooms = await Promise.all(sinks.map((sink) => sink?.room()));
      await cl.splitAsync(
        part(keys.view, start * info.bytes, end * info.bytes),
        info.bytes,
        this.#codec,
        this.#codes,
        this.#positions,
        start,
        values && valueBytes > 0 ? part(values.view, start * valueBytes, end * valueBytes) : null,
        valueBytes,
        rooms.map((room) => room?.keys ?? null),
        valueBytes > 0 ? rooms.map((room) => room?.values ?? null) : null,
        counts,
        threads,
      );
      sinks.forEach((sink, s) => {
        const count = counts[s] as number;
        totals[s] = (totals[s] as number) + count;
        sink?.took(count);
      });
    }
    return totals;
  }
}

/** Keys from all over, each from its part of the array, by a seed. */
function sampleOf(keys: HostColumn, most: number): { column: HostColumn; positions: Float64Array } {
  const { view, n, info, dtype } = keys;
  const count = Math.min(n, most);
  const random = new Random(n);
  const positions = new Float64Array(count);
  const sample = emptyLike(view, count) as Uint32Array; // stands for all four types of words
  for (let i = 0; i < count; i++) {
    const from = Math.floor((i * n) / count);
    const position = from + random.below(Math.floor(((i + 1) * n) / count) - from);
    positions[i] = position;
    sample[i] = view[position] as number;
  }
  return { column: { dtype, info, n: count, view: keyWords(sample, info) as KeyWords }, positions };
}
