/** Record orderings: the record size and the order of records that are split into pieces. */
import { keyWords } from '../../keys/array.js';
import { encodeRecords } from '../../keys/codec-records.js';
import { type Dtype, dtypeInfo } from '../../keys/dtype.js';
import { type KeyCodec, keyCodec } from '../../keys/key-codec.js';
import type { Sorter } from '../../sort/api/sorter.js';
import type { Into, SortOptions } from '../../sort/model/options.js';
import { isCertainlySorted } from '../checks/is-certainly-sorted.js';
import type { FileOrder } from '../checks/order-scan.js';

/** Options of a sort of records; the ordering defines dtype and order. */
export type OrderingSortOptions = Omit<SortOptions, 'dtype' | 'descending' | 'nan' | 'bitRange' | 'device'> &
  Into<Uint8Array>;

/** The codec that encodes plain keys, and the mask of the bits that count. */
interface MaskedCodec {
  readonly codec: KeyCodec;
  readonly mask: bigint;
}

/** Records of one size, each holding one or more keys, and their order. */
export interface RecordOrdering {
  /** Record size in bytes. */
  readonly recordBytes: number;
  /** Plural noun for messages, such as 'u32 keys' or 'records of 100 bytes'. */
  readonly description: string;
  /** Whether records with equal prefixes are equal; otherwise `compare` decides. */
  readonly exact: boolean;
  /** The encoding that `prefix` uses for plain keys; undefined for other records. */
  readonly codes?: MaskedCodec | undefined;
  /** Host memory that `sort` takes per record, in bytes, including the result but not the input. */
  readonly sortBytes: number;
  /**
   * Returns a number per record of a piece; a record with a smaller number comes first.
   *
   * @param piece whole records, at any alignment
   */
  prefix(piece: Uint8Array): BigUint64Array;
  /** Fast check for sorted records; false means unknown. */
  readonly isCertainlySorted?: ((piece: Uint8Array) => boolean) | undefined;
  /**
   * Compares record `i` of `a` with record `j` of `b`.
   *
   * @returns a negative number, 0 or a positive number
   */
  compare(a: Uint8Array, i: number, b: Uint8Array, j: number): number;
  /**
   * Sorts records stably, into `into` or a new array.
   *
   * @param differing number of low bits in which prefixes may differ, which can save digits; default unknown
   * @throws the errors of `Sorter.sort`
   * @throws UnsupportedError when there are 2^32 records or more
   */
  sort(
    sorter: Sorter,
    bytes: Uint8Array,
    options?: OrderingSortOptions,
    differing?: number,
  ): Promise<Uint8Array>;
  /** Merges sorted parts of records stably, as `sort` of all of them; undefined for records that are only sorted. */
  readonly merge?:
    | ((sorter: Sorter, parts: readonly Uint8Array[], options: OrderingSortOptions) => Promise<Uint8Array>)
    | undefined;
}

/** The order of records that are keys. */
export interface KeyOrdering extends RecordOrdering {
  /** Dtype of the keys; undefined when only some of their bits count. */
  readonly wholeDtype: Dtype | undefined;
}

/** Returns the order of plain little-endian keys. */
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
    encodeRecords(keyWords(piece, info), words, 2, codec); // the upper words of narrow keys stay 0
    if (end - begin < info.width) {
      for (let i = 0; i < words.length; i += 2) {
        words[i] = (words[i] as number) & lowMask;
        words[i + 1] = (words[i + 1] as number) & highMask;
      }
    }
    return prefixes;
  };
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
    sort(sorter, bytes, options = {}, differing) {
      // An explicitly chosen algorithm sorts by all bits.
      const isNarrowed = differing !== undefined && (options.algorithm ?? 'auto') === 'auto';
      const last = isNarrowed ? Math.max(begin + 1, Math.min(end, differing)) : end;
      return sorter.sort(bytes, { ...options, ...order, dtype, bitRange: [begin, last] });
    },
    merge:
      end - begin < info.width
        ? undefined
        : (sorter, parts, options) => sorter.mergeMany(parts, { ...options, ...order, dtype }),
  };
}
