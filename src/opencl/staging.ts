import { native } from './binding.js';
import type { CommandQueue, MemObject } from './objects.js';
import type { HostMemory, Size } from './types.js';

/**
 * Host to device, through memory that the device can reach directly: several threads copy pieces into it
 * while the device takes others. Calls clEnqueueWriteBuffer on other threads; nothing else may be enqueued
 * meanwhile that has to come after it.
 *
 * @param offset bytes from the buffer's start
 * @param host all of it is copied; it must not change until the promise settles
 * @param ring memory for one piece or more, such as a mapped buffer made with `MEM_ALLOC_HOST_PTR`
 * @param piece bytes that the device transfers at once
 * @param threads 1 to 64
 * @throws (rejects) INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_VALUE, and what the transfers end with
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
 * Device to host, the way that `writeBufferAsync` goes, backwards. Waits for what was enqueued before.
 *
 * @param pastCaches whether memory has to do less where nobody reads the bytes soon, which are not in the caches then
 * @throws as `writeBufferAsync`
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
 * Maps a buffer and unmaps it, on another thread: drivers make the memory that MEM_ALLOC_HOST_PTR asks for when it is mapped
 * for the first time, which takes NVIDIA's half a millisecond a MiB. `enqueueMapBuffer` is quick afterwards.
 *
 * @param queue waits for what was enqueued before
 * @throws (rejects) INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, and what mapping ends with
 */
export function prepareMappingAsync(queue: CommandQueue, buffer: MemObject): Promise<void> {
  return native().prepareMappingAsync(queue, buffer);
}

/** What a transfer between a file and a buffer tells, and is told: words of 64 bits. */
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
 * File to device, through memory that the device can reach directly: several threads read pieces into it while the device
 * takes others, and hash them on the way. Calls clEnqueueWriteBuffer on other threads; nothing else may be enqueued meanwhile
 * that has to come after it. Not on Windows.
 *
 * @param offset bytes from the buffer's start
 * @param fd a descriptor of an open file; it may be closed meanwhile
 * @param position bytes from the file's start
 * @param ring, piece, threads as of `writeBufferAsync`
 * @param hash words as of `hashAsync`, to which what is moved is added; null for none
 * @param skipped bytes from the first one on that are not added
 * @param result `FILE_TRANSFER` words: if `STOP` is not 0 the transfer ends early; in the end `MOVED` has the bytes from the first
 * one on that were moved, fewer where it ended early or the file did, and `ERROR` what the system said (its errno) or 0; the
 * others have nanoseconds of all threads together: in which they read or wrote, hashed, waited for one another and for the device
 * @throws (rejects) INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_VALUE, UnsupportedError, and what the transfers end with
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
 * Has the system find room for bytes of a file that will be written, on another thread; what the file holds, and how long it
 * is, stay. Where the system cannot, nothing happens. Not on Windows.
 *
 * @param fd a descriptor of a file that is open for writing; it may be closed meanwhile
 * @param position bytes from the file's start
 * @param result a word that gets what the system said (its errno) or 0
 * @throws (rejects) INVALID_VALUE, UnsupportedError
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
 * Device to file, the way that `writeBufferFromFileAsync` goes, backwards: waits for what was enqueued before.
 *
 * @throws as `writeBufferFromFileAsync`
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
 * An ArrayBuffer of zeros for large data: it begins on a multiple of a page and, on Linux, is made of few
 * large pages, so that touching it for the first time takes less.
 *
 * @param threads of ours that begin to make the pages at once; 0: each is made when it is first used
 * @param used whether what another such buffer left may be in it, which spares making pages
 * @throws OUT_OF_HOST_MEMORY
 */
export function allocateHostMemory(bytes: Size, threads = 0, used = false): ArrayBuffer {
  return native().allocateHostMemory(bytes, threads, used);
}

/**
 * A sum over all bytes of host memory, in which a change of a single 32-bit word always shows, made by other
 * threads; cl/checksum.cl makes the same over a buffer.
 *
 * @param sum receives it in its first 8 bytes
 * @param threads 1 to 64
 * @throws (rejects) INVALID_VALUE
 */
