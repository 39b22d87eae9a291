/** Stops all file operations after a given step, like a kill. */
import { createRequire, syncBuiltinESMExports } from 'node:module';

const promises = createRequire(import.meta.url)('node:fs/promises') as Record<
  string,
  (...args: never[]) => unknown
>;

/** Operations that change files by name. */
const STEPS = ['rename', 'rm', 'writeFile', 'open', 'mkdir'] as const;

export class Killed extends Error {}

/**
 * Runs `work` for at most `most` steps.
 * @returns whether `work` completed
 */
export async function killedAfter(maxSteps: number, work: () => Promise<unknown>): Promise<boolean> {
  const originals = STEPS.map((name) => [name, promises[name]] as const);
  let steps = 0;
  for (const [name, original] of originals) {
    promises[name] = (...args: never[]) => {
      // A step after the kill has no effect.
      if (steps++ >= maxSteps) return Promise.reject(new Killed(`step ${steps}: ${name}`));
      return original?.(...args);
    };
  }
  syncBuiltinESMExports();
  try {
    await work();
    return true;
  } catch (error) {
    if (steps > maxSteps) return false;
    throw error;
  } finally {
    for (const [name, original] of originals) promises[name] = original as () => unknown;
    syncBuiltinESMExports();
  }
}
