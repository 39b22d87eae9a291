import { type ChildProcess, spawn } from 'node:child_process';
import type { MatrixCase } from './case.js';
import { type LostCase, rowsOfChildren } from './children.js';
import type { MatrixRow } from './row.js';
import { type RowDevice, rowOf } from './run-case.js';

export interface MatrixOptions {
  /** Seconds that one case may take. */
  readonly caseTimeout: number;
  /** Ends it early. */
  readonly signal?: AbortSignal;
  /** Starts the process that runs the cases from number `from` on and prints ChildMessages. */
  readonly launch: (from: number) => ChildProcess;
}

/** A child process of this very program with other arguments, which ends with this one. */
export const launchSelf = (args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });

/** Every case on one device, as rows that arrive when they are done. */
export function deviceMatrix(
  device: RowDevice,
  cases: readonly MatrixCase[],
  options: MatrixOptions,
): AsyncGenerator<MatrixRow> {
  return rowsOfChildren(cases, {
    ...options,
    lost: (one, { begins, ...how }: LostCase) =>
      rowOf(device, one, { ...how, ...(begins !== undefined && { plan: begins }) }),
  });
}
