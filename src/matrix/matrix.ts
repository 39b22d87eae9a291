import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { DeviceInfo } from '../device/platform.js';
import { type MatrixCase, type MatrixScope, matrixCases } from './case.js';
import type { MatrixRow, Outcome } from './row.js';

/** What a child says when a case is done, one JSON object a line. */
export interface ChildMessage {
  readonly row: MatrixRow;
}

export interface MatrixOptions extends MatrixScope {
  /** Seconds that one case may take. */
  readonly caseTimeout: number;
  /** Starts the process that runs the cases of `device` from number `from` on and prints ChildMessages. */
  readonly launch: (device: DeviceInfo, from: number) => ChildProcess;
}

/** A child process of this very program with other arguments. */
export const launchSelf = (args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });

/**
 * Every case on one device, as rows that arrive when they are done.
 *
 * The cases run in a child process, since a driver may crash or hang: the case that was running then gets
 * the row, and a new child goes on with the next one.
 */
export async function* deviceMatrix(device: DeviceInfo, options: MatrixOptions): AsyncGenerator<MatrixRow> {
  const cases = matrixCases(options);
  let next = 0;
  while (next < cases.length) {
    const child = options.launch(device, next);
    let timedOut = false;
    let timer: NodeJS.Timeout | undefined;
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('close', (code, signal) => resolve(signal ? `killed by ${signal}` : `exit code ${code}`));
    });
    const watch = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        timedOut = true;
        child.kill('SIGKILL');
      }, options.caseTimeout * 1000);
    };
    watch(); // also for a driver that hangs before its first case
    const before = next;
    if (child.stdout) {
      for await (const line of createInterface({ input: child.stdout })) {
        const message = JSON.parse(line) as ChildMessage;
        watch();
        yield message.row;
        next++;
      }
    }
    const end = await ended;
    clearTimeout(timer);
    const running = cases[next];
    if (!running) return;
    if (timedOut) yield lostRow(device, running, 'timeout', `no result after ${options.caseTimeout} s`);
    else yield lostRow(device, running, 'crash', `the process ended: ${end}`);
    next = Math.max(next, before) + 1;
  }
}

function lostRow(device: DeviceInfo, one: MatrixCase, outcome: Outcome, reason: string): MatrixRow {
  const { platform, name, driver } = device;
  return { schema: 'clsort.matrix/1', platform, device: name, driver, ...one, outcome, reason, seconds: 0 };
}
