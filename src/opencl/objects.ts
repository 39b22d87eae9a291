import { native } from './binding.js';

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

  /** Releases what is left of the handle, without waiting for the driver; may be done twice. */
  [Symbol.dispose](): void {
    if (!this.released) native().releaseAsync(this);
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
/** A buffer, an image or a pipe. */
export abstract class MemObject extends Handle {
  declare readonly [kind]: 'memory';
}
export abstract class Sampler extends Handle {
  declare readonly [kind]: 'sampler';
}
export abstract class Program extends Handle {
  declare readonly [kind]: 'program';
}
export abstract class Kernel extends Handle {
  declare readonly [kind]: 'kernel';
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
} as const;
