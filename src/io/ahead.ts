/** What a generator gives, each asked for while the one before is used. */
export async function* ahead<T>(pieces: AsyncGenerator<T>): AsyncGenerator<T> {
  const ask = (): Promise<IteratorResult<T>> => {
    const asked = pieces.next();
    asked.catch(() => undefined); // it is awaited when it is its turn, if somebody still asks
    return asked;
  };
  try {
    for (let next = ask(); ; ) {
      const { value, done } = await next;
      if (done) return;
      next = ask();
      yield value;
    }
  } finally {
    await pieces.return(undefined);
  }
}
