/** Options of sort(1), for lines of text. */
import type { Argv } from 'yargs';
import { number, texts } from './kinds.js';

const SWITCHES = {
  'numeric-sort': ['n', 'by the number that they start with'],
  'general-numeric-sort': ['g', 'by the number that they start with, with exponents, infinities and NaN'],
  'version-sort': ['V', 'in natural order: file2 before file10'],
  'random-sort': ['R', 'in random order, equal keys together'],
  'ignore-case': ['f', 'lower case as upper case'],
  'dictionary-order': ['d', 'by blanks, letters and digits only'],
  'ignore-leading-blanks': ['b', 'without leading blanks of keys'],
  stable: ['s', 'lines with equal keys keep their order'],
  'zero-terminated': ['z', 'lines end with a zero byte'],
  check: ['c', 'check whether the lines are sorted; exit code 1 if not'],
  'check-quiet': ['C', 'like --check, without a message'],
  merge: ['m', 'merge sorted files'],
} as const;

/** Adds the options of sort(1) that other options do not cover. */
export function withLines<T>(yargs: Argv<T>) {
  for (const [name, [alias, what]] of Object.entries(SWITCHES)) {
    yargs.option(name, { alias, type: 'boolean', default: false, describe: `lines: ${what}` });
  }
  return (yargs as Argv<T & Record<keyof typeof SWITCHES, boolean>>)
    .option('line-key', {
      ...texts('lines: sort by fields, as in 2,2n or 1.3,1.5; may be repeated, most significant first'),
      alias: 'k',
    })
    .option(
      'parallel',
      number('threads of the host engine, at most 64; default the processors that the process may use'),
    );
}
