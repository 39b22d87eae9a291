/**
 * Splitters: records that divide a sequence into partitions, so that each partition precedes the next. A record that is
 * frequent in the sample gets a partition of its own, which needs no sort and no memory.
 */
import type { RecordOrdering } from '../records/record-ordering.js';

/** Maximum number of partitions per pass; each needs an open file and a buffer. */
export const MAX_PARTITIONS = 512;

/** Maximum number of cells of the lookup table for thresholds. */
const MAX_CELLS = 2 ** 16;

/** Typical number of cells between two thresholds; few records then fall into a cell with a threshold. */
const CELLS_PER_THRESHOLD = 32n;

/** The start of a partition: at a record, or after all records equal to it. */
interface Threshold {
  readonly record: Uint8Array;
  readonly after: boolean;
}

/** Splitters in serializable form. */
export interface StoredSplitters {
  /** The splitter records, as base64. */
  readonly units: string;
  /** Indices of the splitters that have a partition of their own. */
  readonly alone: readonly number[];
}

/** Lookup table for records that are ordered by their prefixes alone. */
export interface SplitterTable {
  /** Smallest prefix of each partition except the first. */
  readonly firsts: BigUint64Array;
  /**
   * Number of thresholds before each cell. A cell is a prefix shifted right by `shift`, relative to the first
   * threshold.
   */
  readonly before: Uint16Array;
  readonly shift: number;
}

export class Splitters {
  /** Whether all records of a partition are equal. */
  readonly single: readonly boolean[];
  readonly stored: StoredSplitters;
  readonly #order: RecordOrdering;
  readonly #thresholds: readonly Threshold[];
  /** Smallest prefix after each threshold, as two words. */
  readonly #high: Uint32Array;
  readonly #low: Uint32Array;
  /** A prefix shifted right by `#shift`, minus `#base`, is its cell. */
  readonly #shift: number;
  readonly #base: number;
  /** Number of thresholds before each cell. */
  readonly #before: Uint16Array;

