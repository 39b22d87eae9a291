/** What the cases of a matrix differ in, beside operation and dtype. */
import { ALGORITHMS } from '../algorithms/registry.js';

export const ORDERS = ['ascending', 'descending', 'nan-first', 'descending-nan-first'] as const;
export type Order = (typeof ORDERS)[number];

/** What keys look like. */
export const KEYS = ['uniform', 'few', 'sorted', 'constant'] as const;
export type Keys = (typeof KEYS)[number];

/** How much is tried. */
const LEVELS = ['quick', 'default', 'full'] as const;
export type Level = (typeof LEVELS)[number];

/** Stand for the planner's choice of an algorithm, and for none. */
export const AUTO = 'auto';
export const NONE = 'none';

export const algorithmNames = (): string[] => [AUTO, ...ALGORITHMS.map(({ name }) => name), NONE];
