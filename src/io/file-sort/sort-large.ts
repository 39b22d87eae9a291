/** Sorts in partitions, and the choice between them and a sort as a whole. */
import { constants } from 'node:buffer';
import type { Sorter } from '../../sort/api/sorter.js';
import type { SortOptions } from '../../sort/model/options.js';
import type { SortReport } from '../../sort/model/report.js';
import { partitionBudget } from '../external/budget.js';
import { externalSort } from '../external/external-sort.js';
import type { ExternalJob } from '../external/job.js';
import type { Output } from '../streams/output.js';
import type { FileContext, LargeReport } from './file-job.js';
import {
  MAX_POOLED_BYTES,
  MAX_WHOLE_BYTES,
  WHOLE_MEMORY,
  WHOLE_MEMORY_DEDICATED,
  WHOLE_MEMORY_OF_PIPES,
} from './policy.js';

interface Limits {
  readonly memory: number;
  readonly argsort: boolean;
  /** Whether arrays come from a pool. */
  readonly pooled?: boolean;
  /** Size of a key in bytes; an argsort adds four bytes for a position. */
  readonly keyBytes: number;
}

/** Returns the bytes in memory per byte of keys: keys, or keys and positions. */
const heldBytesPerKeyByte = ({ argsort, keyBytes }: Limits): number =>
  argsort ? (keyBytes + 4) / keyBytes : 1;

/** Returns the maximum bytes sorted as a whole on any device. An argsort is limited by memory only. */
export function maxWholeBytes(limits: Limits, isPipe: boolean): number {
  const times = (isPipe ? WHOLE_MEMORY_OF_PIPES : WHOLE_MEMORY) * heldBytesPerKeyByte(limits);
  const fitting = Math.floor(limits.memory / times);
  const limit = limits.pooled ? MAX_POOLED_BYTES : MAX_WHOLE_BYTES;
  return Math.min(limits.argsort ? constants.MAX_LENGTH : limit, fitting);
}

/**
 * Whether input is to be sorted as a whole.
 *
 * @param bytes size of the input; undefined for a pipe of more than `maxWholeBytes`
 * @param limits memory limit and key size
 * @param hasDedicatedMemory whether the device has memory separate from the host's
 */
export function fitsAsWhole(bytes: number | undefined, limits: Limits, hasDedicatedMemory: boolean): boolean {
  if (bytes === undefined) return false;
  if (bytes <= maxWholeBytes(limits, false)) return true;
  const needed = Math.ceil(bytes * WHOLE_MEMORY_DEDICATED * heldBytesPerKeyByte(limits));
  return hasDedicatedMemory && needed <= limits.memory && bytes <= constants.MAX_LENGTH;
}

/**
 * Sorts records in partitions: in memory when they fit, otherwise through temporary files.
 *
 * @param sorter sorts the partitions
 * @param job input, order and output
 * @param limits memory limit in bytes, sort options, and the output when it is already open
 * @param context streams and callbacks
 * @throws the errors of `externalSort`
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
): Promise<Omit<SortReport, 'dtype' | 'bitRange'> & { readonly external: LargeReport }> {
  const { algorithm, advanced, onWarning } = how;
  const given = Object.entries({ algorithm, advanced, onWarning }).filter(([, value]) => value !== undefined);
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
    stages: [], // the stages of one partition say nothing about the whole
    seconds: (performance.now() - started) / 1000,
    ...(verified && { verified }),
    external,
  };
}
