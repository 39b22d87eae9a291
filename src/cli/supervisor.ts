import { rmSync } from 'node:fs';
import { constants } from 'node:os';
import { Worker } from 'node:worker_threads';
import { provideDriverCache } from '../util/driver-cache.js';
import { endWithParent } from '../util/end-with-parent.js';
import { permissionMessage } from '../util/permission.js';
import { ThreadNeeded } from './console.js';
import { isSmallSort } from './small-sort.js';
import type { Interruption, Supervision, TemporaryFileMessage } from './supervision.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Time for an interrupted command to end: a device may be busy. */
const GRACE_MS = 500;

/** Signals within this time count as one: a terminal and a program that forwards signals may both deliver it. */
const ECHO_MS = 50;

/** Exit code for an internal error. This thread must not load exit-code.ts, which defines it. */
const DEFECT = 4;

/** Option of child processes that isolate driver crashes and hangs. */
const CHILD = '--child';

/**
 * Runs the command on a worker thread, so that this thread can handle signals. A driver, a disk or a pipe may block
 * that thread, and the exit of the process, indefinitely. Small sorts run on this thread: they open nothing that
 * blocks, and a thread takes as long to start as they take.
 *
 * After a signal, the command has `GRACE_MS` to end with exit code 128 plus the signal number. Then, or after a second
 * signal, temporary files are removed and the default action of the signal ends the process. A shell sees the same
 * code.
 */
export function supervise(main: URL, argv: readonly string[]): void {
  if (process.connected && argv.includes(CHILD)) {
    endWithParent();
    process.channel?.unref(); // the channel must not keep the process alive
  }
  const temporaryFiles = new Set<string>();
  let received: { readonly signal: (typeof SIGNALS)[number]; readonly at: number } | undefined;
  let interrupt: (interruption: Interruption) => void = () => undefined;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (!received) {
        received = { signal, at: performance.now() };
        interrupt({ signal });
        setTimeout(terminate, GRACE_MS, signal).unref();
      } else if (performance.now() - received.at > ECHO_MS) {
        terminate(received.signal);
      }
    });
  }
  if (isSmallSort(argv)) workOnMainThread();
  else workOnThread();

  function workOnThread(): void {
    provideDriverCache(); // drivers do not see variables that the other thread sets
    let worker: Worker;
    try {
      worker = new Worker(main, { argv: [...argv] });
    } catch (error) {
      reportDefect(error);
      return;
    }
    interrupt = (interruption) => worker.postMessage(interruption);
    if (received) interrupt(received);
    worker.on('message', trackTemporaryFile);
    worker.on('error', reportDefect);
    worker.on('exit', (code) => {
      removeTemporaryFiles(); // a thread that ran out of memory removes nothing
      process.exitCode ??= codeOfSignal() ?? code;
    });
  }

  async function workOnMainThread(): Promise<void> {
    const supervision: Supervision = {
      onInterruption: (listener) => {
        interrupt = listener;
        if (received) listener(received);
      },
      notify: trackTemporaryFile,
    };
    process.on('exit', () => {
      removeTemporaryFiles();
      process.exitCode = codeOfSignal() ?? process.exitCode;
    });
    process.on('uncaughtException', (error) => {
      reportDefect(error);
      process.exit();
    });
    const { work } = await import('./work.js');
    try {
      await work(argv, supervision);
    } catch (error) {
      if (error instanceof ThreadNeeded) workOnThread();
      else reportDefect(error);
    }
  }

  function trackTemporaryFile({ path, change }: TemporaryFileMessage): void {
    temporaryFiles[change](path);
  }

  function reportDefect(error: unknown): void {
    const text = permissionMessage(error) ?? `internal error: ${(error as Error)?.stack ?? String(error)}`;
    process.stderr.write(`clsort: ${text}\n`);
    process.exitCode = DEFECT;
  }

  function codeOfSignal(): number | undefined {
    return received && 128 + constants.signals[received.signal];
  }

  function removeTemporaryFiles(): void {
    for (const path of temporaryFiles) {
      try {
        rmSync(path, { recursive: true });
      } catch {
        // It has been renamed to its final path, or removed.
      }
    }
  }

  function terminate(signal: NodeJS.Signals): void {
    removeTemporaryFiles();
    for (const each of SIGNALS) process.removeAllListeners(each); // restores the default action
    process.kill(process.pid, signal);
  }
}
