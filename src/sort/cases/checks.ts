/** Comparisons of results with expected results. */
import { bytesOf } from './input.js';
import type { Reference, ReferenceOrder } from './reference.js';

export const hasSameBytes = (array: ArrayBufferView, expected: Uint8Array): boolean =>
  Buffer.compare(bytesOf(array), expected) === 0;

/** Describes how many elements of two arrays differ, and where the first difference is. */
export function wrong(array: ArrayBufferView, expected: Uint8Array): string {
  const got = bytesOf(array);
  if (got.length !== expected.length) return `expected ${expected.length} bytes but got ${got.length}`;
  const { BYTES_PER_ELEMENT: width = 1 } = array as { BYTES_PER_ELEMENT?: number };
  const isWrong = (i: number): boolean =>
    got.subarray(i * width, (i + 1) * width).some((byte, b) => byte !== expected[i * width + b]);
  const places = Array.from({ length: got.length / width }, (_, i) => i).filter(isWrong);
  return `${places.length} of ${got.length / width} elements are wrong, the first at ${places[0]}`;
}

/**
 * Returns whether `places` are the positions of the keys in order; with `isStable`, equal keys must keep their order.
 */
export function isOrderOf(
  places: Uint32Array,
  reference: Reference,
  order: ReferenceOrder & { readonly isStable: boolean },
): boolean {
  const expected = reference.order(order);
  if (order.isStable) return hasSameBytes(places, bytesOf(expected));
  if (places.length !== reference.n || new Set(places).size !== reference.n) return false;
  if (places.some((place) => place >= reference.n)) return false;
  return Buffer.compare(reference.pick(places), reference.pick(expected)) === 0;
}
