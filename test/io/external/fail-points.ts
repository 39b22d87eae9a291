/** Ends what is done with files at any step, as a kill would: from there on, nothing more happens to them. */
import { createRequire, syncBuiltinESMExports } from 'node:module';

const promises = createRequire(import.meta.url)('node:fs/promises') as Record<
  string,
  (...args: never[]) => unknown
>;

/** What changes files by their names. */
const STEPS = ['rename', 'rm', 'writeFile', 'open', 'mkdir'] as const;

export class Killed extends Error {}

/** Runs `work` and lets `most` steps happen. @returns whether that was all of it */
export async function killedAfter(most: number, work: () => Promise<unknown>): Promise<boolean> {
  const originals = STEPS.map((name) => [name, promises[name]] as const);
  let steps = 0;
  for (const [name, original] of originals) {
    promises[name] = (...args: never[]) => {
      // A step that is begun by one who has been killed does nothing, whoever waits for it.
      if (steps++ >= most) return Promise.reject(new Killed(`step ${steps}: ${name}`));
      return original?.(...args);
    };
  }
  syncBuiltinESMExports();
  try {
    await work();
    return true;
  } catch (error) {
    if (steps > most) return false;
    throw error;
  } finally {
    for (const [name, original] of originals) promises[name] = original as () => unknown;
    syncBuiltinESMExports();
  }
}
