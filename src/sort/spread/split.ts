/**
 * Splitting keys of the host into shares that are sorted each by itself: all keys of a share come before those of the
 * next. Where a share begins is told by a sample (a sample sort: Frazer and McKellar, 1970), as a code and, among the keys
 * that have it, a position. So equal keys may be in several shares, which stay even, and the whole is stable since each
 * share is in the order of the input.
 */
import { availableParallelism } from 'node:os';
import { assertNotAbandoned, type StagedTransferTarget } from '../../device/staging.js';
import { typedError } from '../../device/status.js';
import {
  emptyLike,
  fixed,
  type HostColumn,
  isDetached,
  type KeyWords,
  keyWords,
  part,
} from '../../keys/array.js';
import { codecWords, encode, keyCodec } from '../../keys/key-codec.js';
import * as cl from '../../opencl/index.js';
import { errorOfCode } from '../../util/errors.js';
import { Random } from '../../util/random.js';
import { throwIfAborted } from '../api/options.js';
import type { Column } from '../backend/column.js';
import type { HostJob } from '../backend/job.js';
import { hostSort } from '../host/host-sort.js';
import { splitOnDevices } from './device-split.js';
import { type Member, PIECES_AT_ONCE } from './member.js';
import { isMovable } from './movable.js';

/** Keys of the sample for each share: the ends of shares are off by less than a hundredth of all keys almost surely. */
const SAMPLES = 2 ** 13;

/** Bytes of keys, or of what travels with them, that are split at a time. */
const PIECE_BYTES = 2 ** 25;

/** Threads that split a piece. */
const MAX_THREADS = 32;

/** Bytes of keys that are divided between two devices until a signal is looked at, bytes that a device takes at a time, and of a ring. */
const STRETCH_BYTES = 2 ** 30;
const TRANSFER_BYTES = 2 ** 21;
const DIVIDED_RING_BYTES = 2 ** 25;

/**
 * Keys that each of more than two devices sorts at a time to split them: its part in several stretches, so that the bus hides the
 * sorting, but no fewer than a sort is worth, and no more than scratch has room for.
 */
const STRETCHES = 4;
const MIN_EXCHANGED = 2 ** 22;
const MAX_EXCHANGED = 2 ** 26;

/** Where keys of a share go, and what travels with them. */
export interface Room {
  readonly keys: ArrayBufferView;
  readonly values?: ArrayBufferView;
}

/** A way for keys to the memory of a device, without pieces. */
export interface Direct {
  readonly member: Member;
  readonly keys: Column;
  /** Most keys that there is room for. */
  readonly most: number;
  /** Lends what brings them there; what this or `use` fails with is the sink's failure. */
  feed(use: (feed: StagedTransferTarget) => Promise<void>): Promise<void>;
  /** So many have come. */
  came(count: number): void;
}

/** Takes a share, piece by piece. */
export interface Sink {
  /** Room for all keys of the next piece, when there is some; undefined where they are only to be counted. */
  room(): Promise<Room | undefined>;
  /** So many have come of a piece, in the order of the pieces. */
  took(count: number): void;
  /** Where keys go without pieces, if they can. */
  readonly direct?: Direct | undefined;
  /** Can it give room for a piece before it is told of the one before? Default false. */
  readonly ahead?: boolean;
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
  /** Keys of these codes. */
  readonly #borderKeys: KeyWords;

  /** @param weights what part of the keys each share is to have; in any unit */
  constructor(job: HostJob, weights: readonly number[]) {
    const { keys, values, settings } = job;
    const { bits = [0, keys.info.width] } = settings;
    const mask = (1n << BigInt(bits[1])) - (1n << BigInt(bits[0]));
    const codec = keyCodec(keys.dtype, settings);
    // Threads must not read memory that may shrink.
    this.#job = {
      ...job,
      keys: { ...keys, view: keyWords(fixed(keys.view), keys.info) },
      ...(values && { values: { ...values, view: fixed(values.view) } }),
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
    this.#borderKeys = emptyLike(sorted, ranks.length);
    for (const [b, rank] of ranks.entries()) this.#borderKeys[b] = sorted[rank] as never;
    this.#codes = BigUint64Array.from(ranks, (rank) => encode(codec, BigInt(sorted[rank] ?? 0)) & mask);
    this.#positions = BigUint64Array.from(ranks, (rank) => BigInt(sample.positions[order[rank] ?? 0] ?? 0));
  }

  /** How many shares there are. */
  get shares(): number {
    return this.#codes.length + 1;
  }

