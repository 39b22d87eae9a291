/** Parsers for the options of sorts that exceed memory. */
import { totalmem } from 'node:os';
import { normalize } from 'node:path';
import { defaultMemory } from '../io/external/free-memory.js';
import { invalidArgument } from '../util/invalid-argument.js';
import { cannotCombine } from './option-errors.js';
import type { BudgetArguments, MemoryArguments, SpillArguments } from './options/memory.js';

/**
 * Reads the memory budget in bytes, the folder for temporary files, and whether to resume.
 *
 * @throws UsageError when `--memory` is malformed or `--tmp` is empty
 */
export const readMemory = ({ resume, ...spill }: Omit<MemoryArguments, 'restart'>) => ({
  ...readSpill(spill),
  resume,
});

/**
 * Reads the memory budget in bytes and the folder for temporary files.
 *
 * @throws UsageError when `--memory` is malformed or `--tmp` is empty
 */
export function readSpill({ memory, tmp }: SpillArguments) {
  if (tmp === '') throw invalidArgument('--tmp', 'a folder', tmp);
  return { memory: readBudget({ memory }), ...(tmp !== undefined && { tmp: normalize(tmp) }) };
}

/**
 * Discards the unfinished work of an interrupted sort to an output, with `--restart`.
 *
 * @throws UsageError when `--resume` is also given
 * @throws IoError when the files cannot be removed
 */
export async function restart(
  { resume, restart: isAsked, tmp }: MemoryArguments,
  out: string,
): Promise<void> {
  if (!isAsked) return;
  if (resume)
    throw cannotCombine('--resume', '--restart', 'one continues the interrupted sort, the other discards it');
  const { discardUnfinished } = await import('../io/external/session.js'); // most sorts do not need it
  await discardUnfinished(out, tmp === undefined ? undefined : normalize(tmp));
}

/** Returns the memory budget in bytes: `--memory`, or by default half of the free memory. */
export const readBudget = ({ memory }: BudgetArguments): number =>
  memory === undefined ? defaultMemory() : readSize(memory);

const POWERS: Readonly<Record<string, number>> = {
  b: 1,
  '': 2 ** 10,
  K: 2 ** 10,
  k: 2 ** 10,
  M: 2 ** 20,
  G: 2 ** 30,
  T: 2 ** 40,
  P: 2 ** 50,
};

/**
 * Parses a size in bytes with the suffixes of sort(1): 2G, 500M, 64K, 4096b, or 10% of the total memory. Without a
 * suffix the unit is KiB.
 *
 * @throws UsageError when it is malformed
 */
export function readSize(text: string): number {
  const [, number = '', suffix = ''] = /^(\d+(?:\.\d+)?)([bKkMGTP]|%|)$/.exec(text) ?? [];
  const one = suffix === '%' ? totalmem() / 100 : (POWERS[suffix] ?? Number.NaN);
  const bytes = number === '' ? Number.NaN : Math.floor(Number(number) * one);
  if (!Number.isSafeInteger(bytes)) {
    throw invalidArgument('--memory', 'a size such as 2G, 500M or 25%', text, {
      advice: 'Units are b, K, M, G, T and P; K is 1024 bytes and the default',
    });
  }
  return bytes;
}
