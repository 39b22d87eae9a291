import { parentPort } from 'node:worker_threads';
import { ClosedPipeError, outputError } from '../io/streams/output.js';
import { flushed, readableOf, writableOf } from '../io/streams/streams.js';
import { runCli } from './cli.js';
import { type Console, say } from './console.js';
import { EXIT, exitCodeOf } from './exit-code.js';
import type { Interruption, Supervision, TemporaryFileMessage } from './supervision.js';

/** Supervision by the main thread; without effect when this is the main thread. */
const MAIN_THREAD: Supervision = {
  onInterruption(listener) {
    parentPort?.on('message', listener);
    parentPort?.unref(); // listening must not keep the thread alive
  },
  notify: (message) => parentPort?.postMessage(message),
};

/**
 * Runs one command line on this thread, and ends the thread with the command's exit code.
 *
 * @param supervision given when this thread also handles signals and must not block
 * @throws ThreadNeeded when the command would block this thread; nothing has been done then
 */
export async function work(argv: readonly string[], supervision?: Supervision): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  const { onInterruption, notify } = supervision ?? MAIN_THREAD;
  onInterruption((interruption: Interruption) => controller.abort(interruption));
  const change = (how: TemporaryFileMessage['change']) => (path: string) => notify({ path, change: how });
  const console: Console = {
    // Node's streams of a worker go through the main thread and fail there, so this thread opens its own.
    stdin: readableOf(0),
    stdout: writableOf(1),
    stderr: writableOf(2),
    signal,
    temporaryFiles: { add: change('add'), delete: change('delete') },
    mayBlock: supervision === undefined,
  };
  // When stdout fails, the rest of the work is pointless: the command ends as after an interruption.
  console.stdout.on('error', (cause) => controller.abort(outputError('stdout', cause)));
  console.stderr.on('error', () => undefined);
  const ran = await runCli(argv, console);
  if (!signal.aborted) await flushed(console.stdout);
  const code = signal.aborted ? exitCodeAfterAbort(console, ran) : ran;
  if (!signal.aborted) await flushed(console.stderr);
  process.exitCode = code;
  // Interrupted work may wait for an event that never arrives.
  if (signal.aborted) process.exit();
}

/**
 * Returns the exit code of a command whose stdout failed or that was interrupted.
 *
 * @param ran the exit code that the command returned
 */
function exitCodeAfterAbort(console: Console, ran: number): number {
  const { reason } = console.signal;
  if (reason instanceof ClosedPipeError) return ran === EXIT.interrupted ? EXIT.closedPipe : ran;
  const code = exitCodeOf(reason);
  if (code === undefined) return ran; // interrupted by the user: the main thread knows the signal
  say(console, `clsort: ${(reason as Error).message}`);
  return code;
}
