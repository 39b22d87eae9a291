import * as cl from '../../../src/opencl/index.js';
import { type Draft, edge, handle, junk, listed, NothingFits, size, type Taken } from './draft.js';
import { BUFFER_BYTES, LOCAL_BYTES, SIGNATURES, STRUCT_BYTES } from './kernels.js';
import type { Thing } from './model.js';
import { type Argument, list, record, value } from './program.js';

/** Clang searches for names similar to an unknown name, which takes half a minute for one of 100,000 letters. */
const LONG = ' x'.repeat(50_000);

/** The kinds of arguments that the calls of the binding take. */

export const platform = handle('platform');
export const device = handle('device');
export const anyDevice = handle('device', 'subdevice');
export const context = handle('context');
export const queue = handle('queue');
export const memory = handle('buffer', 'image');
export const image = handle('image');
export const sampler = handle('sampler');
export const program = handle('program');
export const kernel = handle('kernel');
export const event = handle('event');
export const recording = handle('recording');
export const commandBuffer = handle('commandBuffer');

/** A buffer, whose size bounds the offsets and sizes that follow. */
export const buffer: Taken = {
  right: (draft) => {
    const of = draft.thing(['buffer']);
    draft.sizes.length = 0;
    return of.from;
  },
  wrong: handle('buffer').wrong,
};

/** One of the values. */
export const oneOf = (...values: unknown[]): Taken => ({
  right: (draft) => value(draft.pick(values)),
  wrong: (draft) => (draft.chance(50) ? edge(draft) : junk(draft)),
});

export const flag: Taken = oneOf(true, false, undefined, 1, 0);

export const blocking: Taken = {
  right: (draft) => {
    draft.blocking = draft.chance(40);
    return value(draft.blocking);
  },
  wrong: junk,
};

/** Whether an event is requested. */
export const wanted: Taken = {
  right: (draft) => {
    draft.wanted = draft.chance(60);
    return value(draft.wanted ? true : draft.pick([false, undefined]));
  },
  wrong: (draft) => {
    draft.wanted = true; // any value: the model may hold an event that does not exist
    return junk(draft);
  },
};

/** A number from a range; invalid ones are edges. */
export const count = (from: number, to: number): Taken => ({
  right: (draft) => size(draft, from + draft.random.below(to - from + 1)),
  wrong: edge,
});

export const text = (...texts: (string | null | undefined)[]): Taken => ({
  right: (draft) => value(draft.pick(texts)),
  wrong: (draft) =>
    draft.chance(50) ? value(draft.pick(['\0', LONG, '\u00e9\ud800', '-D', ' '])) : junk(draft),
});

/** Constants by their prefix. */
export function named(...prefixes: string[]): Taken {
  const numbers = Object.entries(cl)
    .filter(
      ([name, number]) => typeof number === 'number' && prefixes.some((prefix) => name.startsWith(prefix)),
    )
    .map(([, number]) => number);
  return oneOf(...numbers);
}

/** A sum of some of these, or nothing. */
export const flags = (...bits: number[]): Taken => ({
  right: (draft) => value(draft.chance(15) ? draft.pick([null, undefined, 0]) : draft.pick(bits)),
  wrong: (draft) =>
    draft.chance(50) ? value(draft.pick([2 ** 32, 2 ** 40 + 1, 2n ** 63n, 0xffff_ffff])) : junk(draft),
});

/** A list of handles of one kind. */
export const handles = (of: Taken, min: number, max: number): Taken => {
  const some = (draft: Draft) =>
    Array.from({ length: min + draft.random.below(max - min + 1) }, () => of.right(draft));
  return {
    right: (draft) => {
      const items = some(draft);
      draft.length = items.length;
      return listed(draft, items, undefined);
    },
    wrong: (draft) =>
      draft.chance(70)
        ? listed(draft, some(draft), of.wrong(draft), 20)
        : draft.chance(50)
          ? list([])
          : junk(draft),
  };
};

/** Usually nothing, otherwise a value. */
export const optional = (of: Taken, percent = 30): Taken => ({
  right: (draft) => (draft.chance(percent) ? of.right(draft) : value(draft.pick([null, undefined]))),
  wrong: of.wrong,
});

