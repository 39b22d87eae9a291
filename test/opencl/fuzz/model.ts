import type { Argument, Step } from './program.js';
import { result, value } from './program.js';

/** Kinds of things that a program holds. */
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

/** Something that a step made, as far as that can be known before the program runs. */
export interface Thing {
  readonly kind: Kind;
  readonly from: Argument;
  /** Number of the context that it belongs to, 0 where it belongs to none. */
  readonly context: number;
  alive: boolean;
  /** Of memory; of an image: what its pixels take. */
  readonly bytes: number;
  readonly facts: Facts;
}

/** What is known of some kinds only. */
export interface Facts {
  /** Kernel: its name. Program: whether it was built from the kernels' source. */
  readonly name?: string;
  /** Image: pixels. */
  readonly pixels?: readonly [number, number, number];
  /** Event: of the user. */
  readonly isUserEvent?: boolean;
  /** Host memory: kind of it. */
  readonly memory?: string;
  /** Mapping: what is mapped. */
  readonly of?: Thing;
  /** Buffer: a part of another. */
  readonly part?: boolean;
  /** The driver may refuse to make it, or it is not what it seems: not for kernels. */
  readonly doubtful?: boolean;
}

/** What a device can, for programs that are to reach it. */
export interface Traits {
  readonly name: string;
  readonly version: number;
  readonly images: boolean;
  readonly svm: boolean;
  readonly outOfOrder: boolean;
  readonly singleThreaded: boolean;
}

/** The live and dead things at a point of a program. */
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

  /** Nothing survives but contexts and what nobody releases. */
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
