// A child process that hears the signals that its parent hears.

import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** Signals that end a program. A terminal gives SIGINT to both; others reach one process alone. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs this Node with `args`, and passes on what it is sent meanwhile.
 *
 * @returns the child's exit code; of one that a signal ended, 128 and the signal's number, as shells say
 */
export function runNode(args, options) {
  const child = spawn(process.execPath, args, options);
  const passOn = (signal) => child.kill(signal);
  for (const signal of SIGNALS) process.on(signal, passOn);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  }).finally(() => {
    for (const signal of SIGNALS) process.off(signal, passOn);
  });
}
