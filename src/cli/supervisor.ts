import { rmSync } from 'node:fs';
import { constants } from 'node:os';
import { Worker } from 'node:worker_threads';
import { provideDriverCache } from '../util/driver-cache.js';
import { endWithParent } from '../util/end-with-parent.js';
import { ThreadNeeded } from './console.js';
import { isSmallSort } from './small-sort.js';
import type { Interruption, Supervision, TemporaryFileMessage } from './supervision.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** How long an interrupted command may take to leave by itself: a device may be busy. */
const GRACE_MS = 500;

/** Signals so close are one: a terminal and a program that passes signals on may both deliver it. */
const ECHO_MS = 50;

/** Exit code for a defect of ours; see exit-code.ts, which is not for this thread to load. */
const DEFECT = 4;

/** The option by which commands start themselves anew, for what a driver may end or hold up. */
const CHILD = '--child';

/**
 * Runs the command on a thread of its own and leaves this one free to hear signals: a driver, a disk or a
 * pipe that blocks can hold up that thread, and even the end of the process, for ever. Small sorts, which open nothing
 * that blocks, are done here, since such a thread takes as long to start as they take.
 *
 * After a signal the command has a moment to end by itself, with 128 and the signal's number. Then, or with a second
 * signal, what it wrote aside is removed and the signal does what it does by default, which nothing holds up;
 * a shell sees the same code.
 */
export function supervise(main: URL, argv: readonly string[]): void {
  if (process.connected && argv.includes(CHILD)) {
    endWithParent();
    process.channel?.unref(); // waiting for that is no reason to stay
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
    provideDriverCache(); // what the other thread sets, drivers do not see
    const worker = new Worker(main, { argv: [...argv] });
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
    process.stderr.write(`clsort: internal error: ${(error as Error)?.stack ?? String(error)}\n`);
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
        // It has been put in its place, or dropped.
      }
    }
  }

  function terminate(signal: NodeJS.Signals): void {
    removeTemporaryFiles();
    for (const each of SIGNALS) process.removeAllListeners(each); // back to what it does by default
    process.kill(process.pid, signal);
  }
}
