/**
 * `clsort/opencl`: OpenCL 1.0 to 3.0 with the names and argument orders of the npm package node-opencl.
 *
 * Functions have their C names without `cl`, constants without `CL_`. Sizes are in bytes unless stated otherwise.
 * Importing this module loads nothing; the first call opens the addon and the OpenCL loader.
 */

export * from './command-buffer.js';
export * from './constants.js';
export * from './context.js';
export * from './device.js';
export { OpenCLError } from './errors.js';
export * from './event.js';
export * from './extensions.js';
export * from './image-transfer.js';
export * from './info.js';
export * from './kernel.js';
export * from './mapping.js';
export * from './memory.js';
export {
  CommandBuffer,
  CommandQueue,
  Context,
  Device,
  Event,
  Kernel,
  type KernelArgumentValue,
  MemObject,
  Platform,
  Program,
  Sampler,
} from './objects.js';
export * from './ordering.js';
export * from './platform.js';
export * from './poll.js';
export * from './program.js';
export * from './queue.js';
export * from './recorded-commands.js';
export * from './release.js';
export * from './sampler.js';
export type { KernelParameter } from './signature.js';
export * from './staging.js';
export * from './svm.js';
export * from './transfer.js';
export type * from './types.js';
export * from './unified-memory.js';
export type * from './values.js';
export * from './versions.js';
export * from './webcl.js';
