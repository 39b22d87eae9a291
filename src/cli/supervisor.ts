import { rmSync } from 'node:fs';
import { constants } from 'node:os';
import { Worker } from 'node:worker_threads';
import { provideDriverCache } from '../util/driver-cache.js';
import { endWithParent } from '../util/end-with-parent.js';
import { ThreadNeeded } from './console.js';
import type { AsideMessage, Interruption, Supervision } from './messages.js';
import { isSmallSort } from './small-sort.js';

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
  const asides = new Set<string>();
  let heard: { readonly signal: (typeof SIGNALS)[number]; readonly at: number } | undefined;
  let interrupt: (interruption: Interruption) => void = () => undefined;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (!heard) {
        heard = { signal, at: performance.now() };
        interrupt({ signal });
        setTimeout(cutOff, GRACE_MS, signal).unref();
      } else if (performance.now() - heard.at > ECHO_MS) {
        cutOff(heard.signal);
      }
    });
  }
  if (isSmallSort(argv)) workHere();
  else workOnThread();

  function workOnThread(): void {
    provideDriverCache(); // what the other thread sets, drivers do not see
    const worker = new Worker(main, { argv: [...argv] });
    interrupt = (interruption) => worker.postMessage(interruption);
    if (heard) interrupt(heard);
    worker.on('message', note);
    worker.on('error', defect);
    worker.on('exit', (code) => {
      removeAsides(); // a thread that ran out of memory removes nothing
      process.exitCode ??= codeOfSignal() ?? code;
    });
  }

  async function workHere(): Promise<void> {
    const here: Supervision = {
      onInterruption: (hear) => {
        interrupt = hear;
        if (heard) hear(heard);
      },
      tell: note,
    };
    process.on('exit', () => {
      removeAsides();
      process.exitCode = codeOfSignal() ?? process.exitCode;
    });
    process.on('uncaughtException', (error) => {
      defect(error);
      process.exit();
    });
    const { work } = await import('./work.js');
    try {
      await work(argv, here);
    } catch (error) {
      if (error instanceof ThreadNeeded) workOnThread();
      else defect(error);
    }
  }

  function note({ aside, change }: AsideMessage): void {
    asides[change](aside);
  }

  function defect(error: unknown): void {
    process.stderr.write(`clsort: internal error: ${(error as Error)?.stack ?? String(error)}\n`);
    process.exitCode = DEFECT;
  }

  function codeOfSignal(): number | undefined {
    return heard && 128 + constants.signals[heard.signal];
  }

  function removeAsides(): void {
    for (const aside of asides) {
      try {
        rmSync(aside, { recursive: true });
      } catch {
        // It has been put in its place, or dropped.
      }
    }
  }

  function cutOff(signal: NodeJS.Signals): void {
    removeAsides();
    for (const each of SIGNALS) process.removeAllListeners(each); // back to what it does by default
    process.kill(process.pid, signal);
  }
}
