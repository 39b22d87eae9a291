import type { Argument, Step } from './program.js';
import { result, value } from './program.js';

/** Kinds of objects that a program holds. */
export type Kind =
  | 'platform'
  | 'device'
  | 'subdevice'
  | 'context'
  | 'queue'
  | 'buffer'
  | 'image'
  | 'pipe'
  | 'sampler'
  | 'program'
  | 'kernel'
  | 'event'
  /** A command buffer that commands are recorded into. */
  | 'recording'
  /** A command buffer that is finalized. */
  | 'commandBuffer'
  | 'host'
  | 'mapping'
  | 'svm';

/** An object that a step created, as far as it is known before the program runs. */
export interface Thing {
  readonly kind: Kind;
  readonly from: Argument;
  /** Number of its context; 0 for none. */
  readonly context: number;
  alive: boolean;
  /** Size of memory in bytes; of an image, that of its pixels. */
  readonly bytes: number;
  readonly facts: Facts;
}

/** Properties of some kinds only. */
export interface Facts {
  /** Kernel: its name. Program: whether it was built from the kernels' source. */
  readonly name?: string;
  /** Image: number of pixels. */
  readonly pixels?: readonly [number, number, number];
  /** Event: a user event. */
  readonly isUserEvent?: boolean;
  /** Host memory: its kind. */
  readonly memory?: string;
  /** Mapping: the mapped object. */
  readonly of?: Thing;
  /** Buffer: a part of another. */
  readonly part?: boolean;
  /** The driver may refuse to create it, or it differs from its description; not for kernels. */
  readonly doubtful?: boolean;
}

/** Features of a device, for programs that use them. */
export interface Traits {
  readonly name: string;
  readonly version: number;
  readonly images: boolean;
  readonly svm: boolean;
  readonly outOfOrder: boolean;
  readonly singleThreaded: boolean;
}

/** The live and released objects at a point of a program. */
export class Model {
  readonly things: Thing[] = [];

  add(
    kind: Kind,
    from: number | Argument,
    { context = 0, bytes = 0, ...facts }: { context?: number; bytes?: number } & Facts = {},
  ): Thing {
    const thing = {
      kind,
      from: typeof from === 'number' ? result(from) : from,
      context,
      alive: true,
      bytes,
      facts,
    };
    this.things.push(thing);
    return thing;
  }

  of(kinds: readonly Kind[], suits: (thing: Thing) => boolean = () => true): Thing[] {
    return this.things.filter((thing) => thing.alive && kinds.includes(thing.kind) && suits(thing));
  }

  dead(kinds: readonly Kind[]): Thing[] {
    return this.things.filter((thing) => !thing.alive && kinds.includes(thing.kind));
  }

  others(kinds: readonly Kind[]): Thing[] {
    return this.things.filter((thing) => !kinds.includes(thing.kind));
  }

  /** Only contexts and objects that are never released remain. */
  releaseAll(contexts: boolean): void {
    const stay: Kind[] = [
      'platform',
      'device',
      'host',
      ...(contexts ? [] : (['context', 'subdevice'] as const)),
    ];
    for (const thing of this.things) if (!stay.includes(thing.kind)) thing.alive = false;
  }
}

export const nothing = value(null);
export type { Argument, Step };
