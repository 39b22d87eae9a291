/** The line that repeats a cell, or one case of it, for a shell. */
import type { MatrixCell } from '../case.js';
import type { BadCase, DeviceReport } from './report.js';

/** Words that a shell takes as they are; others stand in quotes. */
const PLAIN = /^[\w.,:=+/@%-]+$/;

const quoted = (word: string): string => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/**
 * @param one the case; without it all of the cell's
 */
export function commandOf(
  device: Pick<DeviceReport, 'spec' | 'environment' | 'level' | 'seed' | 'named'>,
  { operation, algorithm, dtype }: MatrixCell,
  one?: Pick<BadCase, 'n' | 'order' | 'keys'>,
): string {
  const { spec, environment, level, seed, named } = device;
  const values = one ? { n: [one.n], order: [one.order], keys: [one.keys] } : named;
  const terms = Object.entries(values).map(([axis, words]) => `${axis}=${words.join('|')}`);
  const only = [`operation=${operation}`, `algorithm=${algorithm}`, `dtype=${dtype}`, ...terms].join(',');
  return [
    ...Object.entries(environment).map(([name, value]) => `${name}=${quoted(value)}`),
    ...['clsort', 'matrix', '--device', quoted(spec), '--only', quoted(only), '--seed', quoted(seed)],
    ...(one || level === 'default' ? [] : [`--${level}`]),
  ].join(' ');
}
