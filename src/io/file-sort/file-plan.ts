/** Plans how the keys or records of a file are sorted: once, from their size, the memory and the device. */

import { constants } from 'node:buffer';
import {
  COPIES,
  MAX_POOLED_BYTES,
  MAX_WHOLE_BYTES,
  MEMORY_SHARE,
  WHOLE_MEMORY,
  WHOLE_MEMORY_DEDICATED,
  WHOLE_MEMORY_OF_PIPES,
} from './policy.js';
import { positionDtype } from './positions.js';

/**
 * The way to sort a file: in the memory of a device, in host memory as a whole, or in partitions. Partitions are in
 * memory, or in temporary files where memory does not suffice.
 */
export type FilePlan = 'device' | 'whole' | 'parts';

/** The facts that determine the plan. */
export interface FileFacts {
  /** Size of all records in bytes; undefined for a pipe of more than `maxWholeBytes`. */
  readonly bytes: number | undefined;
  /** Size of a record in bytes. A key is a record without a payload. */
  readonly recordBytes: number;
  /** Host memory that the sort of a record takes beside it, in bytes; undefined for keys. */
  readonly sortBytes?: number | undefined;
  /** Whether positions are written. */
  readonly argsort: boolean;
  /** Number of records from which on positions are u64. */
  readonly wideFrom?: number | undefined;
  /** Memory limit in bytes; undefined when everything is sorted as a whole. */
  readonly memory: number | undefined;
  /** Whether arrays come from a pool. */
  readonly isPooled?: boolean | undefined;
  /** Whether an interrupted sort in partitions is resumed. */
  readonly resumes?: boolean | undefined;
  /** Whether the device has memory of its own. */
  readonly hasDedicatedMemory?: boolean | undefined;
  /** The device that the file can be streamed to; undefined when there is none. */
  readonly device?: DeviceLimits | undefined;
}

/** Sizes of a device that a file is streamed to, in bytes. */
export interface DeviceLimits {
  readonly maxAllocation: number;
  readonly globalBytes: number;
  /** Minimum size of a file. */
  readonly minBytes: number;
}

export function planFile(facts: FileFacts): FilePlan {
  const { bytes, recordBytes, argsort, wideFrom, memory, resumes = false, device } = facts;
  const n = bytes === undefined ? undefined : bytes / recordBytes;
  const isWide = argsort && positionDtype(n, wideFrom) === 'u64'; // positions in memory are u32
  if (!resumes && !isWide && device && bytes !== undefined && fitsDevice(bytes, facts, device))
    return 'device';
  if (memory === undefined) return 'whole';
  return !resumes && !isWide && fitsAsWhole(facts, memory) ? 'whole' : 'parts';
}

function fitsDevice(
  bytes: number,
  { recordBytes, argsort }: FileFacts,
  { maxAllocation, globalBytes, minBytes }: DeviceLimits,
): boolean {
  const all = argsort ? bytes + 4 * (bytes / recordBytes) : bytes;
  return bytes >= minBytes && bytes <= maxAllocation && COPIES * all <= MEMORY_SHARE * globalBytes;
}

/** Maximum device memory per record in bytes, for devices that share the host's memory: keys and positions, twice. */
const DEVICE_BYTES = 40;

/** Returns the memory in bytes to sort records as a whole. */
export const wholeMemory = (
  bytes: number,
  { recordBytes, sortBytes }: { readonly recordBytes: number; readonly sortBytes: number },
): number => bytes + (bytes / recordBytes) * (sortBytes + DEVICE_BYTES);

/** Maximum number of records in memory, a limit of 32-bit positions. */
const MAX_RECORDS = 2 ** 32 - 1;

type MemoryFacts = Pick<FileFacts, 'recordBytes' | 'sortBytes' | 'argsort' | 'isPooled'>;

/** Returns the bytes in memory per byte of keys: keys, or keys and positions. */
const heldBytesPerKeyByte = ({ argsort, recordBytes }: MemoryFacts): number =>
  argsort ? (recordBytes + 4) / recordBytes : 1;

/** Returns the maximum bytes sorted as a whole on any device. An argsort is limited by memory only. */
export function maxWholeBytes(facts: MemoryFacts, memory: number, isPipe = false): number {
  const { recordBytes, sortBytes, argsort, isPooled = false } = facts;
  if (sortBytes !== undefined) {
    const n = Math.min(
      MAX_RECORDS,
      Math.floor(memory / wholeMemory(recordBytes, { recordBytes, sortBytes })),
    );
    return Math.min(constants.MAX_LENGTH, n * recordBytes);
  }
  const times = (isPipe ? WHOLE_MEMORY_OF_PIPES : WHOLE_MEMORY) * heldBytesPerKeyByte(facts);
  const limit = argsort ? constants.MAX_LENGTH : isPooled ? MAX_POOLED_BYTES : MAX_WHOLE_BYTES;
  return Math.min(limit, Math.floor(memory / times));
}

function fitsAsWhole(facts: FileFacts, memory: number): boolean {
  const { bytes, sortBytes, hasDedicatedMemory = false } = facts;
  if (bytes === undefined) return false;
  if (bytes <= maxWholeBytes(facts, memory)) return true;
  const needed = Math.ceil(bytes * WHOLE_MEMORY_DEDICATED * heldBytesPerKeyByte(facts));
  return hasDedicatedMemory && sortBytes === undefined && needed <= memory && bytes <= constants.MAX_LENGTH;
}
