import { native } from './binding.js';
import type { CommandQueue, MemObject } from './objects.js';
import type { HostMemory, Size } from './values.js';

/**
 * Copies host memory to a buffer through staging memory that the device can access directly. Several threads copy
 * pieces into it while the device transfers other pieces. Calls clEnqueueWriteBuffer on other threads. Nothing that
 * must run after the transfer may be enqueued meanwhile.
 *
 * @param queue command queue that executes the transfers
 * @param buffer destination
 * @param offset bytes from the start of `buffer`
 * @param host source, which is copied completely; it must not change until the promise settles
 * @param ring staging memory for at least one piece, such as a mapped buffer created with `MEM_ALLOC_HOST_PTR`
 * @param piece bytes of one transfer of the device
 * @param threads number of threads, 1 to 64
 * @returns a promise that resolves when all bytes are in the buffer
 * @throws OpenCLError (rejects) INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_VALUE, and the errors of the
 *   transfers
 * @example
 * ```ts
 * const pinned = cl.createBuffer(context, cl.MEM_ALLOC_HOST_PTR, 2 ** 25);
 * const ring = cl.enqueueMapBuffer(queue, pinned, true, cl.MAP_READ | cl.MAP_WRITE, 0, 2 ** 25);
 * await cl.writeBufferAsync(queue, buffer, 0, keys, ring, 2 ** 22, 4);
 * ```
 */
export function writeBufferAsync(
  queue: CommandQueue,
  buffer: MemObject,
  offset: Size,
  host: HostMemory,
  ring: HostMemory,
  piece: Size,
  threads: number,
): Promise<void> {
  return native().writeBufferAsync(queue, buffer, offset, host, ring, piece, threads);
}

/**
 * Copies a buffer to host memory through staging memory, in the opposite direction of `writeBufferAsync`. Waits for the
 * commands that were enqueued before.
 *
 * @param queue command queue that executes the transfers
 * @param buffer source
 * @param offset bytes from the start of `buffer`
 * @param host destination, which is filled completely
 * @param ring staging memory for at least one piece, such as a mapped buffer created with `MEM_ALLOC_HOST_PTR`
 * @param piece bytes of one transfer of the device
 * @param threads number of threads, 1 to 64
 * @param pastCaches whether to write past the processor's caches; false by default. This reduces memory traffic and
 *   suits data that is not read soon
 * @returns a promise that resolves when all bytes are in `host`
 * @throws OpenCLError (rejects) as `writeBufferAsync`
 * @example
 * ```ts
 * await cl.readBufferAsync(queue, buffer, 0, array, ring, 2 ** 20, 4);
 * ```
 */
export function readBufferAsync(
  queue: CommandQueue,
  buffer: MemObject,
  offset: Size,
  host: HostMemory,
  ring: HostMemory,
  piece: Size,
  threads: number,
  pastCaches = false,
): Promise<void> {
  return native().readBufferAsync(queue, buffer, offset, host, ring, piece, threads, pastCaches);
}

/**
 * Maps and unmaps a buffer on another thread, so that a later `enqueueMapBuffer` is fast. Drivers allocate the memory
 * of `MEM_ALLOC_HOST_PTR` at the first mapping, which takes NVIDIA's driver half a millisecond per MiB.
 *
 * @param queue command queue of the mapping; the commands that were enqueued before run first
 * @param buffer buffer to map
 * @returns a promise that resolves when the buffer is unmapped
 * @throws OpenCLError (rejects) INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, and the errors of mapping
 * @example
 * ```ts
 * await cl.prepareMappingAsync(queue, buffer);
 * ```
 */
export function prepareMappingAsync(queue: CommandQueue, buffer: MemObject): Promise<void> {
  return native().prepareMappingAsync(queue, buffer);
}

/** Indices of the 64-bit words that a transfer between a file and a buffer shares with the program. */
export const FILE_TRANSFER = {
  STOP: 0,
  MOVED: 1,
  ERROR: 2,
  FILING: 3,
  HASHING: 4,
  WAITING: 5,
  TRANSFERRING: 6,
  WORDS: 7,
} as const;

