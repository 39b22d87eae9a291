/** What is sorted when files are cut into pieces: units of some bytes each, and the order that they are to have. */
import { keyWords } from '../keys/array.js';
import { encodeRecords } from '../keys/codec-records.js';
import { dtypeInfo } from '../keys/dtype.js';
import { keyCodec } from '../keys/key-codec.js';
import type { Into, SortOptions } from '../sort/api/options.js';
import type { Sorter } from '../sort/api/sorter.js';
import type { FileOrder } from './check.js';

/** How units are sorted; what they are and in which order, their UnitOrder knows. */
export type UnitSortOptions = Omit<SortOptions, 'dtype' | 'descending' | 'nan' | 'bits' | 'device'> &
  Into<Uint8Array>;

/** Units of the same size, each one or more keys, and their order. */
export interface UnitOrder {
  /** Bytes of a unit. */
  readonly unit: number;
  /** For messages, in the plural: 'u32 keys', 'records of 100 bytes'. */
  readonly units: string;
  /** Whether units with equal prefixes are equal; where they need not be, `compare` tells. */
  readonly exact: boolean;
  /** Bytes of host memory that `sort` takes for each unit, the result among them, the units themselves not. */
  readonly sortBytes: number;
  /**
   * A number for each unit of a piece: a unit with a smaller number comes first.
   *
   * @param piece whole units, at any place in memory
   */
  prefix(piece: Uint8Array): BigUint64Array;
  /** Below 0 when unit `i` of `a` comes before unit `j` of `b`, above 0 when behind, 0 when they are equal. */
  compare(a: Uint8Array, i: number, b: Uint8Array, j: number): number;
  /**
   * The units in order, in `into` or in new memory; equal ones stay as they are.
   *
   * @throws as `Sorter.sort`; UnsupportedError for 2^32 records and more
   */
  sort(sorter: Sorter, bytes: Uint8Array, options?: UnitSortOptions): Promise<Uint8Array>;
}

/** The order of plain little-endian keys. */
export function keyOrder({ dtype, descending, nan, bits }: FileOrder): UnitOrder {
  const info = dtypeInfo(dtype);
  const unit = info.bytes;
  const order = { ...(descending !== undefined && { descending }), ...(nan !== undefined && { nan }) };
  const codec = keyCodec(dtype, order);
  const [begin, end] = bits;
  const mask = ((1n << BigInt(end)) - 1n) ^ ((1n << BigInt(begin)) - 1n);
  const [lowMask, highMask] = [Number(mask & 0xffff_ffffn), Number(mask >> 32n)];
  const prefix = (piece: Uint8Array): BigUint64Array => {
    const prefixes = new BigUint64Array(piece.length / unit);
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
  const prefixOf = (piece: Uint8Array, i: number): bigint =>
    prefix(piece.slice(i * unit, (i + 1) * unit))[0] ?? 0n;
  return {
    unit,
    units: `${dtype} keys`,
    exact: true,
    sortBytes: unit,
    prefix,
    compare(a, i, b, j) {
      const [x, y] = [prefixOf(a, i), prefixOf(b, j)];
      return x < y ? -1 : x > y ? 1 : 0;
    },
    sort: (sorter, bytes, options = {}) => sorter.sort(bytes, { ...options, ...order, dtype, bits }),
  };
}
