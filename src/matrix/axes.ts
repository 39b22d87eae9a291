/** Orders, one of the axes along which the cases of a matrix vary. */
import { ALGORITHMS } from '../algorithms/registry.js';

export const ORDERS = ['ascending', 'descending', 'nan-first', 'descending-nan-first'] as const;
export type Order = (typeof ORDERS)[number];

/** Distributions of the keys. */
export const KEYS = ['uniform', 'few', 'sorted', 'constant'] as const;
export type Keys = (typeof KEYS)[number];

/** Scopes of a matrix run. */
const LEVELS = ['quick', 'default', 'full'] as const;
export type Level = (typeof LEVELS)[number];

/** `auto` stands for the planner's choice of an algorithm, `none` for operations that do not sort. */
export const AUTO = 'auto';
export const NONE = 'none';

export const algorithmNames = (): string[] => [AUTO, ...ALGORITHMS.map(({ name }) => name), NONE];
