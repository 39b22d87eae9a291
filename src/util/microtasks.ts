/** Resolves after the current microtasks: behind everything that is settled by now, and the code that waits for it. */
export const drainMicrotasks = (): Promise<void> =>
  Promise.resolve().then(() => new Promise((resolve) => process.nextTick(resolve)));
