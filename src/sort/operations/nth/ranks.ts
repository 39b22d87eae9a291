import { newArray } from '../../../keys/array.js';
import { decode, encode, keyCodec } from '../../../keys/key-codec.js';
import { columnKernel } from '../../backend/column-kernel.js';
import { encodedKeysOf } from '../../backend/native-column-kernels.js';
import type { Call, LaterSteps, Sort } from '../../calls/call.js';
import type { Steps } from '../../host/steps.js';
import { type Column, column, wordsOf } from '../../model/column.js';
import { HISTOGRAM } from '../histogram/histogram.js';
import { MAX_RANKS, MAX_UNSELECTED, RANK_DIGIT_BITS } from '../policy.js';
import { COMPACT } from '../select/selection.js';
import type { Ranks } from './device.js';

/** The order of the codes: ascending, NaN last. */
const BY_CODE = { descending: false, nan: 'last' } as const;

/** The sort of keys by their bits below `end`. */
const sortOf = (keys: Column, sorted: Column, end: number): Sort => ({
  keys,
  sorted: sorted.place,
  settings: { ...BY_CODE, bits: [0, end] },
});

/** Returns a column in host memory of keys that are given by their bits. */
export function columnOfBits(
  { dtype, info }: Pick<Column, 'dtype' | 'info'>,
  keys: readonly bigint[],
): Column {
  const made = column(dtype, keys.length, newArray(dtype, keys.length));
  const words = wordsOf(made) as { [i: number]: unknown };
  for (const [i, bits] of keys.entries()) words[i] = info.width === 64 ? bits : Number(bits);
  return made;
}

/**
 * Finds the bits of the keys at ranks, see src/native/host/rank_select.h and cl/rank_select.cl. In JavaScript it does
 * nothing.
 *
 * @returns a function that returns them after the next wait
 */
const SELECT_RANKS = columnKernel<[keys: Column, which: Ranks], (() => readonly bigint[]) | undefined>({
  *host(): Steps<undefined> {
    yield;
  },
  native: {
    extent: (keys) => [keys.n, keys],
    run: async (onThreads, keys, { nan, ranks }) => {
      const codec = keyCodec(keys.dtype, { nan });
      const codes = BigUint64Array.from(ranks, BigInt);
      await onThreads('hostSelectRanksAsync', keys.n, ...encodedKeysOf(keys, codec), codes);
      return () => Array.from(codes, (code) => decode(codec, code));
    },
  },
  load: async () => (await import('./device.js')).selectRanksOnDevice,
});

/** What a call does with keys at ranks: a sort, and other steps. */
interface Next {
  readonly sort: Sort;
  readonly steps: LaterSteps;
}

/**
 * Finds the keys that a sort would put at some ranks, and waits for them.
 *
 * A histogram of a digit shows which values of the digit the ranks are in. The keys with these values are copied, and
 * searched by the next digit until few are left, which are sorted. For one rank of uniform keys that is two reads of the
 * keys. Source: M. Blum et al., "Time bounds for selection" (1973), by digits as in radix sort. Complexity: O(n) for each
 * rank.
 *
 * Where a sort takes less time, with `verify`, or for many ranks, all keys are sorted instead.
 *
 * @param ranks positions in the order of the call's `nan`, each below the number of keys
 * @param next what the call does next: the programs of the first call are compiled at once
 * @returns the bits of the key at each rank
 */
export async function keysAtRanks(
  call: Call,
  keys: Column,
  ranks: readonly number[],
  next?: Next,
): Promise<bigint[]> {
  if (ranks.length === 0) return [];
  const codec = keyCodec(keys.dtype);
  const input = await call.bindInput(keys);
  const { kernels } = call.columns;
  const ascending = [...new Set(ranks)].sort((a, b) => a - b);
  if (kernels.ranksBy === 'kernel' && !call.settings.verify && ascending.length <= MAX_RANKS) {
    const { nan } = call.settings;
    if (next) {
      await call.prepare(next.sort, (none) => [
        kernels.run(SELECT_RANKS, none(keys.dtype), { nan, ranks: [] }),
        ...next.steps(none),
      ]);
    }
    const read = await kernels.run(SELECT_RANKS, input, { nan, ranks: ascending });
    if (read) {
      await call.settle();
      const bits = read();
      return ranks.map((rank) => bits[ascending.indexOf(rank)] as bigint);
    }
  }
  const nans = call.settings.nan === 'first' ? await countNaNs(call, input) : 0;
  const numbers = keys.n - nans;
  const byCode = ranks.map((rank) => (rank < nans ? numbers + rank : rank - nans));
  const wanted = [...new Set(byCode)].sort((a, b) => a - b);
  const search = new RankSearch(call, input);
  await search.prepare(wanted.length, next);
  const codes = await search.find(input, wanted, [keys.info.width, 0n]);
  const found = new Map(wanted.map((rank, i) => [rank, decode(codec, codes[i] as bigint)]));
  return byCode.map((rank) => found.get(rank) as bigint);
}

