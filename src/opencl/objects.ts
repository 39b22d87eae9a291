import { type InspectOptions, inspect } from 'node:util';
import { native } from './binding.js';
import { contentsOf } from './contents.js';
import type { KernelArgumentValue } from './kernel.js';
import { type KernelParameter, readSignature } from './signature.js';
import type { Size } from './types.js';

/**
 * OpenCL objects as JavaScript holds them.
 *
 * A handle owns its references: retain… adds one, release… gives one back, and a handle with none left is
 * released, which every use of it reports. A handle that is garbage-collected gives its references back;
 * `using` does so at the end of a block. The classes only exist for types and `instanceof`: handles come
 * from the create… and get… calls.
 */
abstract class Handle {
  /** No reference is left; also true for the handle that stands for an absent object. */
  get released(): boolean {
    return native().isReleased(this);
  }

  /**
   * Whether the other is a handle of the same OpenCL object: what getKernelInfo(kernel, KERNEL_CONTEXT) gives, say,
   * is another handle of the context. A released handle equals only itself.
   */
  equals(other: unknown): boolean {
    return native().isSame(this, other);
  }

  /**
   * Releases what is left of the handle, without waiting for the driver; may be done twice. Platforms and root devices
   * stay as they are.
   */
  [Symbol.dispose](): void {
    if (!this.released) native().releaseAsync(this, true);
  }
}

declare const kind: unique symbol;

/** A driver. Never released. */
export abstract class Platform extends Handle {
  declare readonly [kind]: 'platform';
}
/** A device; only sub-devices are released. */
export abstract class Device extends Handle {
  declare readonly [kind]: 'device';
}
export abstract class Context extends Handle {
  declare readonly [kind]: 'context';
}
export abstract class CommandQueue extends Handle {
  declare readonly [kind]: 'queue';
}
/** A buffer, an image or a pipe; `util.inspect` and `console.log` say what it holds. */
export abstract class MemObject extends Handle {
  declare readonly [kind]: 'memory';

  [inspect.custom](depth: number, options: InspectOptions): string {
    return depth < 0 ? '[MemObject]' : `MemObject ${inspect(contentsOf(this), options)}`;
  }
}
export abstract class Sampler extends Handle {
  declare readonly [kind]: 'sampler';
}
export abstract class Program extends Handle {
  declare readonly [kind]: 'program';
}
export abstract class Kernel extends Handle {
  declare readonly [kind]: 'kernel';

  /**
   * What the kernel declares of its parameters, in their order (OpenCL 1.2).
   *
   * @throws KERNEL_ARG_INFO_NOT_AVAILABLE for a program from a binary where the driver has not kept it there,
   *   UnsupportedError where the platform is older
   */
  get signature(): readonly KernelParameter[] {
    const known = signatures.get(this);
    if (known) return known;
    const signature = readSignature(this);
    signatures.set(this, signature);
    return signature;
  }

  /**
   * Runs the kernel on these arguments: `await kernel.call(queue, n, null, a, b, 5).completed`. All are checked as
   * `setKernelArg` checks them without a type, and their number, before the first is set; setting them and enqueueing
   * the kernel is one step, so calls never mix their arguments.
   *
   * @param global work-items, in one dimension or an array of up to three
   * @param local work-items of a work-group, in as many dimensions; null lets the driver choose
   * @param args a number, an array, or bytes for what is passed by value, a buffer, shared virtual memory or null
   *   for a pointer, bytes of local memory for a local one, images, samplers
   * @returns the event of the command; nothing is flushed before `completed` is read, or the queue is
   * @throws INVALID_KERNEL_ARGS for another number of arguments, else as `setKernelArg` and `enqueueNDRangeKernel`
   */
  call(
    queue: CommandQueue,
    global: Size | readonly Size[],
    local: Size | readonly Size[] | null | undefined,
    ...args: readonly KernelArgumentValue[]
  ): Event {
    const dimensions = Array.isArray(global) ? global.length : 1;
    return native().callKernel(queue, this, dimensions, sizes(global), sizes(local), args);
  }
}
/** Recorded commands, of cl_khr_command_buffer. */
export abstract class CommandBuffer extends Handle {
  declare readonly [kind]: 'commands';
}
export abstract class Event extends Handle {
  declare readonly [kind]: 'event';

  /**
   * Settles when the command is done: fulfilled, or rejected with its error. The queue is flushed and the
   * wait happens on a thread, from the moment this is first read.
   */
  get completed(): Promise<void> {
    const known = completions.get(this);
    if (known) return known;
    const promise: Promise<void> = native().waitForEventsAsync([this]);
    promise.catch(() => undefined); // reported to those who await it, and nobody has to
    completions.set(this, promise);
    return promise;
  }
}

const completions = new WeakMap<Event, Promise<void>>();
const signatures = new WeakMap<Kernel, readonly KernelParameter[]>();

/** An array even of one, but for numbers, which the addon reads as such. */
const sizes = (given: Size | readonly Size[] | null | undefined): unknown =>
  typeof given === 'bigint' ? [given] : given;

/** The classes above, as the native side makes instances of them. */
export const classes = {
  Platform,
  Device,
  Context,
  CommandQueue,
  MemObject,
  Sampler,
  Program,
  Kernel,
  Event,
  CommandBuffer,
} as const;
