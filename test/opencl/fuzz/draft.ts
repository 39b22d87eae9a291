import type { Random } from '../../../src/util/random.js';
import type { Kind, Model, Thing, Traits } from './model.js';
import { type Argument, list, type Step, value } from './program.js';

/** No argument of the requested kind exists at this point, so another call must be chosen. */
export class NothingFits extends Error {}

/** The construction of one call. Its arguments are drawn from left to right, and later ones depend on earlier ones. */
export class Draft {
  /** Choices of earlier arguments. */
  readonly chosen: Partial<Record<Kind, Thing>> = {};
  /** Bytes that host memory needs for the earlier arguments. */
  bytes = 0;
  /** The right number of elements of a list, if an earlier argument fixed it. */
  length = 0;
  /** Offsets and sizes as they were drawn. */
  readonly sizes: number[] = [];
  blocking = false;
  wanted = false;

  /** @param context the context of valid arguments */
  constructor(
    readonly random: Random,
    readonly model: Model,
    readonly traits: Traits,
    readonly context: number,
    /** Creates a call for a trap or a callback. */
    readonly inner: () => Step | undefined,
    /** Whether reading an argument may run code. */
    readonly traps: boolean,
  ) {}

  chance(percent: number): boolean {
    return this.random.below(100) < percent;
  }

  pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new NothingFits();
    return from[this.random.below(from.length)] as T;
  }

  /** A live object of this context, or of no context. */
  thing(kinds: readonly Kind[], suits: (thing: Thing) => boolean = () => true): Thing {
    const fits = (thing: Thing) => (thing.context === 0 || thing.context === this.context) && suits(thing);
    const found = this.model.of(kinds, fits);
    // The newest objects are the likeliest, so that related objects meet.
    const thing = this.chance(50) ? this.pick(found.slice(-3)) : this.pick(found);
    this.chosen[thing.kind] = thing;
    return thing;
  }

  /** Up to `most` inner calls. */
  calls(max = 2): Step[] {
    return Array.from({ length: this.random.below(max + 1) }, () => this.inner()).filter((step) => !!step);
  }
}

/** A kind of argument: how to create a valid one and an invalid one. */
export interface Taken {
  readonly right: (draft: Draft) => Argument;
  readonly wrong: (draft: Draft) => Argument;
}

const JUNK: readonly unknown[] = [
  null,
  undefined,
  0,
  -1,
  1.5,
  Number.NaN,
  '',
  'text',
  true,
  7n,
  {},
  [],
  [null],
];

/** Values that are not a handle, not memory and not a usable size. */
export const junk = (draft: Draft): Argument =>
  draft.chance(70)
    ? value(draft.pick(JUNK))
    : draft.pick<(d: Draft) => Argument>([
        (d) => d.pick(d.model.things).from,
        (d) => list([d.pick(d.model.things).from]),
        () => ({ is: 'callback', calls: [], throws: false }),
      ])(draft);

/** Handles of these kinds. Invalid ones are released, of another context or kind, or not handles. */
export const handle = (...kinds: Kind[]): Taken => ({
  right: (draft) => draft.thing(kinds).from,
  wrong: (draft) =>
    draft.pick<(d: Draft) => Argument>([
      (d) => d.pick(d.model.dead(kinds)).from,
      (d) => d.pick(d.model.of(kinds, (thing) => thing.context !== d.context)).from,
      (d) => d.pick(d.model.others(kinds)).from,
      junk,
    ])(draft),
});

/** A list whose reading may run code. Invalid ones have an invalid element, no elements, holes, or are no list. */
export function listed(
  draft: Draft,
  items: readonly Argument[],
  wrong: Argument | undefined,
  trapped = 6,
): Argument {
  const all = [...items];
  if (wrong)
    all.splice(draft.random.below(all.length + 1), all.length > 0 && draft.chance(50) ? 1 : 0, wrong);
  if (!draft.chance(trapped) || !draft.traps) return list(all);
  const at = draft.chance(8) ? 'length' : draft.random.below(Math.max(1, all.length));
  const by = draft.chance(75) ? 'getter' : 'proxy';
  return list(all, { at, by, calls: draft.calls(), throws: draft.chance(25) });
}

const NO_SIZES: readonly unknown[] = [
  -1,
  0.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  2 ** 53,
  -1n,
  2n ** 64n,
  '8',
];
const EDGES: readonly unknown[] = [
  0,
  1,
  3,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  2 ** 32 + 8,
  2 ** 53 - 1,
  2n ** 63n,
  2n ** 64n - 1n,
  2n ** 64n - 8n,
  2n ** 64n - 64n,
];

/** Sizes and offsets that are invalid, at an edge, or wrap around when something is added to them. */
export const edge = (draft: Draft): Argument => value(draft.pick(draft.chance(70) ? EDGES : NO_SIZES));

/** A number, rarely as a bigint. */
export const size = (draft: Draft, of: number): Argument => value(draft.chance(10) ? BigInt(of) : of);
