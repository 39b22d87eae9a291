import { parentPort } from 'node:worker_threads';
import { ClosedPipeError, outputError } from '../io/output.js';
import { flushed, readableOf, writableOf } from '../io/streams.js';
import { runCli } from './cli.js';
import { type Console, say } from './console.js';
import { EXIT, exitCodeOf } from './exit-code.js';
import type { Interruption, Supervision, TemporaryFileMessage } from './supervision.js';

/** The main thread, to another one; what is only asked about the command has nobody. */
const MAIN_THREAD: Supervision = {
  onInterruption(listener) {
    parentPort?.on('message', listener);
    parentPort?.unref(); // hearing of signals is no reason to stay
  },
  notify: (message) => parentPort?.postMessage(message),
};

/**
 * Runs one command line on this thread, and ends the thread with the command's exit code.
 *
 * @param supervision of this thread's own, which nothing may hold up then
 * @throws ThreadNeeded where something would, before anything is done
 */
export async function work(argv: readonly string[], supervision?: Supervision): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  const { onInterruption, notify } = supervision ?? MAIN_THREAD;
  onInterruption((interruption: Interruption) => controller.abort(interruption));
  const change = (how: TemporaryFileMessage['change']) => (path: string) => notify({ path, change: how });
  const console: Console = {
    // Streams of this thread's own: those that Node gives it go through the main thread, and fail there.
    stdin: readableOf(0),
    stdout: writableOf(1),
    stderr: writableOf(2),
    signal,
    temporaryFiles: { add: change('add'), delete: change('delete') },
    mayBlock: supervision === undefined,
  };
  // What cannot be told any more is not worth doing: the command ends as by an interruption.
  console.stdout.on('error', (cause) => controller.abort(outputError('stdout', cause)));
  console.stderr.on('error', () => undefined);
  const ran = await runCli(argv, console);
  if (!signal.aborted) await flushed(console.stdout);
  const code = signal.aborted ? exitCodeAfterAbort(console, ran) : ran;
  if (!signal.aborted) await flushed(console.stderr);
  process.exitCode = code;
  // What was cut off may wait for what never comes.
  if (signal.aborted) process.exit();
}

/** The exit code of a command whose stdout failed, or that was interrupted, and ended with `ran`. */
function exitCodeAfterAbort(console: Console, ran: number): number {
  const { reason } = console.signal;
  if (reason instanceof ClosedPipeError) return ran === EXIT.interrupted ? EXIT.closedPipe : ran;
  const code = exitCodeOf(reason);
  if (code === undefined) return ran; // by the user: the main thread knows the signal
  say(console, `clsort: ${(reason as Error).message}`);
  return code;
}
