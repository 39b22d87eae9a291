import { isDetached } from '../../keys/array.js';
import { InputError, UnsupportedError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { byteLengthOf, isOnDevice, type Place } from './column.js';
import { DeviceArray } from './device-array.js';
import { type SortJob, valueBytesOf } from './job.js';

/** Number of positions that 32 bits can represent. */
export const MAX_INDICES = 2 ** 32;

/** @throws InputError when one array is on the host and the other on the device */
export function assertSamePlace(names: string, a: unknown, b: unknown): void {
  if (a instanceof DeviceArray === b instanceof DeviceArray) return;
  throw invalidArgument(
    names,
    'two host arrays or two device arrays',
    { text: 'one of each' },
    { advice: 'Upload both or neither', type: InputError },
  );
}

/** @throws InputError when keys and values are the same array on a device */
export function assertDistinct(keys: unknown, values: unknown): void {
  if (keys !== values) return;
  throw invalidArgument('values', 'another array than keys', { text: 'the same' }, { type: InputError });
}

/** @throws InputError when an array does not have one element for each of n keys */
export function assertOnePerKey(name: string, count: number, n: number): void {
  if (count === n) return;
  const text = `${count} elements`;
  throw invalidArgument(name, `one element for each of ${n} keys`, { text }, { type: InputError });
}

/** @throws InputError when the columns differ in length */
export function assertSameLengths(counts: readonly number[]): void {
  const other = counts.find((count) => count !== counts[0]);
  if (other === undefined) return;
  const text = `columns of ${counts[0]} and ${other} elements`;
  throw invalidArgument('columns', 'columns of the same length', { text }, { type: InputError });
}

/**
 * @param advice what the caller can do
 * @throws UnsupportedError when 32 bits cannot represent all positions
 */
export function assertIndexable(n: number, advice = 'Process them in parts'): void {
  if (n >= MAX_INDICES) {
    throw new UnsupportedError(`cannot process ${n} keys: positions and counts have 32 bits. ${advice}`);
  }
}

/** Memory that a call works on, and its size in bytes when the call was made. */
export type Span = readonly [place: Place, bytes: number];

/**
 * Checks that no host memory of a call was detached or shrunk since the call was made.
 *
 * @param cause error to attach as the cause
 * @throws InputError when a buffer was transferred, detached or shrunk
 */
export function assertNotDetached(spans: readonly Span[], cause?: unknown): void {
  for (const [place, bytes] of spans) {
    if (isOnDevice(place) || !isDetachedOrShrunk(place, bytes)) continue;
    throw new InputError(
      `cannot complete the call: an array of ${bytes} bytes was transferred, detached or shrunk to ` +
        `${place.byteLength} bytes. Keep arrays until the promise settles, or pass a copy`,
      { ...(cause !== undefined && { cause }) },
    );
  }
}

/** Whether an array has fewer bytes than before. For an empty array: whether its buffer is detached. */
const isDetachedOrShrunk = (place: ArrayBufferView, bytes: number): boolean =>
  place.byteLength < bytes || (bytes === 0 && isDetached(place));

/**
 * Runs `use` on host arrays, which must stay attached until it settles.
 *
 * @returns the result of `use`
 * @throws InputError when an array was detached or shrunk, whether `use` succeeded or not
 * @throws the error of `use` otherwise
 */
export async function runWhileAttached<T>(spans: readonly Span[], use: () => Promise<T>): Promise<T> {
  try {
    assertNotDetached(spans);
    const result = await use();
    assertNotDetached(spans);
    return result;
  } catch (error) {
    throw detachErrorOr(spans, error);
  }
}

/**
 * Returns an InputError for host memory that was detached or shrunk, with `error` as its cause. Returns
 * `error` itself if all memory is intact.
 */
export function detachErrorOr(spans: readonly Span[], error: unknown): unknown {
  if (error instanceof InputError) return error;
  try {
    assertNotDetached(spans, error);
    return error;
  } catch (detachError) {
    return detachError;
  }
}

/** Returns the span of a host array at its current size. */
export const spanOf = (view: ArrayBufferView): Span => [view, view.byteLength];

/** Returns the memory that a sort reads and writes. */
export function spansOf(job: SortJob): Span[] {
  const spans: Span[] = [];
  addSpans(job, spans);
  return spans;
}

export function addSpans(job: SortJob, spans: Span[]): void {
  const { keys, sorted, values, moved, segments } = job;
  spans.push([keys.place, byteLengthOf(keys)]);
  if (sorted) spans.push([sorted, byteLengthOf(keys)]);
  if (values) spans.push([values.place, valueBytesOf(job)]);
  if (moved) spans.push([moved, valueBytesOf(job)]);
  if (segments && !segments.isRows) spans.push([segments.offsets.place, byteLengthOf(segments.offsets)]);
}
