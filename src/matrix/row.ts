import type { MatrixCase } from './case.js';

/**
 * What came of a case: `ok`; `wrong` result; `unsupported` by design; `error`, a typed failure; `crash`
 * of the driver's process; `timeout`.
 */
export type Outcome = 'ok' | 'wrong' | 'unsupported' | 'error' | 'crash' | 'timeout';

/** Outcomes that a sound driver and library do not have. */
const BAD: ReadonlySet<Outcome> = new Set(['wrong', 'error', 'crash', 'timeout']);

/** One line of the matrix. */
export interface MatrixRow extends MatrixCase {
  readonly schema: 'clsort.matrix/1';
  readonly platform: string;
  readonly device: string;
  readonly driver: string;
  readonly outcome: Outcome;
  /** Why, for anything but `ok`. */
  readonly reason?: string;
  /** Wall-clock seconds of the case, compilation included. */
  readonly seconds: number;
}

export const isBad = ({ outcome }: Pick<MatrixRow, 'outcome'>): boolean => BAD.has(outcome);
