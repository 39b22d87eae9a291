/**
 * Returns a signal that fires as soon as an operation listens to it. The addon has started the operation then, and cannot
 * report its end before. Operations of the JavaScript engine do not listen.
 */
export function abortOnStart(controller = new AbortController(), reason?: string): AbortSignal {
  const { signal } = controller;
  const listen = signal.addEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof listen>) => {
    listen(...args);
    queueMicrotask(() => controller.abort(reason));
  };
  return signal;
}
