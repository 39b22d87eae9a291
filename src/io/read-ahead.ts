/** What a generator gives, each asked for while the one before is used. */
export async function* readAhead<T>(pieces: AsyncGenerator<T>): AsyncGenerator<T> {
  const requestNext = (): Promise<IteratorResult<T>> => {
    const pending = pieces.next();
    pending.catch(() => undefined); // it is awaited when it is its turn, if somebody still asks
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
