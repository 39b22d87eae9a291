import { keyCodec } from '../../../keys/key-codec.js';
import { CodeEdges } from '../../../keys/value.js';
import type { CodeRange } from '../../../primitives/compact.js';
import { UsageError } from '../../../util/errors.js';
import { invalidArgument } from '../../../util/invalid-argument.js';
import { invalidName } from '../../../util/suggest.js';
import type { Column } from '../../model/column.js';

/**
 * Condition on keys. A key is selected if all given properties hold for it; at least one is required besides `not`.
 *
 * Keys are compared as numbers: both zeros are equal, and NaN is neither below nor above any number. BigInts are for
 * integer keys only. A bound need not be a possible key.
 */
export interface Predicate {
  /** Selects keys from this number on, inclusive. */
  readonly from?: number | bigint;
  /** Selects keys above this number. */
  readonly above?: number | bigint;
  /** Selects keys below this number. */
  readonly below?: number | bigint;
  /** Selects keys up to this number, inclusive. */
  readonly upTo?: number | bigint;
  /** Selects keys that equal this number. */
  readonly equal?: number | bigint;
  /** Selects keys that are NaN; can only be combined with `not`. */
  readonly nan?: true;
  /**
   * Selects all other keys instead, including NaNs.
   *
   * @defaultValue `false`
   */
  readonly not?: boolean;
}

const EDGES = ['from', 'above', 'below', 'upTo', 'equal'] as const;
const NAMES: readonly string[] = [...EDGES, 'nan', 'not'];

/**
 * Returns the codes of the keys that a predicate selects.
 *
 * @throws UsageError when the predicate is empty or has an impossible value
 */
export function rangeOf(predicate: Predicate, { dtype, info }: Column): CodeRange {
  if (typeof predicate !== 'object' || predicate === null) {
    throw invalidArgument('predicate', 'an object such as { below: 5 }', predicate);
  }
  const unknown = Object.keys(predicate).find((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw invalidName('predicate', unknown, NAMES);
  const { nan, not = false } = predicate;
  if (typeof not !== 'boolean') throw invalidArgument('predicate.not', 'true or false', not);
  if (nan !== undefined && nan !== true) throw invalidArgument('predicate.nan', 'true', nan);
  const conditions = EDGES.filter((name) => predicate[name] !== undefined);
  if (conditions.length === 0 && !nan)
    throw invalidArgument('predicate', `one or more of ${[...EDGES, 'nan'].join(' ')}`, predicate);
  const { lastNumber } = keyCodec(dtype);
  if (nan) {
    if (conditions.length > 0) {
      throw new UsageError("cannot use 'nan' with a number in a predicate: both never hold. Filter twice");
    }
    // Integers have no code for NaN.
    if (info.kind !== 'float') return { low: 1n, high: 0n, not };
    return { low: lastNumber + 1n, high: (1n << BigInt(info.width)) - 1n, not };
  }
  const edges = new CodeEdges(info);
  let [low, high] = [0n, lastNumber];
  const emptyRange = { low: 1n, high: 0n, not };
  for (const name of conditions) {
    const value = predicate[name] as number | bigint;
    assertNumber(name, value, info.kind === 'float');
    const first = edges.from(value);
    const last = edges.upTo(value);
    if (name === 'from' || name === 'equal') {
      if (first === undefined) return emptyRange;
      if (first > low) low = first;
    }
    if (name === 'upTo' || name === 'equal') {
      if (last === undefined) return emptyRange;
      if (last < high) high = last;
    }
    if (name === 'above' && last !== undefined && last >= low) low = last + 1n;
    if (name === 'below' && first !== undefined && first <= high) high = first - 1n;
  }
  return low <= high ? { low, high, not } : emptyRange;
}

function assertNumber(name: string, value: number | bigint, isFloat: boolean): void {
  const isNumber = typeof value === 'number' && !Number.isNaN(value);
  if (isNumber || (typeof value === 'bigint' && !isFloat)) return;
  throw invalidArgument(`predicate.${name}`, `a number${isFloat ? '' : ' or BigInt'}`, value);
}
