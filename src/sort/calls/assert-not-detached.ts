import { isDetached } from '../../keys/array.js';
import { InputError } from '../../util/errors.js';
import { byteLengthOf, isOnDevice, type Place } from '../backend/column.js';
import { type SortJob, valueBytesOf } from '../backend/job.js';

/** Memory that a call works on, and the bytes that it had when the call was made. */
export type Span = readonly [place: Place, bytes: number];

/** @throws InputError when memory of the host has gone meanwhile */
export function assertNotDetached(spans: readonly Span[], cause?: unknown): void {
  for (const [place, bytes] of spans) {
    if (isOnDevice(place) || !isDetachedOrShrunk(place, bytes)) continue;
    throw new InputError(
      `an array of ${bytes} bytes has ${place.byteLength} left: its buffer was transferred, detached or shrunk while ` +
        'the call was working on it. Leave arrays alone until the promise settles, or pass a copy',
      { ...(cause !== undefined && { cause }) },
    );
  }
}

/** Has memory fewer bytes than it had? Of none at all it tells whether they can still be looked at. */
const isDetachedOrShrunk = (place: ArrayBufferView, bytes: number): boolean =>
  place.byteLength < bytes || (bytes === 0 && isDetached(place));

/**
 * Runs `use` on arrays of the host, which are to stay there until it has ended.
 *
 * @throws InputError when one of them did not, whatever `use` made of it; what `use` throws
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

/** The InputError that tells of memory that has gone meanwhile, where some has; else `error` itself. */
export function detachErrorOr(spans: readonly Span[], error: unknown): unknown {
  if (error instanceof InputError) return error;
  try {
    assertNotDetached(spans, error);
    return error;
  } catch (detachError) {
    return detachError;
  }
}

/** An array of the host, as it is when a call is made. */
export const spanOf = (view: ArrayBufferView): Span => [view, view.byteLength];

/** Memory that a sort reads and writes. */
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
  if (segments && !segments.isRows) {
    spans.push([segments.offsets.place, byteLengthOf(segments.offsets)]);
  }
}
