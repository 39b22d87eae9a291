/** Sorting files of which more may be than fits into memory. */
import { constants } from 'node:buffer';
import type { SortOptions } from '../sort/api/options.js';
import type { SortReport } from '../sort/api/report.js';
import type { Sorter } from '../sort/api/sorter.js';
import { partitionBudget } from './external/budget.js';
import { externalSort } from './external/external-sort.js';
import type { ExternalJob, ExternalReport } from './external/job.js';
import type { Output } from './output.js';
import type { FileContext } from './sort-file.js';

export interface LargeOptions {
  /**
   * Most bytes of memory to sort in, beside what the process takes anyway: what is larger is sorted by way of
   * temporary files. By default everything is sorted in memory, as a whole.
   */
  readonly memory?: number | undefined;
  /** Folder for temporary files; default that of the output. */
  readonly tmp?: string | undefined;
  /** Goes on with a sort by way of temporary files that was ended, if there is one. */
  readonly resume?: boolean | undefined;
  /** Keys from which on positions are u64; default 2^32. */
  readonly wideFrom?: number | undefined;
}

/** How a sort in partitions went. */
export type LargeReport = Omit<ExternalReport, 'sort' | 'verified'>;

/** Memory that a sort as a whole takes for each byte: keys, result and scratch. */
const WHOLE_MEMORY = 3.2;
/** The same of a pipe, whose bytes come in pieces. */
const WHOLE_MEMORY_OF_PIPES = 4.2;
/** The same where the device has memory of its own, and the keys come from a file: keys and result. */
const WHOLE_MEMORY_DEDICATED = 2.1;

/**
 * Most bytes that are sorted as a whole where that takes `WHOLE_MEMORY`: partitions in memory take half of it, and what is
 * larger is sorted in them as fast, since it is read and written meanwhile.
 */
const MAX_WHOLE_BYTES = 64 * 2 ** 20;

/** The same where arrays are had from a pool, and one file is read and another written while this one is sorted. */
const MAX_POOLED_BYTES = 2 ** 29;

interface Limits {
  readonly memory: number;
  readonly argsort: boolean;
  /** Whether arrays come from a pool. */
  readonly pooled?: boolean;
  /** Bytes of a key, beside which an argsort has four of a position. */
  readonly keyBytes: number;
}

/** What is in memory for each byte of keys: the keys, or with them their positions. */
const heldBytesPerKeyByte = ({ argsort, keyBytes }: Limits): number =>
  argsort ? (keyBytes + 4) / keyBytes : 1;

/** Most bytes that are sorted as a whole, wherever that may be; positions are, as long as they fit. */
export function maxWholeBytes(limits: Limits, isPipe: boolean): number {
  const times = (isPipe ? WHOLE_MEMORY_OF_PIPES : WHOLE_MEMORY) * heldBytesPerKeyByte(limits);
  const fitting = Math.floor(limits.memory / times);
  const limit = limits.pooled ? MAX_POOLED_BYTES : MAX_WHOLE_BYTES;
  return Math.min(limits.argsort ? constants.MAX_LENGTH : limit, fitting);
}

/**
 * Are so many bytes to be sorted as a whole?
 *
 * @param bytes undefined for a pipe of more than `mostForWhole`
 * @param hasDedicatedMemory whether the device that sorts has memory of its own
 */
export function fitsAsWhole(bytes: number | undefined, limits: Limits, hasDedicatedMemory: boolean): boolean {
  if (bytes === undefined) return false;
  if (bytes <= maxWholeBytes(limits, false)) return true;
  const needed = Math.ceil(bytes * WHOLE_MEMORY_DEDICATED * heldBytesPerKeyByte(limits));
  return hasDedicatedMemory && needed <= limits.memory && bytes <= constants.MAX_LENGTH;
}

/**
 * Sorts units in partitions: in memory where they fit, else by way of temporary files.
 *
 * @param how `output` is the output where it is open already
 * @throws as `externalSort`
 */
export async function sortLarge(
  sorter: Sorter,
  job: Omit<ExternalJob, 'budget' | 'options'>,
  {
    memory,
    how,
    output,
  }: { readonly memory: number; readonly how: SortOptions; readonly output?: Output | undefined },
  context: FileContext,
): Promise<Omit<SortReport, 'dtype' | 'bits'> & { readonly external: LargeReport }> {
  const { algorithm, scan, radixBits, onWarning } = how;
  const given = Object.entries({ algorithm, scan, radixBits, onWarning }).filter(
    ([, value]) => value !== undefined,
  );
  const { order } = job;
  const started = performance.now();
  const { sort, verified, ...external } = await externalSort(
    sorter,
    { ...job, budget: partitionBudget(memory, order), options: Object.fromEntries(given) },
    context,
    output,
  );
  const none = {
    device: { name: 'host', type: 'host' },
    algorithm: 'none',
    reason: 'nothing to sort',
  } as const;
  return {
    ...(sort ?? none),
    n: external.bytes / order.recordBytes,
    stages: [], // those of one partition tell nothing of all
    seconds: (performance.now() - started) / 1000,
    ...(verified && { verified }),
    external,
  };
}