const someEvents: Taken = handles(event, 0, 3);
export const waitList: Taken = {
  right: (draft) => {
    if (!draft.chance(30)) return value(draft.pick([null, undefined, null]));
    try {
      return someEvents.right(draft);
    } catch {
      return list([]);
    }
  },
  wrong: someEvents.wrong,
};

/** A callback for JavaScript; it may call the binding, and may throw. */
export const callback: Taken = {
  right: (draft) => ({
    is: 'callback',
    calls: draft.chance(20) ? draft.calls() : [],
    throws: draft.chance(4),
  }),
  wrong: junk,
};

/**
 * Host memory of at least the bytes that the call needs: an ArrayBuffer, mapped memory, or memory shared with the
 * device.
 */
export const host: Taken = {
  right: (draft) => {
    const fits = (thing: Thing) =>
      thing.bytes >= draft.bytes &&
      (draft.blocking || !['resizable', 'tracking'].includes(thing.facts.memory ?? ''));
    const kinds = draft.chance(80) ? (['host'] as const) : (['mapping', 'svm'] as const);
    const found = draft.model.of(kinds, fits);
    return (found.length > 0 ? draft.pick(found) : draft.pick(draft.model.of(['host'], fits))).from;
  },
  wrong: (draft) =>
    draft.pick<(d: Draft) => Argument>([
      (d) => d.pick(d.model.dead(['host', 'mapping', 'svm'])).from,
      (d) => d.pick(d.model.of(['host'], (thing) => thing.bytes < d.bytes)).from,
      (d) => d.pick(d.model.of(['host'], (thing) => !!thing.facts.memory?.startsWith('res'))).from,
      (d) => d.pick(d.model.of(['mapping', 'svm'])).from,
      junk,
    ])(draft),
};

/** Memory of this many bytes that is used after the call has returned. */
export const hostOf = (minBytes: number): Taken => ({
  right: (draft) => {
    draft.bytes = minBytes;
    draft.blocking = false;
    return host.right(draft);
  },
  wrong: host.wrong,
});

/** Memory that a call reads at once. */
export const bytes = (...lengths: number[]): Taken => ({
  right: (draft) => {
    draft.bytes = draft.pick(lengths);
    draft.blocking = true;
    return host.right(draft);
  },
  wrong: host.wrong,
});

export const svm: Taken = {
  right: (draft) => {
    const of = draft.thing(['svm']);
    draft.bytes = of.bytes;
    return of.from;
  },
  wrong: host.wrong,
};

const boundOf = (draft: Draft): number => draft.chosen.buffer?.bytes ?? draft.chosen.svm?.bytes ?? 64;

/** An offset into the buffer that was chosen. */
export const offset: Taken = {
  right: (draft) => {
    const at = draft.chance(50) ? 0 : draft.random.below(Math.max(1, boundOf(draft)));
    draft.sizes.push(at);
    return size(draft, at);
  },
  wrong: edge,
};

/** A size that fits behind the offsets. */
export const length = (unit = 1): Taken => ({
  right: (draft) => {
    const freeBytes = Math.max(0, boundOf(draft) - Math.max(0, ...draft.sizes));
    const of = Math.max(unit, Math.floor((1 + draft.random.below(Math.max(1, freeBytes))) / unit) * unit);
    draft.bytes = of;
    return size(draft, of);
  },
  wrong: (draft) => {
    draft.bytes = 0;
    return edge(draft);
  },
});

/** Three numbers of a box, some of them out of range. */
export const triple = (of: (draft: Draft) => readonly number[]): Taken => ({
  right: (draft) =>
    listed(
      draft,
      of(draft).map((n) => size(draft, n)),
      undefined,
    ),
  wrong: (draft) => {
    const items = of(draft).map((n) => size(draft, n));
    if (draft.chance(80)) items[draft.random.below(3)] = edge(draft);
    else if (draft.chance(50)) items.pop();
    return draft.chance(85) ? listed(draft, items, undefined, 20) : junk(draft);
  },
});

const small = (draft: Draft, max: number): number => draft.random.below(max + 1);

export const boxOrigin: Taken = triple((draft) => [small(draft, 3), small(draft, 2), small(draft, 1)]);
/** Boxes of buffers fit into 4 rows of 16 bytes in 2 slices: 128 bytes; pitches are 16 and 64. */
export const boxRegion: Taken = triple((draft) => {
  draft.bytes = 256;
  return [1 + small(draft, 8), 1 + small(draft, 1), 1];
});
export const rowPitch: Taken = oneOf(0, 16, null);
export const slicePitch: Taken = oneOf(0, 64, null);