/**
 * Copies a part of a file to a buffer through staging memory that the device can access directly. Several threads read
 * pieces into it, and hash them, while the device transfers other pieces. Calls clEnqueueWriteBuffer on other threads.
 * Nothing that must run after the transfer may be enqueued meanwhile. Not available on Windows.
 *
 * @param queue command queue that executes the transfers
 * @param buffer destination
 * @param offset bytes from the start of `buffer`
 * @param fd descriptor of an open file; it may be closed during the transfer
 * @param position bytes from the start of the file
 * @param bytes bytes to transfer
 * @param ring staging memory, as for `writeBufferAsync`
 * @param piece bytes of one transfer of the device
 * @param threads number of threads, 1 to 64
 * @param hash words as for `hashAsync`, to which the transferred bytes are added; null for no hash
 * @param skipped number of first bytes that are not added to the hash
 * @param result `FILE_TRANSFER` words. While `STOP` is not 0 the transfer ends early. At the end `MOVED` is the number
 *   of bytes transferred from the first one on, which is smaller if the transfer or the file ended early, and `ERROR`
 *   is the errno of the system or 0. The other words are nanoseconds, summed over all threads: reading or writing the
 *   file, hashing, waiting for other threads, waiting for the device
 * @returns a promise that resolves when the transfer has ended, also if it ended early
 * @throws OpenCLError (rejects) INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_VALUE, and the errors of the
 *   transfers
 * @throws UnsupportedError (rejects) on Windows
 * @example
 * ```ts
 * const result = new BigInt64Array(4);
 * await cl.writeBufferFromFileAsync(queue, buffer, 0, fd, 0, bytes, ring, 2 ** 20, 4, null, 0, result);
 * ```
 */
export function writeBufferFromFileAsync(
  queue: CommandQueue,
  buffer: MemObject,
  offset: Size,
  fd: number,
  position: Size,
  bytes: Size,
  ring: HostMemory,
  piece: Size,
  threads: number,
  hash: BigUint64Array | null,
  skipped: Size,
  result: BigInt64Array,
): Promise<void> {
  return native().writeBufferFromFileAsync(
    queue,
    buffer,
    offset,
    fd,
    position,
    bytes,
    ring,
    piece,
    threads,
    hash,
    skipped,
    result,
  );
}

/**
 * Preallocates space of a file that will be written, on another thread. The contents and the length of the file do not
 * change. Where the system cannot preallocate, nothing happens. Not available on Windows.
 *
 * @param fd descriptor of a file that is open for writing; it may be closed meanwhile
 * @param position bytes from the start of the file
 * @param bytes bytes to preallocate
 * @param result one word, which receives the errno of the system or 0
 * @returns a promise that resolves when the space is allocated
 * @throws OpenCLError (rejects) INVALID_VALUE
 * @throws UnsupportedError (rejects) on Windows
 * @example
 * ```ts
 * await cl.allocateFileAsync(fd, 0, 2 ** 30, new BigInt64Array(2));
 * ```
 */
export function allocateFileAsync(
  fd: number,
  position: Size,
  bytes: Size,
  result: BigInt64Array,
): Promise<void> {
  return native().allocateFileAsync(fd, position, bytes, result);
}

/**
 * Copies a buffer to a part of a file through staging memory, in the opposite direction of `writeBufferFromFileAsync`.
 * Waits for the commands that were enqueued before.
 *
 * @param queue command queue that executes the transfers
 * @param buffer source
 * @param offset bytes from the start of `buffer`
 * @param fd descriptor of a file that is open for writing; it may be closed during the transfer
 * @param position bytes from the start of the file
 * @param bytes bytes to transfer
 * @param ring staging memory, as for `writeBufferAsync`
 * @param piece bytes of one transfer of the device
 * @param threads number of threads, 1 to 64
 * @param hash words as for `hashAsync`, to which the transferred bytes are added; null for no hash
 * @param skipped number of first bytes that are not added to the hash
 * @param result `FILE_TRANSFER` words. While `STOP` is not 0 the transfer ends early. At the end `MOVED` is the number
 *   of bytes transferred from the first one on, which is smaller if the transfer or the file ended early, and `ERROR`
 *   is the errno of the system or 0. The other words are nanoseconds, summed over all threads: reading or writing the
 *   file, hashing, waiting for other threads, waiting for the device
 * @returns a promise that resolves when the transfer has ended, also if it ended early
 * @throws OpenCLError (rejects) as `writeBufferFromFileAsync`
 * @throws UnsupportedError (rejects) on Windows
 * @example
 * ```ts
 * const result = new BigInt64Array(4);
 * await cl.readBufferToFileAsync(queue, buffer, 0, fd, 0, bytes, ring, 2 ** 20, 4, null, 0, result);
 * ```
 */
export function readBufferToFileAsync(
  queue: CommandQueue,
  buffer: MemObject,
  offset: Size,
  fd: number,
  position: Size,
  bytes: Size,
  ring: HostMemory,
  piece: Size,
  threads: number,
  hash: BigUint64Array | null,
  skipped: Size,
  result: BigInt64Array,
): Promise<void> {
  return native().readBufferToFileAsync(
    queue,
    buffer,
    offset,
    fd,
    position,
    bytes,
    ring,
    piece,
    threads,
    hash,
    skipped,
    result,
  );
}

