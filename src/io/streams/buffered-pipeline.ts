/** A pipeline that passes pieces through a fixed set of buffers. */
export interface BufferedPipeline<R> {
  /** Total number of pieces. */
  readonly count: number;
  /** At least two buffers. */
  readonly buffers: readonly R[];
  /** Number of pieces produced concurrently; less than the number of buffers. */
  readonly concurrency: number;
  readonly produce: (piece: number, buffer: R) => Promise<void>;
  /** Consumes a piece from its buffer; called for one piece at a time, in order. */
  readonly consume: (piece: number, buffer: R) => Promise<void>;
}

/**
 * Produces pieces while earlier ones are consumed. With `concurrency` 1, pieces are produced in order, one at a time.
 *
 * @throws errors of `produce` and `consume`, after all running `produce` calls have settled
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
    one.catch(() => undefined); // awaited below, in order
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
