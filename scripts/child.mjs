// Runs a child process that receives the signals of its parent.

import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** Signals that end a program. A terminal sends SIGINT to both processes; other signals reach only one. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs this Node with `args`, and forwards signals to it.
 *
 * @returns the exit code of the child, or 128 plus the signal number when a signal ended it
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