/**
 * Allocates an ArrayBuffer for large data, which begins at a page boundary. On Linux it consists of few large pages, so
 * that its first use takes less time.
 *
 * @param bytes size
 * @param threads threads of the binding that fault in the pages in advance; 0, the default, faults in each page at its
 *   first use
 * @param used whether the memory of a collected buffer of this kind may be reused with its contents, which saves page
 *   faults; false, the default, returns zeros
 * @returns the memory
 * @throws OpenCLError OUT_OF_HOST_MEMORY
 * @example
 * ```ts
 * const keys = new Uint32Array(cl.allocateHostMemory(4 * 2 ** 20));
 * ```
 */
export function allocateHostMemory(bytes: Size, threads = 0, used = false): ArrayBuffer {
  return native().allocateHostMemory(bytes, threads, used);
}

/**
 * Computes a checksum of host memory on other threads. A change of a single 32-bit word always changes it.
 * cl/checksum.cl computes the same checksum of a buffer.
 *
 * @param host memory to read
 * @param sum receives the checksum in its first 8 bytes
 * @param threads number of threads, 1 to 64
 * @returns a promise that resolves when `sum` is written
 * @throws OpenCLError (rejects) INVALID_VALUE
 * @example
 * ```ts
 * await cl.checksumAsync(keys, sum, 4);
 * ```
 */
export function checksumAsync(host: HostMemory, sum: HostMemory, threads: number): Promise<void> {
  return native().checksumAsync(host, sum, threads);
}

/**
 * Adds bytes to an XXH64 hash (seed 0) on another thread.
 *
 * @param host bytes to add
 * @param hash ten words, all zero at first; the first word is the hash of all bytes so far
 * @returns a promise that resolves when `hash` is updated
 * @throws OpenCLError (rejects) INVALID_VALUE
 * @example
 * ```ts
 * const hash = new BigUint64Array(10);
 * await cl.hashAsync(Buffer.from('first part, '), hash);
 * await cl.hashAsync(Buffer.from('second part'), hash);
 * console.log(hash[0]);
 * ```
 */
export function hashAsync(host: HostMemory, hash: BigUint64Array): Promise<void> {
  return native().hashAsync(host, hash);
}

/**
 * Computes two order-independent fingerprints of a multiset of keys on other threads, each the product of one factor
 * per key modulo the prime 2^61 - 1. Different multisets almost surely have different products. The factor of a key k
 * at the point (r, s) is r + (k mod 2^60) + s * floor(k / 2^60).
 *
 * @param host keys
 * @param width bytes of a key: 1, 2, 4 or 8
 * @param points r and s of either product, 64 bits each, below the prime
 * @param products both products, 64 bits each, which are multiplied in place
 * @param threads number of threads, 1 to 64
 * @returns a promise that resolves when `products` is updated
 * @throws OpenCLError (rejects) INVALID_VALUE
 * @example
 * ```ts
 * await cl.multisetAsync(keys, 4, points, products, 4);
 * ```
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
 * Copies many pieces of host memory in one call, on other threads. Neither side may change until the promise settles.
 *
 * @param from sources, each copied completely
 * @param to destinations, one for each source and at least as large; the contents of overlapping memory are unspecified
 * @param threads number of threads, 1 to 64
 * @returns a promise that resolves when everything is copied
 * @throws OpenCLError (rejects) INVALID_VALUE, also for resizable memory
 * @example
 * ```ts
 * await cl.copyAsync([first, second], [toFirst, toSecond], 4);
 * ```
 */
export function copyAsync(
  from: readonly HostMemory[],
  to: readonly HostMemory[],
  threads: number,
): Promise<void> {
  return native().copyAsync(from, to, threads);
}

/**
 * Concatenates pieces of host memory on other threads. Neither side may change until the promise settles, except
 * resizable sources, which are copied before the call returns.
 *
 * @param from sources, each copied completely
 * @param to destination, exactly as large as all sources together
 * @param threads number of threads, 1 to 64
 * @returns a promise that resolves when everything is copied
 * @throws OpenCLError (rejects) INVALID_VALUE, also when `to` is resizable
 * @example
 * ```ts
 * await cl.joinAsync([first, second], joined, 4);
 * ```
 */
export function joinAsync(from: readonly HostMemory[], to: HostMemory, threads: number): Promise<void> {
  return native().joinAsync(from, to, threads);
}

/**
 * Partitions keys of host memory on other threads: one stable counting pass, in linear time apart from the search for
 * the partition of each key. It allocates two bytes for each key.
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
 * @example
 * ```ts
 * await cl.placeAsync(keys, 4, codec, firsts, before, 24, to, counts, 4);
 * ```
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
 * Partitions keys of host memory and their values into separate outputs on other threads: one stable counting pass,
 * which allocates a byte for each key.
 *
 * Keys without values that go into two partitions by all bits of their codes are written in any order, because equal
 * keys are indistinguishable; this takes less time and memory.
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
): Promise<void> {
  return native().splitAsync(
    keys,
    width,
    codec,
    codes,
    positions,
    position,
    values,
    valueBytes,
    toKeys,
    toValues,
    counts,
    threads,
  );
}