export function checksumAsync(host: HostMemory, sum: HostMemory, threads: number): Promise<void> {
  return native().checksumAsync(host, sum, threads);
}

/**
 * Adds bytes to an XXH64 hash (seed 0) of all that was added before, made by another thread.
 *
 * @param hash ten words, all zero at first; the first one is the hash of all so far
 * @throws (rejects) INVALID_VALUE
 */
export function hashAsync(host: HostMemory, hash: BigUint64Array): Promise<void> {
  return native().hashAsync(host, hash);
}

/**
 * Multiplies two products by a factor for each key of host memory, modulo the prime 2^61 - 1, made by other
 * threads: products that do not depend on the order of keys, in which multisets differ almost surely. The factor
 * of a key k at the point (r, s) is r + (k mod 2^60) + s * floor(k / 2^60).
 *
 * @param width bytes of a key: 1, 2, 4 or 8
 * @param points r and s of either product, 64 bits each, below the prime
 * @param products both, 64 bits each: read, multiplied and written
 * @param threads 1 to 64
 * @throws (rejects) INVALID_VALUE
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
 * Sorts keys of host memory that are nearly in order, in place, by insertion, made by other threads; equal ones stay as they
 * are. It gives up when keys have far to go, eight places each on the average: then they stand in some other order, in
 * which equal ones still are as they were.
 *
 * @param width bytes of a key: 1, 2, 4 or 8
 * @param codec what makes a code of a key, as `placeAsync` takes it
 * @param sorted receives 1, or 0 if it gave up, 32 bits
 * @param threads 1 to 64
 * @throws (rejects) INVALID_VALUE
 */
export function nearSortAsync(
  keys: HostMemory,
  width: 1 | 2 | 4 | 8,
  codec: HostMemory,
  sorted: HostMemory,
  threads: number,
): Promise<void> {
  return native().nearSortAsync(keys, width, codec, sorted, threads);
}

/**
 * Copies host memory to other host memory, by other threads: many pieces in one call. Nothing of it may change until the promise
 * settles.
 *
 * @param from copied as a whole
 * @param to as many, each with room for what is copied there; where they overlap they are left with anything
 * @param threads 1 to 64
 * @throws (rejects) INVALID_VALUE, also for memory that is resizable
 */
export function copyAsync(
  from: readonly HostMemory[],
  to: readonly HostMemory[],
  threads: number,
): Promise<void> {
  return native().copyAsync(from, to, threads);
}

/**
 * Copies pieces of host memory to where they lie one behind the other, by other threads. Nothing of it may change until the promise
 * settles, but for memory that is resizable: that is copied before the call returns.
 *
 * @param from copied as a whole
 * @param to of as many bytes as all of them
 * @param threads 1 to 64
 * @throws (rejects) INVALID_VALUE, also when `to` is resizable
 */
export function joinAsync(from: readonly HostMemory[], to: HostMemory, threads: number): Promise<void> {
  return native().joinAsync(from, to, threads);
}

/**
 * Brings keys of host memory to the order of their partitions, each partition's as they came, made by other threads: one
 * stable counting pass. Beside what it is given it takes two bytes for each key.
 *
 * @param width bytes of a key: 1, 2, 4 or 8
 * @param codec what makes a code of a key, as seven numbers of 64 bits: what positive keys flip, what negative ones do, what
 * is subtracted then, the last number, what is added in the end, 1 where numbers descend, and the bits of the code that count
 * @param firsts the first code of each partition but the first one, in ascending order, 64 bits each: fewer than 2^16
 * @param before how many of them are in cells before each cell, and at the end their number, 16 bits each; the codes of a cell
 * are alike above `shift`
 * @param shift 0 to 63
 * @param to receives the keys
 * @param counts receives how many keys each partition has, 32 bits each
 * @param threads 1 to 64
 * @throws (rejects) INVALID_VALUE
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
 * Splits keys of host memory, and what travels with them, into shares that are each in the order of the keys, made by other
 * threads: one stable counting pass. Beside what it is given it takes a byte for each key. Keys alone that go into two shares by
 * all bits of their codes come in any order, which takes less: equal ones cannot be told apart.
 *
 * @param width bytes of a key: 1, 2, 4 or 8
 * @param codec what makes a code of a key, as of `placeAsync`
 * @param codes the code at which each share but the first one begins, 64 bits each, at most 255, never falling
 * @param positions of the first key that belongs there among those of that code, 64 bits each
 * @param position of the first key
 * @param values of 1, 2, 4, 8 or 16 bytes; null for none, or for positions, of 4 bytes
 * @param toKeys receive the keys of each share; null for what nobody wants, which is only counted, as is what has no room:
 * then what the room is left with is not told
 * @param toValues receive the values of each share; null where there are none
 * @param counts receives how many keys each share has, 32 bits each
 * @param threads 1 to 64
 * @throws (rejects) INVALID_VALUE
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

/** What `splitToBuffersAsync` tells of each share, words of 64 bits: how many keys it has, and how its transfers ended. */
export const SPLIT_TRANSFER = { COUNT: 0, STATUS: 1, WORDS: 2 } as const;

