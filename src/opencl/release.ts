import { native } from './binding.js';
import type {
  CommandBuffer,
  CommandQueue,
  Context,
  Device,
  Event,
  Kernel,
  MemObject,
  Program,
  Sampler,
} from './objects.js';

/**
 * Releases all references of a handle, on another thread. The handle is released at once; the driver's call
 * may take its time, and keeps nobody waiting.
 *
 * @throws INVALID_… for a handle that is released already, and for a root device
 */
export function releaseAsync(
  handle: CommandBuffer | CommandQueue | Context | Device | Event | Kernel | MemObject | Program | Sampler,
): void {
  native().releaseAsync(handle);
}

/**
 * Releases every object that this environment (the main thread or a worker) still holds, and frees its
 * shared virtual memory. Using a handle afterwards throws. Blocks until the commands in flight have ended, also those of
 * queues that were released before; what waits for an open user event fails.
 *
 * A handle that was released this way may be released by its owner once more, which then does nothing.
 *
 * @param options `contexts`: contexts and sub-devices, too. They stay otherwise: code written for node-opencl, whose
 *   function of this name released what nobody could use any more, goes on with its context afterwards
 */
export function releaseAll(options?: { contexts?: boolean } | null): void {
  native().releaseAll(options?.contexts ?? false);
}
