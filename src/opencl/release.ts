import { native } from './binding.js';
import type { CommandQueue, Context, Device, Event, Kernel, MemObject, Program, Sampler } from './objects.js';

/**
 * Releases all references of a handle, on another thread. The handle is released at once; the driver's call
 * may take its time, and keeps nobody waiting.
 *
 * @throws INVALID_… for a handle that is released already
 */
export function releaseAsync(
  handle: CommandQueue | Context | Device | Event | Kernel | MemObject | Program | Sampler,
): void {
  native().releaseAsync(handle);
}

/**
 * Releases every object that this environment (the main thread or a worker) still holds, and frees its
 * shared virtual memory. Using a handle afterwards throws. Blocks for as long as the drivers take.
 *
 * A handle that was released this way may be released by its owner once more, which then does nothing.
 *
 * @param contexts contexts and sub-devices, too. They stay otherwise: code written for node-opencl, whose
 *   function of this name released what nobody could use any more, goes on with its context afterwards
 */
export function releaseAll({ contexts = false }: { contexts?: boolean } = {}): void {
  native().releaseAll(contexts);
}
