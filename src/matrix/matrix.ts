import { type ChildProcess, spawn } from 'node:child_process';
import type { DeviceInfo } from '../device/platform.js';
import { type MatrixScope, matrixCases } from './case.js';
import { rowsOfChildren } from './children.js';
import type { MatrixRow } from './row.js';

export interface MatrixOptions extends MatrixScope {
  /** Seconds that one case may take. */
  readonly caseTimeout: number;
  /** Ends it early. */
  readonly signal?: AbortSignal;
  /** Starts the process that runs the cases of `device` from number `from` on and prints ChildMessages. */
  readonly launch: (device: DeviceInfo, from: number) => ChildProcess;
}

/** A child process of this very program with other arguments. */
export const launchSelf = (args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });

/** Every case on one device, as rows that arrive when they are done. */
export function deviceMatrix(device: DeviceInfo, options: MatrixOptions): AsyncGenerator<MatrixRow> {
  const { platform, name, driver } = device;
  return rowsOfChildren(matrixCases(options), {
    caseTimeout: options.caseTimeout,
    signal: options.signal,
    launch: (from) => options.launch(device, from),
    lost: (one, outcome, reason): MatrixRow => ({
      schema: 'clsort.matrix/1',
      platform,
      device: name,
      driver,
      ...one,
      outcome,
      reason,
      seconds: 0,
    }),
  });
}