const pixels = (draft: Draft): readonly [number, number, number] =>
  draft.chosen.image?.facts.pixels ?? [4, 4, 1];
export const imageOrigin: Taken = triple((draft) => [
  small(draft, 1),
  pixels(draft)[1] > 1 ? small(draft, 1) : 0,
  0,
]);
export const imageRegion: Taken = triple((draft) => {
  const [width, height] = pixels(draft);
  draft.bytes = draft.chosen.image?.bytes ?? 1024;
  return [Math.max(1, width - 1), Math.max(1, height - 1), 1];
});

/** The pattern of a fill: 4 bytes, 8 bytes, or any size. */
export const pattern: Taken = {
  right: (draft) =>
    draft.chance(60) ? value(draft.pick([0, 7, -1, 2 ** 31, 0.5])) : bytes(1, 4, 8, 16).right(draft),
  wrong: host.wrong,
};

export const color: Taken = {
  right: (draft) =>
    draft.chance(60)
      ? listed(draft, [0, 1, 0.5, 1].map(value), undefined)
      : draft.pick(draft.model.of(['host'], (thing) => thing.bytes >= 16)).from,
  wrong: (draft) => listed(draft, [0, 2 ** 40, -1, Number.NaN].map(value), junk(draft)),
};

const anyProperty = (draft: Draft): Argument => (draft.chance(50) ? edge(draft) : junk(draft));

/** A list of names and values. */
export const properties = (...pairs: (readonly [number, readonly unknown[]])[]): Taken => ({
  right: (draft) => {
    if (draft.chance(30)) return value(draft.pick([null, undefined]));
    if (pairs.length === 0) return list([]);
    const [name, values] = draft.pick(pairs);
    return listed(draft, [value(name), value(draft.pick(values))], undefined);
  },
  wrong: (draft) =>
    listed(draft, [anyProperty(draft), anyProperty(draft)], draft.pick(draft.model.things).from, 20),
});

export const contextProperties: Taken = {
  right: (draft) =>
    draft.chance(40)
      ? value(draft.pick([null, undefined]))
      : listed(draft, [value(cl.CONTEXT_PLATFORM), draft.thing(['platform']).from], undefined),
  wrong: properties().wrong,
};

/** Fields of an object; reading one of them may run code. */
export const fields = (of: (draft: Draft) => Record<string, Argument>): Taken => {
  const made = (draft: Draft, all: Record<string, Argument>, trapped: number): Argument => {
    if (!draft.chance(trapped) || !draft.traps) return record(all);
    const by = draft.chance(60) ? 'getter' : 'proxy';
    return record(all, {
      at: draft.pick(Object.keys(all)),
      by,
      calls: draft.calls(),
      throws: draft.chance(25),
    });
  };
  return {
    right: (draft) => made(draft, of(draft), 6),
    wrong: (draft) => {
      if (draft.chance(15)) return junk(draft);
      const all = of(draft);
      all[draft.pick(Object.keys(all))] = draft.chance(60) ? edge(draft) : junk(draft);
      return made(draft, all, 20);
    },
  };
};

export const imageFormat: Taken = fields((draft) => ({
  channel_order: value(cl.RGBA),
  channel_data_type: value(draft.pick([cl.UNORM_INT8, cl.FLOAT])),
}));

export const region: Taken = fields((draft) => {
  const bound = boundOf(draft);
  const origin = draft.pick([0, 0, 128, 256].filter((at) => at < bound));
  draft.sizes.push(origin);
  const rest = Math.max(1, bound - origin);
  draft.bytes = draft.chance(50) ? rest : 1 + draft.random.below(rest);
  return { origin: size(draft, origin), size: size(draft, draft.bytes) };
});

/** An index of an argument of the chosen kernel, remembered as the last of `sizes`. */
export const argumentIndex: Taken = {
  right: (draft) => {
    const types = SIGNATURES[draft.chosen.kernel?.facts.name ?? ''] ?? [];
    if (types.length === 0) throw new NothingFits();
    const at = draft.random.below(types.length);
    draft.sizes.push(at);
    return value(at);
  },
  wrong: (draft) => {
    draft.sizes.push(0);
    return value(draft.pick([-1, 1, 2, 9, 1024, 2 ** 31, 2 ** 32, 0.5, '0', null]));
  },
};

