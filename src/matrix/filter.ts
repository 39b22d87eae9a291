/** Parser for the filters of `--only`. */
import { canonicalAlgorithm } from '../algorithms/algorithm-names.js';
import { DTYPES } from '../keys/dtype.js';
import { CHECKED_OPERATIONS } from '../sort/operations/cases.js';
import { invalidArgument } from '../util/invalid-argument.js';
import { didYouMean, invalidName } from '../util/suggest.js';
import { algorithmNames, KEYS, ORDERS } from './axes.js';

/** The axes that identify a case. */
const AXIS_NAMES = ['operation', 'algorithm', 'dtype', 'n', 'order', 'keys'] as const;
export type AxisName = (typeof AXIS_NAMES)[number];

/** Accepted values per axis; an absent axis accepts all values. */
export type Filter = { readonly [A in AxisName]?: readonly string[] };

/** Returns the known values of an axis; `n` may be any number. */
const valuesOf = (axis: Exclude<AxisName, 'n'>): readonly string[] =>
  ({
    operation: CHECKED_OPERATIONS.map(({ name }) => name),
    algorithm: algorithmNames(),
    dtype: DTYPES,
    order: ORDERS,
    keys: KEYS,
  })[axis];

const WORD_PARSERS = ['operation', 'algorithm', 'dtype', 'order', 'keys'] as const;

const isNumber = (word: string): boolean => /^\d{1,9}$/.test(word);

/**
 * Returns the values of an axis that a word names: the word itself, or for operations all names with the prefix
 * `WORD-`, such as those of `reduce`.
 */
function parseWord(axis: AxisName, word: string): readonly string[] {
  if (axis === 'n') return isNumber(word) ? [String(Number(word))] : [];
  const values = valuesOf(axis);
  const value = axis === 'algorithm' ? canonicalAlgorithm(word) : word;
  if (values.includes(value)) return [value];
  return axis === 'operation' ? values.filter((value) => value.startsWith(`${word}-`)) : [];
}

/**
 * Parses the values of an axis.
 *
 * @throws UsageError when a value is unknown
 */
function readAxis(axis: AxisName, words: readonly string[]): readonly string[] {
  return words.flatMap((word) => {
    const found = parseWord(axis, word);
    if (found.length > 0) return found;
    if (axis === 'n') throw invalidArgument('n in --only', 'a number of keys such as 257', word);
    throw invalidName(`${axis} in --only`, word, valuesOf(axis));
  });
}

/**
 * Returns the axis that has a value of this name; numbers are sizes.
 *
 * @throws UsageError when no axis has it
 */
function axisOf(word: string): AxisName {
  if (isNumber(word)) return 'n';
  const axis = WORD_PARSERS.find((one) => parseWord(one, word).length > 0);
  if (axis) return axis;
  const known = WORD_PARSERS.flatMap(valuesOf);
  const expected = 'an operation, algorithm, dtype, order, distribution or number of keys';
  throw invalidArgument('--only', expected, word, { advice: didYouMean(word, known) });
}

/**
 * Parses one filter: comma-separated terms, all of which must match. A term is an axis with values (`dtype=u32|f64`),
 * or values alone (`tiled|amd`).
 *
 * @throws UsageError when a name is unknown
 */
export function readFilter(text: string): Filter {
  const filter: { -readonly [A in AxisName]?: readonly string[] } = {};
  const terms = text.split(',').map((term) => term.trim());
  for (const term of terms) {
    const [, name, list = ''] = /^(?:([^=]*)=)?(.*)$/s.exec(term) ?? [];
    const words = list.split('|').map((word) => word.trim());
    if (words.includes('')) {
      throw invalidArgument('--only', 'terms such as algorithm=tiled,dtype=u32|f64', text);
    }
    const axis = name === undefined ? axisOf(words[0] as string) : axisNamed(name.trim());
    if (filter[axis])
      throw invalidArgument('--only', `one ${axis} term`, text, { advice: 'Separate several values with |' });
    filter[axis] = readAxis(axis, words);
  }
  return filter;
}

function axisNamed(name: string): AxisName {
  const axis = AXIS_NAMES.find((known) => known === name);
  if (axis) return axis;
  throw invalidName('the axis in --only', name, AXIS_NAMES);
}

/** Returns whether a filter accepts a case. Sizes are not compared: they determine which cases are generated. */
export const matches = (filter: Filter, one: Readonly<Record<Exclude<AxisName, 'n'>, string>>): boolean =>
  WORD_PARSERS.every((axis) => filter[axis]?.includes(one[axis]) ?? true);

/** Formats a filter so that `readFilter` returns it unchanged. */
export const filterText = (filter: Filter): string =>
  AXIS_NAMES.flatMap((axis) => (filter[axis] ? [`${axis}=${filter[axis].join('|')}`] : [])).join(',');
