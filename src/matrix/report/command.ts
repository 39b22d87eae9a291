/** Builds the command lines that repeat a cell, or one case of it, quoted for a shell. */
import type { BadCase, CellReport, DeviceReport } from './report.js';

/** Words that need no quotes in a shell. */
const PLAIN = /^[\w.,:=+/@%-]+$/;

const quoteWord = (word: string): string => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

type How = Pick<DeviceReport, 'spec' | 'environment' | 'level' | 'seed'>;

const variables = ({ environment }: How): string[] =>
  Object.entries(environment).map(([name, value]) => `${name}=${quoteWord(value)}`);

const levelFlag = ({ level }: How): string[] => (level === 'default' ? [] : [`--${level}`]);

/** Returns the command line that repeats the whole run of a device. */
export const deviceCommandOf = (device: How & Pick<DeviceReport, 'only'>): string =>
  [
    ...variables(device),
    ...['clsort', 'matrix', '--device', quoteWord(device.spec), '--seed', quoteWord(device.seed)],
    ...levelFlag(device),
    ...(device.only ?? []).flatMap((filter) => ['--only', quoteWord(filter)]),
  ].join(' ');

/**
 * Returns the parts of a command line before and after the terms of `--only`, and the level option, which a single case
 * does not need.
 */
export function commandParts(device: How): readonly [before: string, after: string, level: string] {
  return [
    [...variables(device), 'clsort', 'matrix', '--device', quoteWord(device.spec), '--only', ''].join(' '),
    ` --seed ${quoteWord(device.seed)}`,
    ['', ...levelFlag(device)].join(' '),
  ];
}

/**
 * Returns the command line that repeats a cell, or one case of it.
 *
 * @param one the case; without it, all tried cases of the cell
 */
export function commandOf(
  device: How,
  { operation, algorithm, dtype, tried }: Pick<CellReport, 'operation' | 'algorithm' | 'dtype' | 'tried'>,
  one?: Pick<BadCase, 'n' | 'order' | 'keys'>,
): string {
  const [before, after, level] = commandParts(device);
  const values = Object.entries({ operation, algorithm, dtype, ...(one ? axesOf(one) : tried) });
  const terms = values.map(([axis, words]) => `${axis}=${[words].flat().join('|')}`);
  return `${before}${quoteWord(terms.join(','))}${after}${one || tried ? '' : level}`;
}

const axesOf = ({ n, order, keys }: Pick<BadCase, 'n' | 'order' | 'keys'>) => ({ n, order, keys });
