import type { ArrayStore } from '../calls/array-store.js';
import type { Calls } from '../calls/calls.js';
import type { SpreadArrays } from '../spread/spread-arrays.js';
import type { Team } from '../spread/team.js';

/** What the operations of a Sorter are made with. */
export interface MadeWith {
  readonly calls: Calls;
  readonly arrays: ArrayStore;
  /** Several devices that share what is large and on the host. */
  readonly team: Team | undefined;
  /** Operations on spread arrays, made when the first one is. */
  readonly spread: () => SpreadArrays;
}
