import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

/** What a child says, one JSON object a line: what it is about to do, if it knows, and what came of a case. */
export type ChildMessage<R> = { readonly row: R } | { readonly begins: string };

/** What is known of a case that took its process along. */
export interface LostCase {
  readonly outcome: 'crash' | 'timeout';
  readonly reason: string;
  /** What the child said that it was about to do. */
  readonly begins?: string;
  readonly seconds: number;
}

export interface ChildOptions<C, R> {
  /** Seconds that one case may take. */
  readonly caseTimeout: number;
  /** Ends the child that runs, and the rows. */
  readonly signal?: AbortSignal | undefined;
  /** Starts the process that runs the cases from number `from` on and prints ChildMessages. */
  readonly launch: (from: number) => ChildProcess;
  /** The row of a case that took its process along. */
  readonly lost: (one: C, lost: LostCase) => R;
}

/** Bytes that are kept of what a process says when it crashes, and lines of it that are told. */
const MAX_STDERR_BYTES = 4096;
const MAX_STDERR_LINES = 3;

/**
 * A row for each case, as they are done, by child processes, since a driver may crash or hang: the case that
 * was running then gets its row here, and a new child goes on with the next one.
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
      if (!drained) kill(); // nobody wants more rows
    }
    const end = await ended;
    if (signal?.aborted) return;
    const running = cases[next];
    if (running === undefined) return;
    const lastLines = stderr.trim().split('\n').slice(-MAX_STDERR_LINES).join('\n');
    const reason = timedOut ? `no result after ${caseTimeout} s` : `the process ended: ${end}`;
    yield lost(running, {
      outcome: timedOut ? 'timeout' : 'crash',
      reason: lastLines === '' ? reason : `${reason}: ${lastLines}`,
      ...(begins !== undefined && { begins }),
      seconds: Math.round(performance.now() - since) / 1000,
    });
    next++;
  }
}

/** Drivers print, too: what is no message of ours is theirs. */
function parseMessage<R>(line: string): ChildMessage<R> | undefined {
  try {
    const message = JSON.parse(line) as ChildMessage<R> | null;
    return message !== null && typeof message === 'object' && ('row' in message || 'begins' in message)
      ? message
      : undefined;
  } catch {
    return undefined;
  }
}
