/** How pieces go through few rooms. */
export interface BufferedPipeline<R> {
  /** Pieces in all. */
  readonly count: number;
  /** At least two. */
  readonly buffers: readonly R[];
  /** How many pieces are made at a time; fewer than there are rooms. */
  readonly concurrency: number;
  /** Makes a piece in a room. */
  readonly produce: (piece: number, buffer: R) => Promise<void>;
  /** Takes it from there: one piece after the other, in order. */
  readonly consume: (piece: number, buffer: R) => Promise<void>;
}

/**
 * Makes pieces while those before them are taken. With `ahead` 1 they are made in order, each when the one before is there.
 *
 * @throws what `make` and `take` throw; nobody uses a room any more then
 */
export async function runBufferedPipeline<R>({
  count,
  buffers,
  concurrency,
  produce,
  consume,
}: BufferedPipeline<R>): Promise<void> {
  const produced: Promise<void>[] = [];
  const begin = (): void => {
    const piece = produced.length;
    if (piece >= count) return;
    const one = produce(piece, buffers[piece % buffers.length] as R);
    one.catch(() => undefined); // it is awaited when it is its turn
    produced.push(one);
  };
  try {
    for (let i = 0; i < concurrency; i++) begin();
    for (let piece = 0; piece < count; piece++) {
      await produced[piece];
      begin();
      await consume(piece, buffers[piece % buffers.length] as R);
    }
  } finally {
    await Promise.allSettled(produced);
  }
}
