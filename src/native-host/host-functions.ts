/**
 * Functions of the addon that compute on host memory, without OpenCL. They run on other threads and reject with an
 * UnsupportedError if the addon cannot be loaded.
 */
import { native } from '../opencl/binding.js';
import type { HostMemory, Size } from '../opencl/values.js';

/**
 * Computes a checksum of host memory. A change of a single 32-bit word always changes it. cl/checksum.cl computes the same
 * checksum of a buffer.
 *
 * @param host memory to read
 * @param sum receives the checksum in its first 8 bytes
 * @param threads number of threads, 1 to 64
 * @returns a promise that resolves when `sum` is written
 * @throws OpenCLError (rejects) INVALID_VALUE
 */
export function checksumAsync(host: HostMemory, sum: HostMemory, threads: number): Promise<void> {
  return native().checksumAsync(host, sum, threads);
}

/**
 * Adds bytes to an XXH64 hash (seed 0).
 *
 * @param host bytes to add
 * @param hash ten words, all zero at first; the first word is the hash of all bytes so far
 * @returns a promise that resolves when `hash` is updated
 * @throws OpenCLError (rejects) INVALID_VALUE
 */
export function hashAsync(host: HostMemory, hash: BigUint64Array): Promise<void> {
  return native().hashAsync(host, hash);
}

/**
 * Computes two order-independent fingerprints of a multiset of keys, each the product of one factor per key modulo the
 * prime 2^61 - 1. Different multisets almost surely have different products. The factor of a key k at the point (r, s) is
 * r + (k mod 2^60) + s * floor(k / 2^60).
 *
 * @param host keys
 * @param width bytes of a key: 1, 2, 4 or 8
 * @param points r and s of either product, 64 bits each, below the prime
 * @param products both products, 64 bits each, which are multiplied in place
 * @param threads number of threads, 1 to 64
 * @returns a promise that resolves when `products` is updated
 * @throws OpenCLError (rejects) INVALID_VALUE
 */
export function multisetAsync(
  host: HostMemory,
  width: 1 | 2 | 4 | 8,
  points: BigUint64Array,
  products: BigUint64Array,
  threads: number,
): Promise<void> {
  return native().multisetAsync(host, width, points, products, threads);
}

/**
 * Copies many pieces of host memory in one call. Neither side may change until the promise settles.
 *
 * @param from sources, each copied completely
 * @param to destinations, one for each source and at least as large; the contents of overlapping memory are unspecified
 * @param threads number of threads, 1 to 64
 * @returns a promise that resolves when everything is copied
 * @throws OpenCLError (rejects) INVALID_VALUE, also for resizable memory
 */
export function copyAsync(
  from: readonly HostMemory[],
  to: readonly HostMemory[],
  threads: number,
): Promise<void> {
  return native().copyAsync(from, to, threads);
}

/**
 * Concatenates pieces of host memory. Neither side may change until the promise settles, except resizable sources, which
 * are copied before the call returns.
 *
 * @param from sources, each copied completely
 * @param to destination, exactly as large as all sources together
 * @param threads number of threads, 1 to 64
 * @returns a promise that resolves when everything is copied
 * @throws OpenCLError (rejects) INVALID_VALUE, also when `to` is resizable
 */
export function joinAsync(from: readonly HostMemory[], to: HostMemory, threads: number): Promise<void> {
  return native().joinAsync(from, to, threads);
}

/**
 * Partitions keys of host memory: one stable counting pass, in linear time apart from the search for the partition of
 * each key. It allocates two bytes for each key.
 *
 * @param keys host memory of keys
 * @param width bytes of a key: 1, 2, 4 or 8
 * @param codec seven words of 64 bits that encode a key: the bits that positive keys flip, the bits that negative keys
 *   flip, the number that is subtracted, the last number, the number that is added at the end, 1 for descending
 *   numbers, and the mask of the significant bits of the code
 * @param firsts first code of each partition except the first one, ascending, 64 bits each, fewer than 2^16
 * @param before number of elements of `firsts` in the cells before each cell and, at the end, their total, 16 bits
 *   each; the codes of a cell are equal above `shift`
 * @param shift 0 to 63
 * @param to receives the keys, by partition
 * @param counts receives the number of keys of each partition, 32 bits each
 * @param threads number of threads, 1 to 64
 * @returns a promise that resolves when `to` and `counts` are written
 * @throws OpenCLError (rejects) INVALID_VALUE
 */
export function placeAsync(
  keys: HostMemory,
  width: 1 | 2 | 4 | 8,
  codec: HostMemory,
  firsts: HostMemory,
  before: HostMemory,
  shift: number,
  to: HostMemory,
  counts: HostMemory,
  threads: number,
): Promise<void> {
  return native().placeAsync(keys, width, codec, firsts, before, shift, to, counts, threads);
}

/**
 * Partitions keys of host memory and their values into separate outputs: one stable counting pass, which allocates two
 * bytes for each key.
 *
 * @param keys host memory of keys
 * @param width bytes of a key: 1, 2, 4 or 8
 * @param codec key codec, as for `placeAsync`
 * @param codes code at which each partition except the first one begins, non-decreasing, 64 bits each, at most 255
 * @param positions position of the first key of each of these partitions among the keys with that code, 64 bits each
 * @param position position of the first key of `keys`
 * @param values values of the keys; null for none, or for positions as values
 * @param valueBytes bytes of a value: 1, 2, 4, 8 or 16; 4 for positions; 0 for none
 * @param toKeys one output for the keys of each partition. The keys of a null or too small output are only counted, and
 *   the contents of the latter are unspecified
 * @param toValues one output for the values of each partition; null without values
 * @param counts receives the number of keys of each partition, 32 bits each
 * @param threads number of threads, 1 to 64
 * @returns a promise that resolves when the outputs and `counts` are written
 * @throws OpenCLError (rejects) INVALID_VALUE
 */
export function splitAsync(
  keys: HostMemory,
  width: 1 | 2 | 4 | 8,
  codec: HostMemory,
  codes: HostMemory,
  positions: HostMemory,
  position: Size,
  values: HostMemory | null,
  valueBytes: number,
  toKeys: readonly (HostMemory | null)[],
  toValues: readonly (HostMemory | null)[] | null,
  counts: HostMemory,
  threads: number,
): Promise<void>;
export function splitAsync(...args: readonly unknown[]): Promise<void> {
  return native().splitAsync(...args);
}