  constructor(order: RecordOrdering, stored: StoredSplitters) {
    this.#order = order;
    this.stored = stored;
    const records = new Uint8Array(Buffer.from(stored.units, 'base64'));
    const prefixes = order.prefix(records);
    const thresholds: Threshold[] = [];
    const firsts: bigint[] = [];
    const single = [false];
    const add = (threshold: Threshold, first: bigint, isSingle: boolean): void => {
      thresholds.push(threshold);
      firsts.push(first);
      single.push(isSingle);
    };
    prefixes.forEach((prefix, i) => {
      const record = records.subarray(i * order.recordBytes, (i + 1) * order.recordBytes);
      const alone = stored.alone.includes(i);
      add({ record, after: false }, prefix, alone);
      // With exact prefixes, the records after the splitter start at the next prefix.
      const next = order.exact ? prefix + 1n : prefix;
      if (alone && next < 2n ** 64n) add({ record, after: true }, next, false);
    });
    this.single = single;
    this.#thresholds = thresholds;
    this.#high = Uint32Array.from(firsts, (first) => Number(first >> 32n));
    this.#low = Uint32Array.from(firsts, (first) => Number(first & 0xffff_ffffn));
    const [minPrefix = 0n, maxPrefix = 0n] = [firsts[0], firsts.at(-1)];
    let shift = 0n;
    while ((maxPrefix >> shift) - (minPrefix >> shift) >= BigInt(MAX_CELLS)) shift++;
    // A smaller table stays in the L1 cache. The lower quartile of the gaps counts, since thresholds may be clustered.
    const gaps = firsts.slice(1).map((first, i) => first - (firsts[i] ?? 0n));
    const typical = gaps.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))[gaps.length >> 2] ?? 0n;
    while (typical >> (shift + 1n) >= CELLS_PER_THRESHOLD) shift++;
    this.#shift = Number(shift);
    this.#base = Number(BigInt.asUintN(32, minPrefix >> shift));
    const cells = firsts.map((first) => Number((first >> shift) - (minPrefix >> shift)));
    this.#before = new Uint16Array((cells.at(-1) ?? 0) + 2);
    for (const cell of cells) this.#before[cell + 1] = (this.#before[cell + 1] ?? 0) + 1;
    for (let c = 1; c < this.#before.length; c++) {
      this.#before[c] = (this.#before[c] ?? 0) + (this.#before[c - 1] ?? 0);
    }
  }

  /** Chooses splitters from a sample for about `partitions` partitions of equal size. */
  static of(order: RecordOrdering, sample: Uint8Array, partitions: number): Splitters {
    const { recordBytes } = order;
    const n = sample.length / recordBytes;
    const prefixes = order.prefix(sample);
    const compare = (i: number, j: number): number => {
      const [a, b] = [prefixes[i] as bigint, prefixes[j] as bigint];
      if (a !== b) return a < b ? -1 : 1;
      return order.exact ? 0 : order.compare(sample, i, sample, j);
    };
    const sorted = Uint32Array.from(prefixes, (_, i) => i).sort(compare);
    const at = (i: number): number => sorted[i] as number;
    const chosen: number[] = [];
    const alone: number[] = [];
    for (let p = 1; p < partitions; p++) {
      const i = Math.floor((p * n) / partitions);
      const last = chosen.at(-1);
      if (i >= n || (last !== undefined && compare(last, at(i)) === 0)) continue;
      // The splitter is alone if it has half a partition's share of the sample, or starts the sample.
      let [first, end] = [i, i + 1];
      while (first > 0 && compare(at(first - 1), at(i)) === 0) first--;
      while (end < n && compare(at(end), at(i)) === 0) end++;
      if (first === 0 || end - first >= n / (2 * partitions)) alone.push(chosen.length);
      chosen.push(at(i));
    }
    const records = Buffer.concat(chosen.map((i) => sample.subarray(i * recordBytes, (i + 1) * recordBytes)));
    return new Splitters(order, { units: records.toString('base64'), alone });
  }

  get partitions(): number {
    return this.single.length;
  }

  /** Returns, per partition, whether its records are equal and in how many low bits their prefixes may differ. */
  get facts(): { readonly single: readonly boolean[]; readonly differing: readonly number[] } {
    const { firsts } = this.table;
    const differing = this.single.map((_, p) => {
      const first = firsts[p - 1] ?? 0n;
      const next = firsts[p] ?? 2n ** 64n;
      // With inexact prefixes, the last records may share the prefix of the next partition's first record.
      const last = this.#order.exact ? next - 1n : next;
      return last < first ? 0 : (first ^ last).toString(2).length;
    });
    return { single: this.single, differing };
  }

  /** Returns the lookup table; valid for exact prefixes only. */
  get table(): SplitterTable {
    const high = this.#high;
    const firsts = BigUint64Array.from(this.#low, (low, i) => (BigInt(high[i] ?? 0) << 32n) | BigInt(low));
    return { firsts, before: this.#before, shift: this.#shift };
  }

  /**
   * Determines the partition of each record of a piece.
   *
   * @param piece whole records
   * @param partitions receives one partition number per record
   * @param counts incremented by the number of records per partition
   */
  place(piece: Uint8Array, partitions: Uint16Array, counts: Uint32Array): void {
    const prefixes = this.#order.prefix(piece);
    const words = new Uint32Array(prefixes.buffer, prefixes.byteOffset, prefixes.length * 2);
    const [n, last, exact] = [prefixes.length, this.#high.length, this.#order.exact];
    if (last === 0) {
      partitions.fill(0, 0, n);
      counts[0] = (counts[0] ?? 0) + n;
      return;
    }
    const { length: cells } = this.#before;
    const [highs, lows, before, base] = [this.#high, this.#low, this.#before, this.#base];
    const [minHigh, minLow] = [highs[0] as number, lows[0] as number];
    const [maxHigh, maxLow] = [highs[last - 1] as number, lows[last - 1] as number];
    const shift = this.#shift;
    const isWide = shift >= 32; // the upper word alone determines the cell
    // JavaScript shifts by 32 as by 0.
    const [right, left, highMask] = [shift % 32, (32 - shift) % 32, shift === 0 ? 0 : -1];
    for (let i = 0; i < n; i++) {
      const low = words[2 * i] as number;
      const high = words[2 * i + 1] as number;
      let cell: number;
      if (isWide) cell = ((high >>> right) - base) >>> 0;
      else if (high > maxHigh || (high === maxHigh && low >= maxLow)) cell = cells;
      else if (high < minHigh || (high === minHigh && low < minLow)) cell = cells;
      else cell = ((((high << left) & highMask) | (low >>> right)) - base) >>> 0;
      let p: number;
      if (cell < cells - 1) {
        p = before[cell] as number;
        let end = before[cell + 1] as number;
        while (p < end) {
          const middle = (p + end) >>> 1;
          const first = highs[middle] as number;
          if (high > first || (high === first && low >= (lows[middle] as number))) p = middle + 1;
          else end = middle;
        }
      } else p = high > minHigh || (high === minHigh && low >= minLow) ? last : 0;
      if (!exact && p > 0 && highs[p - 1] === high && lows[p - 1] === low)
        p = this.#comparePrefixTie(piece, i, p);
      partitions[i] = p;
      counts[p] = (counts[p] as number) + 1;
    }
  }

  /** Returns the partition of a record whose prefix equals that of the threshold before partition `p`. */
  #comparePrefixTie(piece: Uint8Array, i: number, p: number): number {
    let first = p - 1;
    const same = (t: number): boolean =>
      this.#high[t] === this.#high[p - 1] && this.#low[t] === this.#low[p - 1];
    while (first > 0 && same(first - 1)) first--;
    for (; first < p; first++) {
      const { record, after } = this.#thresholds[first] as Threshold;
      const order = this.#order.compare(piece, i, record, 0);
      if (after ? order <= 0 : order < 0) break;
    }
    return first;
  }
}
