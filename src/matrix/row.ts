import type { MatrixCase } from './case.js';

/**
 * What came of a case: `ok`; `skipped`, what the device, the algorithm or the operation is not for; a `wrong` result;
 * `error`, a typed failure; `crash` of the driver's process; `timeout`.
 */
export const OUTCOMES = ['ok', 'skipped', 'wrong', 'error', 'crash', 'timeout'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Those that a sound driver and library do not have, the worst first. */
const BAD: readonly Outcome[] = ['crash', 'timeout', 'wrong', 'error'];

export const isBad = ({ outcome }: { readonly outcome: Outcome }): boolean => BAD.includes(outcome);

/** What is told of several cases together: the worst of them; nothing bad and anything ok is ok. */
export const worstOf = (outcomes: readonly Outcome[]): Outcome =>
  [...BAD, 'ok' as const].find((outcome) => outcomes.includes(outcome)) ?? 'skipped';

export const ROW_SCHEMA = 'clsort.matrix/2';

/** One line of the matrix. */
export interface MatrixRow extends MatrixCase {
  readonly schema: typeof ROW_SCHEMA;
  readonly platform: string;
  readonly device: string;
  readonly driver: string;
  readonly outcome: Outcome;
  /** Why, for anything but `ok`. */
  readonly reason?: string;
  /** What the planner meant to do, or what was done. */
  readonly plan?: string;
  /** Wall-clock seconds of the call, compilation included. */
  readonly seconds: number;
  /** The shorter of two further calls, where they were made. */
  readonly again?: number;
}
