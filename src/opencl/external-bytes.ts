import { native } from './binding.js';

/**
 * Reports memory outside V8's heap that garbage-collected objects hold, so that V8 collects sooner.
 *
 * @param change bytes allocated since the last report; negative for bytes freed
 */
export function adjustExternalBytes(change: number): void {
  native().externalBytes(change);
}

/** Runs a full garbage collection, which takes some milliseconds. Finalizers run in a later turn of the event loop. */
export function collectNow(): void {
  native().collectNow();
}
