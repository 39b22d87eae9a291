/** The process as the command sees it: standard streams, signals, temporary files and exit status. */
import { rmSync } from 'node:fs';
import { constants } from 'node:os';
import { ClosedPipeError, outputError } from '../io/streams/output.js';
import { flushed, readableOf, writableOf } from '../io/streams/streams.js';
import { onAddonLoad, type ProcessFunctions } from '../util/addon-load.js';
import { permissionMessage } from '../util/permission.js';
import { type Console, say } from './console.js';
import { EXIT, type ExitCode, exitCodeOf } from './exit-code.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Time for an interrupted command to end: a device may be busy. */
const GRACE_MS = 500;

/** Further time until the addon ends a process whose main thread is blocked. */
const BLOCKED_MS = 200;

/** Signals within this time count as one: a terminal and a program that forwards signals may both deliver it. */
const ECHO_MS = 50;

/** The temporary files of this process, which the addon also knows once it is loaded. */
class TemporaryPaths {
  readonly #paths = new Set<string>();
  #addon: ProcessFunctions | undefined;

  add(path: string): void {
    this.#paths.add(path);
    this.#addon?.guardFile(path, true);
  }

  delete(path: string): void {
    this.#paths.delete(path);
    this.#addon?.guardFile(path, false);
  }

  /** Lets the addon remove the files after a signal if this thread is blocked. */
  guardWith(addon: ProcessFunctions): void {
    this.#addon = addon;
    for (const path of this.#paths) addon.guardFile(path, true);
  }

  removeAll(): void {
    for (const path of this.#paths) rmSync(path, { recursive: true, force: true });
  }
}

/**
 * Opens the standard streams and handles signals.
 *
 * A signal aborts the command, which has `GRACE_MS` to end. Then, or after a second signal, temporary files are removed
 * and the signal is raised again with its default action, so that the exit status is that of a process that the signal
 * killed. While native code blocks this thread, the addon does the same.
 *
 * @returns the console for a command, and a function that ends the process with the command's exit code
 */
export function openProcess(): {
  readonly console: Console;
  readonly end: (code: ExitCode) => Promise<void>;
} {
  const controller = new AbortController();
  const temporaryFiles = new TemporaryPaths();
  let received: { readonly name: (typeof SIGNALS)[number]; readonly at: number } | undefined;

  /** Removes temporary files and, after a signal, raises it with its default action. */
  const terminate = (): void => {
    temporaryFiles.removeAll();
    if (!received) return;
    for (const name of SIGNALS) process.removeAllListeners(name);
    process.kill(process.pid, received.name);
    process.exit(128 + constants.signals[received.name]); // process 1 of a container ignores default actions
  };
  for (const name of SIGNALS) {
    process.on(name, () => {
      if (!received) {
        received = { name, at: performance.now() };
        controller.abort(received);
        setTimeout(terminate, GRACE_MS).unref();
      } else if (performance.now() - received.at > ECHO_MS) {
        terminate();
      }
    });
  }
  process.on('exit', terminate);
  process.on('uncaughtException', (error) => {
    const text = permissionMessage(error) ?? `internal error: ${error?.stack ?? String(error)}`;
    process.stderr.write(`clsort: ${text}\n`);
    process.exit(EXIT.device);
  });
  onAddonLoad((addon) => {
    addon.guardProcess(GRACE_MS + BLOCKED_MS, received ? constants.signals[received.name] : 0);
    temporaryFiles.guardWith(addon);
  });
  const { signal } = controller;
  const console: Console = {
    stdin: readableOf(0),
    stdout: writableOf(1),
    stderr: writableOf(2),
    signal,
    temporaryFiles,
  };
  // When stdout fails, the rest of the work is pointless: the command ends as after a signal.
  console.stdout.on('error', (cause) => controller.abort(outputError('stdout', cause)));
  console.stderr.on('error', () => undefined);
  return {
    console,
    async end(code) {
      if (!signal.aborted) await flushed(console.stdout);
      if (!signal.aborted) await flushed(console.stderr);
      if (!signal.aborted) process.exitCode = code;
      else process.exit(codeOfAborted(console, code)); // the work may wait for an event that never arrives
    },
  };
}

/**
 * Returns the exit code of a command that was aborted; it does not matter after a signal.
 *
 * @param ran the exit code that the command returned
 */
function codeOfAborted(console: Console, ran: ExitCode): ExitCode {
  const { reason } = console.signal;
  if (reason instanceof ClosedPipeError) return ran === EXIT.interrupted ? EXIT.closedPipe : ran;
  const code = exitCodeOf(reason);
  if (code === undefined) return ran;
  say(console, `clsort: ${(reason as Error).message}`);
  return code;
}
