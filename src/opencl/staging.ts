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
 * @param hash ten words of an XXH64 hash (seed 0), all zero at first, to which the transferred bytes are added; the first
 *   word is the hash so far; null for no hash
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
): Promise<void>;
export function writeBufferFromFileAsync(...args: readonly unknown[]): Promise<void> {
  return native().writeBufferFromFileAsync(...args);
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
 * @param hash ten words of an XXH64 hash (seed 0), all zero at first, to which the transferred bytes are added; the first
 *   word is the hash so far; null for no hash
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
): Promise<void>;
export function readBufferToFileAsync(...args: readonly unknown[]): Promise<void> {
  return native().readBufferToFileAsync(...args);
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