  /**
   * Has each share brought where it is wanted, in the order of the keys; keys alone whose bits all count in any order.
   *
   * @param sinks of each share; undefined where nobody wants it
   * @returns how many keys each has
   * @throws AbortedError; what sinks throw
   */
  async into(sinks: readonly (Sink | undefined)[]): Promise<number[]> {
    const { keys, values, settings } = this.#job;
    const { info } = keys;
    const valueBytes = carriedBytes(this.#job);
    const direct = this.#directTo(sinks);
    if (direct) {
      const divided = (await this.#exchange(direct)) ?? (await this.#divide(direct));
      if (divided) return divided;
    }
    const step = pieceKeys(this.#job);
    const totals = sinks.map(() => 0);
    const threads = Math.min(availableParallelism(), MAX_THREADS);
    const pieceFrom = async (start: number): Promise<Uint32Array> => {
      const end = Math.min(start + step, keys.n);
      const rooms = await Promise.all(sinks.map((sink) => sink?.room()));
      const counts = new Uint32Array(this.shares);
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
      return counts;
    };
    const most = sinks.every((sink) => !sink || sink.ahead) ? PIECES_AT_ONCE : 1;
    const begun: Promise<Uint32Array>[] = [];
    const tell = async (): Promise<void> => {
      const counts = await begun[0];
      begun.shift();
      sinks.forEach((sink, s) => {
        const count = counts?.[s] as number;
        totals[s] = (totals[s] as number) + count;
        sink?.took(count);
      });
    };
    try {
      for (let start = 0; start < keys.n; start += step) {
        throwIfAborted(settings.signal);
        begun.push(pieceFrom(start));
        if (begun.length === most) await tell();
      }
      while (begun.length > 0) await tell();
    } finally {
      await Promise.allSettled(begun); // which write where there was room
    }
    return totals;
  }

  /** The ways of sinks that take keys alone without pieces; undefined where keys go in pieces. */
  #directTo(sinks: readonly (Sink | undefined)[]): readonly Direct[] | undefined {
    const { keys, settings } = this.#job;
    const { bits = [0, keys.info.width] } = settings;
    const direct = sinks.flatMap((sink) => sink?.direct ?? []);
    // Keys that differ elsewhere have an order.
    const isWhole = bits[0] === 0 && bits[1] === keys.info.width;
    const isPlain = isWhole && carriedBytes(this.#job) === 0;
    return isPlain && direct.length === sinks.length && direct.length > 1 ? direct : undefined;
  }

  /**
   * Has the devices split the keys: more than two of them, since memory of the host then takes longer than they do, or where
   * that is asked for; undefined elsewhere, and where one failed.
   */
  async #exchange(direct: readonly Direct[]): Promise<number[] | undefined> {
    const { settings } = this.#job;
    const { exchange = direct.length > 2 ? this.#stretchFor(direct.length) : 0 } = settings.tuning;
    if (exchange === 0) return undefined;
    const borders = { keys: this.#borderKeys, positions: this.#positions };
    try {
      const counts = await splitOnDevices(this.#job, borders, direct, exchange);
      direct.forEach(({ came }, s) => {
        came(counts[s] as number);
      });
      return counts;
    } catch (error) {
      if (!isMovable(error, settings)) throw error;
      const message = `the devices failed to split the keys: ${error.message}; the host splits them`;
      settings.onWarning?.(errorOfCode(error.code, message, { cause: error }));
      return undefined;
    }
  }

  #stretchFor(devices: number): number {
    const stretch = Math.ceil(this.#job.keys.n / (STRETCHES * devices));
    return Math.min(MAX_EXCHANGED, Math.max(MIN_EXCHANGED, stretch));
  }

  /** Has threads divide the keys and bring them to two devices; undefined for more, and where one has no way. */
  async #divide(direct: readonly Direct[]): Promise<number[] | undefined> {
    if (direct.length !== 2) return undefined;
    const two = direct as readonly [Direct, Direct];
    const { keys, settings } = this.#job;
    const { bytes } = keys.info;
    const step = STRETCH_BYTES / bytes;
    const totals = [0, 0];
    const statuses = [0, 0];
    const threads = Math.min(availableParallelism(), MAX_THREADS);
    const [code, position] = [this.#codes[0] as bigint, this.#positions[0] as bigint];
    const divide = async (feeds: readonly [StagedTransferTarget, StagedTransferTarget]): Promise<void> => {
      for (let start = 0; start < keys.n; start += step) {
        throwIfAborted(settings.signal);
        feeds.forEach(assertNotAbandoned);
        const end = Math.min(start + step, keys.n);
        const told = new BigInt64Array(2 * cl.SPLIT_TRANSFER.WORDS);
        const offsets = totals.map((total) => total * bytes);
        // One that has failed, or has too many, takes no more.
        const rooms = direct.map(({ most }, s) =>
          statuses[s] === 0 ? Math.max(0, most * bytes - (offsets[s] as number)) : 0,
        );
        await cl.splitToBuffersAsync(
          part(keys.view, start * bytes, end * bytes),
          bytes,
          this.#codec,
          code,
          position,
          start,
          [feeds[0].queue, feeds[1].queue],
          [feeds[0].buffer, feeds[1].buffer],
          BigUint64Array.from(offsets, (offset, s) => (rooms[s] ? BigInt(offset) : 0n)),
          BigUint64Array.from(rooms, BigInt),
          [feeds[0].ring.subarray(0, DIVIDED_RING_BYTES), feeds[1].ring.subarray(0, DIVIDED_RING_BYTES)],
          TRANSFER_BYTES,
          told,
          threads,
        );
        for (let s = 0; s < 2; s++) {
          const { COUNT, STATUS, WORDS } = cl.SPLIT_TRANSFER;
          totals[s] = (totals[s] as number) + Number(told[s * WORDS + COUNT]);
          statuses[s] ||= Number(told[s * WORDS + STATUS]);
        }
      }
    };
    const check = (s: 0 | 1): void => {
      const status = statuses[s];
      if (status !== 0) throw typedError({ status, message: `status ${status}` }, 'uploading a share');
    };
    // Rings are taken in one order, so that no two calls wait for each other; each device is told of its own failure.
    const [outer, inner] =
      two[0].member.number < two[1].member.number ? ([0, 1] as const) : ([1, 0] as const);
    let divided = false;
    let failure: { readonly error: unknown } | undefined;
    await two[outer].feed(async (own) => {
      await two[inner].feed(async (other) => {
        if (isDetached(own.ring)) return; // told below, to whom it concerns
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
    direct.forEach(({ came }, s) => {
      came(totals[s] as number);
    });
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
