/** Measures core speed under full load: hardware threads share a core, and all cores share caches and memory. */
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { packageFolder } from '../../util/package.js';

/** Path of the thread's program from the package folder; a bundler may have moved this code into another file. */
const PROGRAM = ['dist', 'src', 'engines', 'forecast', 'core-load.js'];

/** Number of repetitions; the minimum counts. */
const TRIES = 3;

/** Returns the speed of a core while all work, relative to its speed alone; above 0 and at most 1. */
export async function measureFull(): Promise<number> {
  const threads = Array.from(
    { length: availableParallelism() },
    () => new Worker(join(packageFolder(), ...PROGRAM)),
  );
  const timed = async (some: readonly Worker[]): Promise<number> => {
    let minMilliseconds = Number.POSITIVE_INFINITY;
    for (let i = 0; i < TRIES; i++) {
      const all = await Promise.all(
        some.map(async (thread) => {
          const answer = once(thread, 'message');
          thread.postMessage(undefined);
          const [milliseconds] = (await answer) as [number];
          return milliseconds;
        }),
      );
      minMilliseconds = Math.min(minMilliseconds, all.reduce((sum, one) => sum + one, 0) / all.length);
    }
    return minMilliseconds;
  };
  try {
    const alone = await timed(threads.slice(0, 1));
    return Math.min(1, alone / (await timed(threads)));
  } finally {
    await Promise.all(threads.map((thread) => thread.terminate()));
  }
}
