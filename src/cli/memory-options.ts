/** How the options for what is larger than memory are read. */
import { totalmem } from 'node:os';
import { normalize } from 'node:path';
import { defaultMemory } from '../io/external/free-memory.js';
import { UsageError } from '../util/errors.js';
import type { BudgetArguments, MemoryArguments } from './options/memory.js';

/** Bytes of memory, folder for temporary files, and whether to go on, as given on the command line. */
export function readMemory({ memory, tmp, resume }: Omit<MemoryArguments, 'restart'>) {
  if (tmp === '') throw new UsageError("--tmp is '': expected a folder");
  return {
    memory: readBudget({ memory }),
    ...(tmp !== undefined && { tmp: normalize(tmp) }),
    resume,
  };
}

/**
 * Gives up what an interrupted sort to an output has done, where --restart says so.
 *
 * @throws UsageError beside --resume; IoError
 */
export async function restart(
  { resume, restart: isAsked, tmp }: MemoryArguments,
  out: string,
): Promise<void> {
  if (!isAsked) return;
  if (resume) throw new UsageError('--resume and --restart are at odds: give one of them');
  const { discardUnfinished } = await import('../io/external/session.js'); // most sorts do without
  await discardUnfinished(out, tmp === undefined ? undefined : normalize(tmp));
}

/** Bytes of memory, as given on the command line, or half of what is free. */
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

/** Bytes as sort(1) understands them: 2G, 500M, 64K, 4096b; 10% of the memory there is; without a letter, K. */
export function readSize(text: string): number {
  const [, number = '', suffix = ''] = /^(\d+(?:\.\d+)?)([bKkMGTP]|%|)$/.exec(text) ?? [];
  const one = suffix === '%' ? totalmem() / 100 : (POWERS[suffix] ?? Number.NaN);
  const bytes = number === '' ? Number.NaN : Math.floor(Number(number) * one);
  if (!Number.isSafeInteger(bytes)) {
    throw new UsageError(
      `--memory is '${text}': expected a size such as 2G, 500M or 25% (b, K, M, G, T; K is 1024, and what stands alone)`,
    );
  }
  return bytes;
}
