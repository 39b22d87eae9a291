import { type ChildProcess, spawn } from 'node:child_process';
import { type LostCase, rowsOfChildren } from './children.js';
import type { MatrixCase } from './matrix-case.js';
import type { MatrixRow } from './row.js';
import { type RowDevice, rowOf } from './run-case.js';

export interface MatrixOptions {
  /** Time limit of one case, in seconds. */
  readonly caseTimeout: number;
  /** Ends the run early. */
  readonly signal?: AbortSignal;
  /** Starts the process that runs the cases from number `from` on and prints ChildMessages. */
  readonly launch: (from: number) => ChildProcess;
}

/** Spawns this program with other arguments; the child ends when this process does. */
export const launchSelf = (args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });

/** Yields the rows of every case on one device as they finish. */
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
