/** Yields the items of a generator, requesting each next one while the current one is used. */
export async function* readAhead<T>(pieces: AsyncGenerator<T>): AsyncGenerator<T> {
  const requestNext = (): Promise<IteratorResult<T>> => {
    const pending = pieces.next();
    pending.catch(() => undefined); // awaited below, unless the consumer stops
    return pending;
  };
  try {
    for (let next = requestNext(); ; ) {
      const { value, done } = await next;
      if (done) return;
      next = requestNext();
      yield value;
    }
  } finally {
    await pieces.return(undefined);
  }
}