async function countNaNs(call: Call, keys: Column): Promise<number> {
  if (keys.info.kind !== 'float') return 0;
  const all = (1n << BigInt(keys.info.width)) - 1n;
  const range = { low: keyCodec(keys.dtype).lastNumber + 1n, high: all, not: false };
  const to = call.columns.temporary(keys.dtype, keys.n);
  const count = await call.columns.kernels.run(COMPACT, keys, range, to, false);
  await call.settle();
  return count();
}

/** A search for keys by their ranks. */
class RankSearch {
  readonly #call: Call;
  readonly #all: Column;
  /** Receives the keys with one value of a digit. */
  #scratch: Column | undefined;

  constructor(call: Call, all: Column) {
    this.#call = call;
    this.#all = all;
  }

  #selectsAmong({ n }: Column, ranks: number): boolean {
    const { columns, settings } = this.#call;
    const isSelected = columns.kernels.ranksBy !== 'sort' && !settings.verify && ranks <= MAX_RANKS;
    return isSelected && n > MAX_UNSELECTED;
  }

  /** Compiles the programs of a search among uniform keys, and of what follows. */
  async prepare(ranks: number, next?: Next): Promise<void> {
    const { kernels } = this.#call.columns;
    const { dtype, info } = this.#all;
    let [left, end] = [this.#all, info.width as number];
    for (; end > 0 && this.#selectsAmong(left, ranks); end -= RANK_DIGIT_BITS)
      left = { ...left, n: Math.ceil(left.n / 2 ** RANK_DIGIT_BITS) };
    const selects = left !== this.#all;
    const bits = [Math.max(0, info.width - RANK_DIGIT_BITS), info.width] as const;
    await this.#call.prepare(sortOf(left, left, Math.max(0, end)), (none) => {
      const noKeys = none(dtype);
      return [
        kernels.gather(noKeys, none('u32'), noKeys),
        selects && kernels.run(COMPACT, noKeys, { low: 0n, high: 0n, not: false }, noKeys, false),
        selects && kernels.run(HISTOGRAM, this.#all, { bits }), // its program depends on the number of keys
        ...(next ? [this.#call.canSort(next.sort), ...next.steps(none)] : []),
      ];
    });
  }

  /**
   * Returns the codes at ranks among `keys`.
   *
   * @param ranks ascending
   * @param common the lowest bit from which on all codes agree, and their bits from there on
   */
  async find(
    keys: Column,
    ranks: readonly number[],
    [end, prefix]: readonly [end: number, prefix: bigint],
  ): Promise<bigint[]> {
    if (end === 0) return ranks.map(() => prefix);
    const { columns } = this.#call;
    if (!this.#selectsAmong(keys, ranks.length)) return this.#sortedAt(keys, ranks, end);
    const begin = Math.max(0, end - RANK_DIGIT_BITS);
    const input = await this.#call.bindInput(keys);
    const readCounts = await columns.kernels.run(HISTOGRAM, input, { bits: [begin, end] });
    await this.#call.settle();
    const codes: bigint[] = [];
    let before = 0;
    for (const [digit, n] of readCounts().entries()) {
      const inDigit = ranks
        .filter((rank) => rank >= before && rank < before + n)
        .map((rank) => rank - before);
      before += n;
      if (inDigit.length === 0) continue;
      const bits = (prefix << BigInt(end - begin)) | BigInt(digit);
      const isDecided = begin === 0 || n === keys.n;
      const part = isDecided ? keys : await this.#withPrefix(keys, n, [begin, bits]);
      codes.push(...(await this.find(part, inDigit, [begin, bits])));
    }
    return codes;
  }

  /** Copies the n keys whose codes begin with a prefix. */
  async #withPrefix(
    keys: Column,
    n: number,
    [begin, bits]: readonly [begin: number, bits: bigint],
  ): Promise<Column> {
    const { columns } = this.#call;
    const low = bits << BigInt(begin);
    const range = { low, high: low + (1n << BigInt(begin)) - 1n, not: false };
    this.#scratch ??= columns.temporary(keys.dtype, this.#all.n);
    await columns.kernels.run(COMPACT, keys, range, { ...this.#scratch, n: keys.n }, false);
    const part = columns.temporary(keys.dtype, n);
    await this.#call.copy(this.#scratch, part);
    return part;
  }

  /** Returns the codes at ranks of the sorted keys. Only bits below `end` differ. */
  async #sortedAt(keys: Column, ranks: readonly number[], end: number): Promise<bigint[]> {
    const { columns } = this.#call;
    const sorted = columns.temporary(keys.dtype, keys.n);
    await this.#call.sort(sortOf(keys, sorted, end));
    const at = await this.#call.bindInput(column('u32', ranks.length, Uint32Array.from(ranks)));
    const found = columns.temporary(keys.dtype, ranks.length);
    await columns.kernels.gather(sorted, at, found);
    const onHost = column(keys.dtype, ranks.length, newArray(keys.dtype, ranks.length));
    await this.#call.copy(found, onHost);
    await this.#call.settle();
    return Array.from(wordsOf(onHost) as ArrayLike<number | bigint>, (bits) =>
      encode(keyCodec(keys.dtype), BigInt(bits)),
    );
  }
}
