import { TimeoutError } from './errors.js';

/** Maximum duration of a Node timer in milliseconds, 24 days. A longer timer would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Returns the result of `done`, or rejects with a TimeoutError after the deadline. */
export async function withDeadline(done: Promise<void>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new TimeoutError(
            `cannot wait longer: the device did not finish within ${milliseconds} ms and is abandoned. Increase timeout`,
            { details: { timeout: milliseconds } },
          ),
        ),
      milliseconds,
    );
  });
  try {
    await Promise.race([done, deadline]);
  } finally {
    clearTimeout(timer);
    done.catch(() => undefined); // a late failure of an abandoned device has no handler
  }
}
