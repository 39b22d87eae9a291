import type { MatrixCase } from './matrix-case.js';

/**
 * Outcome of a case: `ok`; `skipped` when device, algorithm or operation does not support it; `wrong` for a wrong
 * result; `error` for a typed failure; `crash` of the driver's process; `timeout`.
 */
export const OUTCOMES = ['ok', 'skipped', 'wrong', 'error', 'crash', 'timeout'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Failures, the worst first. A correct driver and library have none. */
const BAD: readonly Outcome[] = ['crash', 'timeout', 'wrong', 'error'];

export const isBad = ({ outcome }: { readonly outcome: Outcome }): boolean => BAD.includes(outcome);

/** Returns the outcome of several cases: the worst failure if any, else `ok` if any case is ok, else `skipped`. */
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
  /** Reason, for every outcome other than `ok`. */
  readonly reason?: string;
  /** The planner's plan, or what was executed. */
  readonly plan?: string;
  /** Wall-clock seconds of the call, compilation included. */
  readonly seconds: number;
  /** Wall-clock seconds of the shortest repetition, if the call was repeated. */
  readonly again?: number;
}
