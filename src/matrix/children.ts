import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

/** What a child says when a case is done, one JSON object a line. */
export interface ChildMessage<R> {
  readonly row: R;
}

export interface ChildOptions<C, R> {
  /** Seconds that one case may take. */
  readonly caseTimeout: number;
  /** Ends the child that runs, and the rows. */
  readonly signal?: AbortSignal | undefined;
  /** Starts the process that runs the cases from number `from` on and prints ChildMessages. */
  readonly launch: (from: number) => ChildProcess;
  /** The row of a case that took its process along. */
  readonly lost: (one: C, outcome: 'crash' | 'timeout', reason: string) => R;
}

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
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('close', (code, signal) => resolve(signal ? `killed by ${signal}` : `exit code ${code}`));
    });
    const watch = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        timedOut = true;
        kill();
      }, caseTimeout * 1000);
    };
    watch(); // also for a driver that hangs before its first case
    if (child.stdout) {
      for await (const line of createInterface({ input: child.stdout })) {
        const message = JSON.parse(line) as ChildMessage<R>;
        watch();
        yield message.row;
        next++;
      }
    }
    const end = await ended;
    clearTimeout(timer);
    signal?.removeEventListener('abort', kill);
    if (signal?.aborted) return;
    const running = cases[next];
    if (running === undefined) return;
    if (timedOut) yield lost(running, 'timeout', `no result after ${caseTimeout} s`);
    else yield lost(running, 'crash', `the process ended: ${end}`);
    next++;
  }
}