/**
 * Splits keys of host memory between two buffers, mostly of two devices, as `splitAsync` does: several threads bring either share
 * into memory that its device can reach directly while the devices take other pieces. Keys of a share come in any order. Calls
 * clEnqueueWriteBuffer on other threads; nothing else may be enqueued meanwhile that has to come after it.
 *
 * @param width bytes of a key: 1, 2, 4 or 8
 * @param codec what makes a code of a key, as of `placeAsync`; all bits should count, since equal codes stand for equal keys
 * @param code at which the second share begins
 * @param equal position of the first key that belongs there among those of that code
 * @param position of the first key
 * @param queues, buffers, rings of either share; a ring is as of `writeBufferAsync`
 * @param offsets bytes from where either buffer begins, 64 bits each
 * @param capacities bytes that there is room for from there on, 64 bits each; of more keys than that some are left out
 * @param piece bytes that a device transfers at once
 * @param result `SPLIT_TRANSFER` words for either share; a transfer that failed leaves its status here, and the other share whole
 * @param threads 1 to 64
 * @throws (rejects) INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_VALUE
 */
export function splitToBuffersAsync(
  keys: HostMemory,
  width: 1 | 2 | 4 | 8,
  codec: HostMemory,
  code: Size,
  equal: Size,
  position: Size,
  queues: readonly [CommandQueue, CommandQueue],
  buffers: readonly [MemObject, MemObject],
  offsets: BigUint64Array,
  capacities: BigUint64Array,
  rings: readonly [HostMemory, HostMemory],
  piece: Size,
  result: BigInt64Array,
  threads: number,
): Promise<void> {
  return native().splitToBuffersAsync(
    keys,
    width,
    codec,
    code,
    equal,
    position,
    queues,
    buffers,
    offsets,
    capacities,
    rings,
    piece,
    result,
    threads,
  );
}

/**
 * Buffer to buffer, mostly of two devices in contexts of their own, through memory that either one can reach directly: one device
 * puts pieces into its ring, several threads copy them into the ring of the other one, which takes them from there. Through a single
 * ring, which both reach, nothing is copied between. Calls clEnqueueReadBuffer and clEnqueueWriteBuffer on other threads; nothing
 * else may be enqueued meanwhile that has to come after it.
 *
 * @param queues of the device that sends, and of the one that gets
 * @param buffers of either device
 * @param offsets bytes from where either buffer begins, 64 bits each
 * @param bytes that are to be brought
 * @param rings of either device, or one for both; each as of `writeBufferAsync`
 * @param piece bytes that a device transfers at once
 * @param result a word of 64 bits for either side, which gets the status of its transfers; of the two that end when one fails, the
 * other one's is 0
 * @param threads that copy, 1 to 64
 * @throws (rejects) INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_VALUE
 */
export function relayAsync(
  queues: readonly [CommandQueue, CommandQueue],
  buffers: readonly [MemObject, MemObject],
  offsets: BigUint64Array,
  bytes: Size,
  rings: readonly [HostMemory, HostMemory] | readonly [HostMemory],
  piece: Size,
  result: BigInt64Array,
  threads: number,
): Promise<void> {
  return native().relayAsync(queues, buffers, offsets, bytes, rings, piece, result, threads);
}