const typeOf = (draft: Draft): string =>
  SIGNATURES[draft.chosen.kernel?.facts.name ?? '']?.[draft.sizes.at(-1) ?? 0] ?? 'uint';

export const argumentType: Taken = {
  right: (draft) =>
    value(draft.chance(50) || STRUCT_BYTES[typeOf(draft)] ? draft.pick([null, undefined]) : typeOf(draft)),
  wrong: (draft) =>
    draft.chance(80)
      ? value(
          draft.pick([
            'uint',
            'ulong',
            'uint*',
            'local',
            'sampler_t',
            'queue_t',
            'image2d_t',
            'float4',
            'pair',
            'half',
            'x',
            '',
          ]),
        )
      : junk(draft),
};

/** Whether a buffer or shared memory may be given to a kernel. */
const forKernels = (thing: Thing): boolean => !thing.facts.doubtful && thing.bytes >= BUFFER_BYTES;

/** The right value for an argument of a kernel. */
export function argumentValue(draft: Draft, type: string): Argument {
  if (type.endsWith('*')) return draft.chance(4) ? value(null) : draft.thing(['buffer'], forKernels).from;
  if (type === 'local') return value(draft.pick([LOCAL_BYTES, 2 * LOCAL_BYTES, 1024]));
  if (type === 'image2d_t') return draft.thing(['image'], (thing) => !thing.facts.doubtful).from;
  if (type === 'sampler_t') return draft.thing(['sampler']).from;
  const struct = STRUCT_BYTES[type];
  if (struct) {
    draft.bytes = struct;
    return draft.pick(draft.model.of(['host'], (thing) => thing.bytes === struct)).from;
  }
  const width = Number(/\d+$/.exec(type)?.[0] ?? 1);
  const number = (): Argument => value(draft.pick(type.startsWith('u') ? [0, 1, 200] : [0, 1, -1, 100]));
  return width === 1 ? number() : listed(draft, Array.from({ length: width }, number), undefined);
}

export const kernelArgument: Taken = {
  right: (draft) => argumentValue(draft, typeOf(draft)),
  wrong: (draft) =>
    draft.pick<(d: Draft) => Argument>([
      (d) => value(d.pick([0, 1, -1, 8, 2 ** 32, 0x1234_5678_9abcn, 0.5, true, null])),
      (d) => d.pick(d.model.of(['sampler', 'queue', 'image', 'event', 'svm'])).from,
      (d) => d.pick(d.model.of(['host'], (thing) => thing.bytes <= 64)).from,
      (d) => d.pick(d.model.dead(['buffer', 'image', 'sampler'])).from,
      (d) => listed(d, [value(1), value(2), value(3), value(4)], junk(d), 20),
      junk,
    ])(draft),
};

/** Dimensions, which fix the length of the sizes that follow. */
export const dimensions: Taken = {
  right: (draft) => {
    draft.length = draft.pick([1, 1, 1, 2, 3]);
    return value(draft.length);
  },
  wrong: (draft) => {
    draft.length = 1;
    return value(draft.pick([0, 4, -1, 1.5, 2 ** 32 + 1, null, '1', 3]));
  },
};

const each = (draft: Draft, of: () => Argument): Argument[] => Array.from({ length: draft.length }, of);

/** Work sizes that finish soon: 2^40 would be valid, and would run for ever. */
export const globalSize: Taken = {
  right: (draft) =>
    listed(
      draft,
      each(draft, () => size(draft, draft.pick(draft.length === 1 ? [1, 4, 16, 64] : [1, 2, 4]))),
      undefined,
    ),
  wrong: (draft) =>
    listed(
      draft,
      each(draft, () => value(draft.pick([0, -1, 0.5, Number.NaN, 2n ** 64n, '4', 3]))),
      undefined,
      20,
    ),
};
/** A number for each dimension, or none. */
const optionalSizes = (numbers: readonly number[]): Taken =>
  optional({
    right: (draft) =>
      listed(
        draft,
        each(draft, () => size(draft, draft.pick(numbers))),
        undefined,
      ),
    wrong: (draft) =>
      listed(
        draft,
        each(draft, () => edge(draft)),
        undefined,
        20,
      ),
  });
export const globalOffset = optionalSizes([0, 1, 64]);
export const localSize = optionalSizes([1, 1, 2]);
