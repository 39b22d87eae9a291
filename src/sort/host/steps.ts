import { setImmediate } from 'node:timers/promises';
import { bytesOf } from '../../keys/array.js';
import { throwIfAborted } from '../model/options.js';
import { COPY_BYTES, SLICE, YIELD_INTERVAL_MS } from './policy.js';

/** Host work that can pause: each `yield` comes after a few milliseconds at most. */
export type Steps<T = void> = Generator<void, T>;

/** Calls `work` for the elements from 0 to n, slice by slice. */
export function* inSlices(n: number, work: (start: number, end: number) => void, slice = SLICE): Steps {
  for (let start = 0; start < n; start += slice) {
    work(start, Math.min(start + slice, n));
    yield;
  }
}

/** Copies bytes; does nothing if both are the same memory. */
export function* copySteps(from: ArrayBufferView, to: ArrayBufferView): Steps {
  if (from.buffer === to.buffer && from.byteOffset === to.byteOffset) return;
  const copy = (start: number, end: number) => bytesOf(to, start, end).set(bytesOf(from, start, end));
  yield* inSlices(from.byteLength, copy, COPY_BYTES);
}

/** Runs all steps without a pause. */
export function runSync<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * Runs all steps, and lets the event loop run in between, which may fire the signal.
 *
 * @throws AbortedError when `signal` fires, with the work incomplete
 */
export async function runYielding<T>(steps: Steps<T>, signal?: AbortSignal): Promise<T> {
  for (let sliceStarted = performance.now(); ; ) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() - sliceStarted < YIELD_INTERVAL_MS) continue;
    await setImmediate();
    throwIfAborted(signal);
    sliceStarted = performance.now();
  }
}
