import { type ChildProcess, spawn } from 'node:child_process';
import { type ChildOptions, type LostCase, rowsOfChildren } from './children.js';
import type { MatrixCase } from './matrix-case.js';
import type { MatrixRow } from './row.js';
import { type RowDevice, rowOf } from './run-case.js';

export type MatrixOptions = Omit<ChildOptions<MatrixCase, MatrixRow>, 'lost'>;

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
