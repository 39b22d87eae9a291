import { type InspectOptions, inspect } from 'node:util';
import { contentsOf } from './contents.js';
import type { Native } from './native.js';
import { type KernelParameter, readSignature } from './signature.js';
import type { HostMemory, Size } from './values.js';

/** The addon, which makes all handles. No handle exists before it is loaded. */
let addon: Native;

/**
 * Base class of the handles of OpenCL objects.
 *
 * A handle owns its references: retain… adds one, release… removes one. A handle without references is released, and
 * every use of it throws. Garbage collection of a handle removes its references, as does `using` at the end of a block.
 * The classes exist for types and `instanceof`; the create… and get… calls return the handles.
 */
abstract class Handle {
  /** Whether no reference is left; also true for a handle that stands for an absent object. */
  get released(): boolean {
    return addon.isReleased(this);
  }

  /**
   * Whether the other value is a handle of the same OpenCL object; getKernelInfo(kernel, KERNEL_CONTEXT), for example,
   * returns another handle of the context. A released handle equals only itself.
   *
   * @param other any value
   * @returns true for the same OpenCL object
   */
  equals(other: unknown): boolean {
    return addon.isSame(this, other);
  }

  /**
   * Removes all references of the handle without waiting for the driver; a second call does nothing. Platforms and root
   * devices are not released.
   */
  [Symbol.dispose](): void {
    if (!this.released) addon.releaseAsync(this, true);
  }
}

declare const kind: unique symbol;

/** Platform, that is, an OpenCL driver. Never released. */
export abstract class Platform extends Handle {
  declare readonly [kind]: 'platform';
}
/** Device; only sub-devices are released. */
export abstract class Device extends Handle {
  declare readonly [kind]: 'device';
}
export abstract class Context extends Handle {
  declare readonly [kind]: 'context';
}
export abstract class CommandQueue extends Handle {
  declare readonly [kind]: 'queue';
}
/** Buffer, image or pipe; `util.inspect` and `console.log` print its description. */
export abstract class MemObject extends Handle {
  declare readonly [kind]: 'memory';

  [inspect.custom](depth: number, options: InspectOptions): string {
    return depth < 0 ? '[MemObject]' : `MemObject ${inspect(contentsOf(addon, this), options)}`;
  }
}
export abstract class Sampler extends Handle {
  declare readonly [kind]: 'sampler';
}
export abstract class Program extends Handle {
  declare readonly [kind]: 'program';
}
/** Values of a kernel argument; `setKernelArg` documents which types accept which values. */
export type KernelArgumentValue =
  | number
  | bigint
  | boolean
  | readonly (number | bigint)[]
  | HostMemory
  | MemObject
  | Sampler
  | CommandQueue
  | null;

export abstract class Kernel extends Handle {
  declare readonly [kind]: 'kernel';

  /**
   * The declared parameters of the kernel, in order (OpenCL 1.2).
   *
   * @throws OpenCLError KERNEL_ARG_INFO_NOT_AVAILABLE for a program from a binary in which the driver did not store the
   *   parameters
   * @throws UnsupportedError when the platform is older than OpenCL 1.2
   */
  get signature(): readonly KernelParameter[] {
    const known = signatures.get(this);
    if (known) return known;
    const signature = readSignature(addon, this);
    signatures.set(this, signature);
    return signature;
  }

  /**
   * Sets the arguments and enqueues the kernel: `await kernel.call(queue, n, null, a, b, 5).completed`.
   *
   * The number of arguments and all values are checked, as by `setKernelArg` without a type, before the first one is
   * set. Setting the arguments and enqueueing the kernel is atomic, so concurrent calls never mix their arguments. The
   * call flushes nothing; reading `completed` does, or `flush`.
   *
   * @param queue command queue that executes the kernel
   * @param global work-items: a number for one dimension, or an array of up to three
   * @param local work-items of a work-group, in as many dimensions; null lets the driver choose
   * @param args for values a number, an array or bytes; for pointers a buffer, shared virtual memory or null; for local
   *   memory its size in bytes; images; samplers
   * @returns the event of the command
   * @throws OpenCLError INVALID_KERNEL_ARGS for a wrong number of arguments, otherwise as `setKernelArg` and
   *   `enqueueNDRangeKernel`
   */
  call(
    queue: CommandQueue,
    global: Size | readonly Size[],
    local: Size | readonly Size[] | null | undefined,
    ...args: readonly KernelArgumentValue[]
  ): Event {
    const dimensions = Array.isArray(global) ? global.length : 1;
    return addon.callKernel(queue, this, dimensions, sizes(global), sizes(local), args);
  }
}
/** Recorded commands of cl_khr_command_buffer. */
export abstract class CommandBuffer extends Handle {
  declare readonly [kind]: 'commands';
}
export abstract class Event extends Handle {
  declare readonly [kind]: 'event';

  /**
   * Promise for the end of the command; rejects with the error of the command. The first read flushes the queue and
   * starts a wait on another thread.
   */
  get completed(): Promise<void> {
    const known = completions.get(this);
    if (known) return known;
    const promise: Promise<void> = addon.waitForEventsAsync([this]);
    promise.catch(() => undefined); // an unhandled rejection is not an error: callers need not await it
    completions.set(this, promise);
    return promise;
  }
}

const completions = new WeakMap<Event, Promise<void>>();
const signatures = new WeakMap<Kernel, readonly KernelParameter[]>();

/** Converts a bigint to an array of one. Numbers stay numbers, because the addon reads them faster. */
const sizes = (given: Size | readonly Size[] | null | undefined): unknown =>
  typeof given === 'bigint' ? [given] : given;

/** The handle classes by the names under which the addon creates instances. */
const classes = {
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

/** @internal Makes the handles of the addon instances of these classes. */
export function connectHandles(loaded: Native): void {
  addon = loaded;
  for (const [name, ours] of Object.entries(classes)) {
    const theirs = loaded[name] as { prototype: object };
    Object.setPrototypeOf(theirs.prototype, ours.prototype);
  }
}
