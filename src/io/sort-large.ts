/** Sorting files of which more may be than fits into memory. */
import { constants } from 'node:buffer';
import type { DeviceInfo } from '../device/platform.js';
import type { SortOptions } from '../sort/api/options.js';
import type { SortReport } from '../sort/api/report.js';
import type { Sorter } from '../sort/api/sorter.js';
import { UsageError } from '../util/errors.js';
import { budgetOf } from './external/budget.js';
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
}

/** How a sort in partitions went. */
export type LargeReport = Omit<ExternalReport, 'sort' | 'verified'>;

/** Memory that a sort as a whole takes for each byte: keys, result and scratch. */
const WHOLE_MEMORY = 3.2;
/** The same of a pipe, whose bytes come in pieces. */
const WHOLE_MEMORY_OF_PIPES = 4.2;
/** The same where the device has memory of its own, and the keys come from a file: keys and result. */
const WHOLE_MEMORY_ASIDE = 2.1;

interface Limits {
  readonly memory: number;
  readonly argsort: boolean;
}

/** Most bytes that are sorted as a whole, wherever that may be: it is quicker than in partitions. */
export const mostForWhole = ({ memory, argsort }: Limits, isPipe: boolean): number =>
  argsort && isPipe
    ? Number.POSITIVE_INFINITY
    : Math.min(constants.MAX_LENGTH, Math.floor(memory / (isPipe ? WHOLE_MEMORY_OF_PIPES : WHOLE_MEMORY)));

/**
 * Are so many bytes to be sorted as a whole?
 *
 * @param bytes undefined for a pipe of more than `mostForWhole`
 * @param device undefined where the host sorts
 * @throws UsageError when they have to be, and do not fit
 */
export function fitsAsWhole(
  bytes: number | undefined,
  limits: Limits,
  device: Pick<DeviceInfo, 'type'> | undefined,
): boolean {
  if (bytes === undefined) return false;
  const { memory, argsort } = limits;
  if (bytes <= mostForWhole(limits, false)) return true;
  const isAside = device !== undefined && device.type !== 'cpu';
  const needed = Math.ceil(bytes * (isAside ? WHOLE_MEMORY_ASIDE : WHOLE_MEMORY));
  if (isAside && needed <= memory && bytes <= constants.MAX_LENGTH) return true;
  if (!argsort) return false;
  throw new UsageError(
    `an argsort is made in memory only, of which this one takes ${needed} bytes and may take ${memory}: ` +
      'give it more by --memory',
    { details: { memory, least: needed } },
  );
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
    { ...job, budget: budgetOf(memory, order), options: Object.fromEntries(given) },
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
    n: external.bytes / order.unit,
    stages: [], // those of one partition tell nothing of all
    seconds: (performance.now() - started) / 1000,
    ...(verified && { verified }),
    external,
  };
}
