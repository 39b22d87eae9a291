import { type Output, openOutput } from '../io/output.js';
import { AbortedError } from '../util/errors.js';
import type { Console } from './console.js';

/** Rejects when the user has interrupted. */
export function assertGoing({ signal }: Console): void {
  if (signal.aborted) throw new AbortedError('interrupted');
}

/**
 * Runs `write` with an output that is put in its place when that succeeds and dropped when it fails or
 * the user interrupts.
 */
export async function withOutput(
  path: string,
  console: Console,
  write: (output: Output) => Promise<void>,
): Promise<void> {
  const output = await openOutput(path, console.stdout);
  const drop = () => output.discard();
  console.signal.addEventListener('abort', drop);
  try {
    await write(output);
    assertGoing(console);
    await output.commit();
  } catch (error) {
    output.discard();
    assertGoing(console); // a write to a file that the interruption has closed is no failure of its own
    throw error;
  } finally {
    console.signal.removeEventListener('abort', drop);
  }
}
