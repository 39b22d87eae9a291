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
 * Removes all references of a handle on another thread. The handle is released at once; the call of the driver does not
 * block this thread.
 *
 * @param handle handle to release
 * @throws OpenCLError INVALID_… when the handle is already released, and for a root device
 * @example
 * ```ts
 * cl.releaseAsync(event);
 * ```
 */
export function releaseAsync(
  handle: CommandBuffer | CommandQueue | Context | Device | Event | Kernel | MemObject | Program | Sampler,
): void {
  native().releaseAsync(handle);
}

/**
 * Releases every object that this environment (the main thread or a worker) still holds, and frees its shared virtual
 * memory. Using a handle afterwards throws. The call blocks until the commands in flight have ended, also those of
 * queues that were released before. Commands that wait for an open user event fail.
 *
 * Releasing a handle again that this function released does nothing.
 *
 * @param options `contexts`: whether to release contexts and sub-devices; false by default. Code written for
 *   node-opencl continues to use its context after the function of this name, which releases only unreachable objects
 * @example
 * ```ts
 * cl.releaseAll();
 * ```
 */
export function releaseAll(options?: { contexts?: boolean } | null): void {
  native().releaseAll(options?.contexts ?? false);
}
