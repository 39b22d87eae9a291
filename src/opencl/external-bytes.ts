import { native } from './binding.js';

/**
 * Tells V8 that objects which it will collect hold so many more bytes, or fewer, that it does not see: it collects
 * sooner then.
 */
export function adjustExternalBytes(change: number): void {
  native().externalBytes(change);
}

/** Has V8 collect all that it can, before this returns: some milliseconds. What was collected is told of in a later turn. */
export function collectNow(): void {
  native().collectNow();
}
