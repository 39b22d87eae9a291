/** Resolves when nothing else is to be done at once: behind all that is settled by now, and the code that waits for it. */
export const drainMicrotasks = (): Promise<void> =>
  Promise.resolve().then(() => new Promise((resolve) => process.nextTick(resolve)));
