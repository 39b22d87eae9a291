/** What is sorted when files are cut into pieces: units of some bytes each, and the order that they are to have. */
import { keyWords } from '../keys/array.js';
import { encodeRecords } from '../keys/codec-records.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { type KeyCodec, keyCodec } from '../keys/key-codec.js';
import type { Into, SortOptions } from '../sort/api/options.js';
import type { Sorter } from '../sort/api/sorter.js';
import { isCertainlySorted } from './is-certainly-sorted.js';
import { NearSort } from './near-sort.js';
import type { FileOrder } from './order-scan.js';

/** How units are sorted; what they are and in which order, their UnitOrder knows. */
export type OrderingSortOptions = Omit<SortOptions, 'dtype' | 'descending' | 'nan' | 'bits' | 'device'> &
  Into<Uint8Array>;

/** How numbers are made of plain keys: their codes, of which some bits count. */
export interface MaskedCodec {
  readonly codec: KeyCodec;
  readonly mask: bigint;
}

/** Units of the same size, each one or more keys, and their order. */
export interface RecordOrdering {
  /** Bytes of a unit. */
  readonly recordBytes: number;
  /** For messages, in the plural: 'u32 keys', 'records of 100 bytes'. */
  readonly description: string;
  /** Whether units with equal prefixes are equal; where they need not be, `compare` tells. */
  readonly exact: boolean;
  /** How `prefix` makes numbers of units that are plain keys; undefined for other units. */
  readonly codes?: MaskedCodec | undefined;
  /** Bytes of host memory that `sort` takes for each unit, the result among them, the units themselves not. */
  readonly sortBytes: number;
  /**
   * A number for each unit of a piece: a unit with a smaller number comes first.
   *
   * @param piece whole units, at any place in memory
   */
  prefix(piece: Uint8Array): BigUint64Array;
  /** Whether units are certainly in order, told quicker than by `prefix`; where it says no they may be. */
  readonly isCertainlySorted?: ((piece: Uint8Array) => boolean) | undefined;
  /** Below 0 when unit `i` of `a` comes before unit `j` of `b`, above 0 when behind, 0 when they are equal. */
  compare(a: Uint8Array, i: number, b: Uint8Array, j: number): number;
  /**
   * The units in order, in `into` or in new memory; equal ones stay as they are.
   *
   * @param differing the prefixes are known to be alike but for so many low bits: there may be fewer digits to sort by
   * @throws as `Sorter.sort`; UnsupportedError for 2^32 records and more
   */
  sort(
    sorter: Sorter,
    bytes: Uint8Array,
    options?: OrderingSortOptions,
    differing?: number,
  ): Promise<Uint8Array>;
}

/** The order of units that are keys. */
export interface KeyOrdering extends RecordOrdering {
  /** What the keys are; undefined where only some of their bits count. */
  readonly wholeDtype: Dtype | undefined;
}

/** The order of plain little-endian keys. */
export function keyOrdering({ dtype, descending, nan, bits }: FileOrder): KeyOrdering {
  const info = dtypeInfo(dtype);
  const recordBytes = info.bytes;
  const order = { ...(descending !== undefined && { descending }), ...(nan !== undefined && { nan }) };
  const codec = keyCodec(dtype, order);
  const [begin, end] = bits;
  const mask = ((1n << BigInt(end)) - 1n) ^ ((1n << BigInt(begin)) - 1n);
  const [lowMask, highMask] = [Number(mask & 0xffff_ffffn), Number(mask >> 32n)];
  const prefix = (piece: Uint8Array): BigUint64Array => {
    const prefixes = new BigUint64Array(piece.length / recordBytes);
    const words = new Uint32Array(prefixes.buffer);
    encodeRecords(keyWords(piece, info), words, 2, codec); // the high words of narrow keys stay 0
    if (end - begin < info.width) {
      for (let i = 0; i < words.length; i += 2) {
        words[i] = (words[i] as number) & lowMask;
        words[i + 1] = (words[i + 1] as number) & highMask;
      }
    }
    return prefixes;
  };
  const near = new NearSort({ codec, mask });
  const prefixOf = (piece: Uint8Array, i: number): bigint =>
    prefix(piece.slice(i * recordBytes, (i + 1) * recordBytes))[0] ?? 0n;
  return {
    recordBytes,
    wholeDtype: end - begin < info.width ? undefined : dtype,
    description: `${dtype} keys`,
    exact: true,
    codes: { codec, mask },
    sortBytes: recordBytes,
    prefix,
    isCertainlySorted:
      end - begin < info.width
        ? undefined
        : (piece) => isCertainlySorted(keyWords(piece, info), info, descending ?? false),
    compare(a, i, b, j) {
      const [x, y] = [prefixOf(a, i), prefixOf(b, j)];
      return x < y ? -1 : x > y ? 1 : 0;
    },
    async sort(sorter, bytes, options = {}, differing) {
      const sortBy = (first: number, last: number): Promise<Uint8Array> =>
        sorter.sort(bytes, { ...options, ...order, dtype, bits: [first, last] });
      // An algorithm that was asked for gets what it was asked for.
      if (differing === undefined || (options.algorithm ?? 'auto') !== 'auto') return sortBy(begin, end);
      const last = Math.max(begin + 1, Math.min(end, differing));
      const first = near.firstBit(sorter, bytes.length / recordBytes, [begin, last]);
      const sorted = await sortBy(first, last);
      return first === begin || (await near.finish(sorted, recordBytes)) ? sorted : sortBy(begin, last);
    },
  };
}
