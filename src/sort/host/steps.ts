import { setImmediate } from 'node:timers/promises';
import { bytesOf } from '../../keys/array.js';
import { throwIfAborted } from '../api/options.js';

/** Work of the host that stops wherever it may be left alone: at each `yield`, after a few milliseconds at most. */
export type Steps<T = void> = Generator<void, T>;

/** Elements that a step goes over: with whatever is done to each of them it takes a millisecond or two. */
export const SLICE = 2 ** 16;

/** Bytes that a step copies. */
const COPY_BYTES = 2 ** 22;

/** How long the work keeps the thread before others may have it. */
const YIELD_INTERVAL_MS = 5;

/** Does `work` for the elements from `start` to `end`, slice by slice. */
export function* inSlices(n: number, work: (start: number, end: number) => void, slice = SLICE): Steps {
  for (let start = 0; start < n; start += slice) {
    work(start, Math.min(start + slice, n));
    yield;
  }
}

/** Copies bytes; where both are the same memory there is nothing to do. */
export function* copySteps(from: ArrayBufferView, to: ArrayBufferView): Steps {
  if (from.buffer === to.buffer && from.byteOffset === to.byteOffset) return;
  const copy = (start: number, end: number) => bytesOf(to, start, end).set(bytesOf(from, start, end));
  yield* inSlices(from.byteLength, copy, COPY_BYTES);
}

/** All of it, without a stop. */
export function runSync<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * All of it, while the process sees to other things in between, signals among them.
 *
 * @throws AbortedError, with the work half done, when `signal` fires
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
