import { createHash } from 'node:crypto';
import { ALGORITHMS } from '../algorithms/registry.js';
import { DTYPES, type Dtype, dtypeInfo } from '../keys/dtype.js';
import type { CheckedOperation } from '../sort/operations/case.js';
import { CHECKED_OPERATIONS } from '../sort/operations/cases.js';
import { AUTO, KEYS, type Keys, type Level, NONE, ORDERS, type Order } from './axes.js';
import { type Filter, matches } from './filter.js';
import type { MatrixCase } from './matrix-case.js';

export interface MatrixScope {
  readonly level: Level;
  /** Seed from which all seeds are derived. */
  readonly seed: string;
  /** Largest number of keys of a case; a limit for simulators. */
  readonly maxKeys: number;
  /** Only cases that match at least one filter; all cases when there is none. */
  readonly filters: readonly Filter[];
}

interface Axes {
  readonly sizes: readonly number[];
  readonly orders: readonly Order[];
  readonly keys: readonly Keys[];
}

const SIZES = [0, 1, 2, 257, 4097, 65_537];

const AXES: Readonly<Record<Level, Axes>> = {
  quick: { sizes: [33, 16_385], orders: ['ascending'], keys: ['uniform'] },
  default: { sizes: SIZES, orders: ['ascending', 'descending'], keys: ['uniform'] },
  full: { sizes: [...SIZES, 2 ** 20 + 3], orders: ORDERS, keys: KEYS },
};

function algorithmsOf({ name, sorts }: CheckedOperation, level: Level): string[] {
  if (sorts === 'none') return [NONE];
  const onlySort = level === 'quick' && name !== 'sort';
  return sorts === 'auto' || onlySort ? [AUTO] : [AUTO, ...ALGORITHMS.map((algorithm) => algorithm.name)];
}

/** Returns the same seed for the same keys, whatever the other cases. */
function seedOf(seed: string, dtype: Dtype, n: number, keys: Keys): number {
  const hash = createHash('sha256').update([seed, dtype, n, keys].join(' ')).digest();
  return hash.readUIntBE(0, 6);
}

/**
 * Returns every case of the scope in a fixed order, with cases that share keys next to each other. Sizes, orders,
 * distributions and algorithms that a filter names are included at every level; a filter may name any size.
 */
export function matrixCases({ filters, ...scope }: MatrixScope): MatrixCase[] {
  const all = (filters.length > 0 ? filters : [{}]).flatMap((filter) => casesOf(scope, filter));
  return [...new Map(all.map((one) => [caseName(one), one])).values()];
}

const caseName = ({ operation, algorithm, dtype, n, order, keys }: MatrixCase): string =>
  [operation, algorithm, dtype, n, order, keys].join(' ');

function casesOf({ level, seed, maxKeys }: Omit<MatrixScope, 'filters'>, filter: Filter): MatrixCase[] {
  const axes = AXES[level];
  const sizes = [...new Set((filter.n?.map(Number) ?? axes.sizes).map((n) => Math.min(n, maxKeys)))];
  const orders = ORDERS.filter((order) => (filter.order ?? axes.orders).includes(order));
  const kinds = KEYS.filter((keys) => (filter.keys ?? axes.keys).includes(keys));
  const sorts = CHECKED_OPERATIONS.flatMap((operation) =>
    algorithmsOf(operation, filter.algorithm ? 'full' : level).map((algorithm) => ({ operation, algorithm })),
  );
  const sorted = (dtype: Dtype, n: number, keys: Keys): MatrixCase[] =>
    sorts.flatMap(({ operation, algorithm }) =>
      n < (operation.minKeys ?? 0)
        ? []
        : ordersOf(operation, dtype, orders).map((order) => {
            const cell = { operation: operation.name, algorithm, dtype };
            return { ...cell, n, order, keys, seed: seedOf(seed, dtype, n, keys) };
          }),
    );
  return DTYPES.flatMap((dtype) =>
    sizes.flatMap((n) => kinds.flatMap((keys) => sorted(dtype, n, keys))),
  ).filter((one) => matches(filter, one));
}

/**
 * Returns the orders in which an operation sorts keys of a dtype. An operation that does not sort gets the first one.
 */
function ordersOf({ sorts }: CheckedOperation, dtype: Dtype, orders: readonly Order[]): readonly Order[] {
  if (sorts === 'none') return orders.slice(0, 1);
  return dtypeInfo(dtype).kind === 'float' ? orders : orders.filter((order) => !order.endsWith('nan-first'));
}
