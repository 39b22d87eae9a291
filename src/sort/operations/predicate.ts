import { keyCodec } from '../../keys/key-codec.js';
import { CodeEdges } from '../../keys/value.js';
import type { CodeRange } from '../../primitives/compact.js';
import { UsageError } from '../../util/errors.js';
import { formatValue } from '../../util/format-value.js';
import { unknownName } from '../../util/suggest.js';
import type { Column } from '../backend/column.js';

/**
 * Which keys are chosen: those for which everything holds that is said. Keys are compared as numbers, so that both zeros are
 * equal and NaN is neither below nor above anything. BigInts are for integer keys; numbers that no key can be are allowed.
 */
export interface Predicate {
  /** Keys from this number on. */
  readonly from?: number | bigint;
  /** Keys that are larger. */
  readonly above?: number | bigint;
  /** Keys that are smaller. */
  readonly below?: number | bigint;
  /** Keys up to this number, itself included. */
  readonly upTo?: number | bigint;
  /** Keys that are this number. */
  readonly equal?: number | bigint;
  /** Keys that are NaN; goes with nothing but `not`. */
  readonly nan?: true;
  /** All other keys instead, NaNs among them. Default false. */
  readonly not?: boolean;
}

const EDGES = ['from', 'above', 'below', 'upTo', 'equal'] as const;
const NAMES: readonly string[] = [...EDGES, 'nan', 'not'];

/**
 * The codes of the keys that a predicate chooses.
 *
 * @throws UsageError when it says nothing, or something that it cannot say
 */
export function rangeOf(predicate: Predicate, { dtype, info }: Column): CodeRange {
  if (typeof predicate !== 'object' || predicate === null) {
    throw new UsageError(`the predicate is ${formatValue(predicate)}: expected data such as { below: 5 }`);
  }
  const unknown = Object.keys(predicate).find((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw new UsageError(unknownName('part of a predicate', unknown, NAMES));
  const { nan, not = false } = predicate;
  if (typeof not !== 'boolean') throw new UsageError("'not' of a predicate: expected true or false");
  if (nan !== undefined && nan !== true) throw new UsageError("'nan' of a predicate: expected true");
  const conditions = EDGES.filter((name) => predicate[name] !== undefined);
  if (conditions.length === 0 && !nan)
    throw new UsageError(`the predicate says nothing: expected one of ${NAMES.join(', ')}`);
  const { lastNumber } = keyCodec(dtype);
  if (nan) {
    if (conditions.length > 0) throw new UsageError("'nan' of a predicate goes with no number: filter twice");
    // Integers have no code for one.
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
  throw new UsageError(
    `'${name}' of a predicate is ${formatValue(value)}: expected a number` + `${isFloat ? '' : ' or BigInt'}`,
  );
}
