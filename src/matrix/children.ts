import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { isObject, parseJson } from '../util/json.js';

/**
 * A message of a child process, one JSON object per line: the plan of the next case, if known, or the result of a case.
 */
export type ChildMessage<R> = { readonly row: R } | { readonly begins: string };

/** A case during which the child process died or was killed. */
export interface LostCase {
  readonly outcome: 'crash' | 'timeout';
  readonly reason: string;
  /** The plan that the child announced. */
  readonly begins?: string;
  readonly seconds: number;
}

export interface ChildOptions<C, R> {
  /** Time limit of one case, in seconds. */
  readonly caseTimeout: number;
  /** Ends the running child and the rows. */
  readonly signal?: AbortSignal | undefined;
  /** Starts the process that runs the cases from number `from` on and prints ChildMessages. */
  readonly launch: (from: number) => ChildProcess;
  /** Returns the row of a case whose process ended early. */
  readonly lost: (one: C, lost: LostCase) => R;
}

/** Bytes kept of a process's stderr, and lines of it quoted after a crash. */
const MAX_STDERR_BYTES = 4096;
const MAX_STDERR_LINES = 3;

/**
 * Yields a row per case as it finishes. Child processes run the cases, since a driver may crash or hang; the running
 * case then gets a `lost` row, and a new child continues with the next case.
 */
export async function* rowsOfChildren<C, R>(
  cases: readonly C[],
  { caseTimeout, signal, launch, lost }: ChildOptions<C, R>,
): AsyncGenerator<R> {
  let next = 0;
  while (next < cases.length && !signal?.aborted) {
    const child = launch(next);
    const kill = (): void => void child.kill('SIGKILL'); // it may hang in a driver
    signal?.addEventListener('abort', kill);
    let timedOut = false;
    let timer: NodeJS.Timeout | undefined;
    let since = performance.now();
    let begins: string | undefined;
    let stderr = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString()).slice(-MAX_STDERR_BYTES);
    });
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('close', (code, signal) => resolve(signal ? `killed by ${signal}` : `exit code ${code}`));
    });
    const watch = () => {
      clearTimeout(timer);
      since = performance.now();
      timer = setTimeout(() => {
        timedOut = true;
        kill();
      }, caseTimeout * 1000);
    };
    let drained = false;
    watch(); // also for a driver that hangs before its first case
    try {
      if (child.stdout) {
        for await (const line of createInterface({ input: child.stdout })) {
          const message = parseMessage<R>(line);
          if (!message) continue;
          if ('begins' in message) {
            begins = message.begins;
            continue;
          }
          watch();
          begins = undefined;
          yield message.row;
          next++;
        }
      }
      drained = true;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', kill);
      if (!drained) kill(); // the consumer stopped early
    }
    const end = await ended;
    if (signal?.aborted) return;
    const running = cases[next];
    if (running === undefined) return;
    const lastLines = stderr.trim().split('\n').slice(-MAX_STDERR_LINES).join('\n');
    const reason = timedOut ? `no result after ${caseTimeout} s` : `the process has ended: ${end}`;
    yield lost(running, {
      outcome: timedOut ? 'timeout' : 'crash',
      reason: lastLines === '' ? reason : `${reason}: ${lastLines}`,
      ...(begins !== undefined && { begins }),
      seconds: Math.round(performance.now() - since) / 1000,
    });
    next++;
  }
}

/** Parses a line of stdout; undefined for lines that drivers print. */
function parseMessage<R>(line: string): ChildMessage<R> | undefined {
  const message = parseJson(line);
  return isObject(message) && ('row' in message || 'begins' in message)
    ? (message as unknown as ChildMessage<R>)
    : undefined;
}
