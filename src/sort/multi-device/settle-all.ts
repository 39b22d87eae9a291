/**
 * Waits until all promises have settled, and returns all results.
 *
 * @throws the error of the first one, in order, that was rejected
 */
export async function settleAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(promises);
  for (const one of settled) if (one.status === 'rejected') throw one.reason;
  return settled.map((one) => (one as PromiseFulfilledResult<T>).value);
}
