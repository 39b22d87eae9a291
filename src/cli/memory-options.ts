/** Options for what is larger than memory, and how their text is read. */
import { totalmem } from 'node:os';
import type { Argv } from 'yargs';
import { defaultMemory } from '../io/external/budget.js';
import { UsageError } from '../util/errors.js';

export interface MemoryArguments {
  readonly memory: string | undefined;
  readonly tmp: string | undefined;
  readonly resume: boolean;
}

/** Adds --memory, --tmp and --resume. */
export const withMemory = <T>(yargs: Argv<T>) =>
  yargs
    .option('memory', {
      type: 'string',
      nargs: 1,
      describe: 'most memory to sort in, as 2G or 50%; default half of what is free',
    })
    .option('tmp', {
      type: 'string',
      nargs: 1,
      normalize: true,
      describe: 'folder for temporary files; default that of OUT',
    })
    .option('resume', {
      type: 'boolean',
      default: false,
      describe: 'go on with a sort of more than memory holds that was ended',
    });

/** Bytes of memory, folder for temporary files, and whether to go on, as given on the command line. */
export function readMemory({ memory, tmp, resume }: MemoryArguments) {
  if (tmp === '') throw new UsageError("--tmp is '': expected a folder");
  return { memory: memory === undefined ? defaultMemory() : readSize(memory), tmp, resume };
}

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
