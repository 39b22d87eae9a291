/** Maximum bytes that are copied and compared one by one, which is faster for short ranges. */
export const MAX_SHORT = 64;

/** Copies a range of bytes to `to` at `at`, and returns its end there. */
export function copyBytes(from: Uint8Array, begin: number, end: number, to: Uint8Array, at: number): number {
  if (end - begin > MAX_SHORT) {
    to.set(from.subarray(begin, end), at);
    return at + end - begin;
  }
  for (let k = begin; k < end; k++) to[at++] = from[k] as number;
  return at;
}
