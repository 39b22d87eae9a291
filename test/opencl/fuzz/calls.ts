import * as cl from '../../../src/opencl/index.js';
import type { Draft, Taken } from './draft.js';
import { handle, junk, listed } from './draft.js';
import { HEADER, kernelSource, OTHER_SOURCES, SIGNATURES, WITH_HEADER } from './kernels.js';
import * as k from './kinds.js';
import type { Facts, Kind, Thing } from './model.js';
import { type Argument, list, result, type Step, value } from './program.js';

/** A function of the binding: its arguments, and its effect on the objects of the program. */
export interface Call {
  readonly takes: readonly Taken[];
  /** Relative frequency among the other functions; 0: random programs never call it. */
  readonly weight?: number;
  /** Objects created or released by the call; `sound` when every argument was right. */
  readonly leaves?: (draft: Draft, step: Step, sound: boolean) => void;
}

type Leaves = NonNullable<Call['leaves']>;

const made =
  (
    kind: Kind,
    facts: (draft: Draft, step: Step) => Facts & { bytes?: number; context?: number } = () => ({}),
  ): Leaves =>
  (draft, step, sound) => {
    draft.model.add(kind, step.id, { context: draft.context, doubtful: !sound, ...facts(draft, step) });
  };

/** The event of a command, if requested. */
const event: Leaves = (draft, step) => {
  if (draft.wanted) draft.model.add('event', step.id, { context: draft.context });
};

const gone = (thing: Thing | undefined): void => {
  if (!thing) return;
  thing.alive = false;
};

/** The handle is released: most handles have one reference. */
const released = (...kinds: Kind[]): Call => ({
  takes: [handle(...kinds)],
  leaves: (draft, _step, sound) => {
    for (const kind of kinds) if (sound) gone(draft.chosen[kind]);
    const [of] = kinds.map((kind) => draft.chosen[kind]).filter((thing) => !!thing);
    if (of) for (const thing of draft.model.of(['mapping'])) if (thing.facts.of === of) gone(thing);
  },
});

const retained = (...kinds: Kind[]): Call => ({ takes: [handle(...kinds)], weight: 0.3 });

const info = (of: Taken, ...prefixes: string[]): Call => ({ takes: [of, k.named(...prefixes)], weight: 0.5 });

/** A literal size, or 0. */
const number = (argument: Argument | undefined): number => {
  const of = argument?.is === 'value' ? Number(argument.value ?? 0) : 0;
  return Number.isSafeInteger(of) && of > 0 ? of : 0;
};

const BUFFER_SIZES = [64, 128, 512, 512, 1024, 4096, 4096, 65536];

const withHost = (draft: Draft, size: number): readonly [Argument, Argument, Argument] => {
  draft.bytes = size;
  const plain = (thing: Thing): boolean =>
    thing.bytes >= size && !['resizable', 'tracking', 'detached'].includes(thing.facts.memory ?? '');
  const kinds = draft.chance(75) ? (['host'] as const) : (['host', 'mapping', 'svm'] as const);
  const flags = draft.pick([
    cl.MEM_USE_HOST_PTR,
    cl.MEM_COPY_HOST_PTR,
    cl.MEM_COPY_HOST_PTR | cl.MEM_ALLOC_HOST_PTR,
  ]);
  return [value(flags), value(size), draft.pick(draft.model.of(kinds, plain)).from];
};

/** The shape of each random buffer: flags, size and host memory belong together. */
const shapeOf = new WeakMap<Draft, readonly [Argument, Argument, Argument]>();

/** One part of the shape. */
const bufferShape = (part: 0 | 1 | 2): Taken => {
  return {
    right: (draft) => {
      let shape = shapeOf.get(draft);
      if (!shape) {
        const size = draft.pick(BUFFER_SIZES);
        const plain = draft.pick([
          0,
          cl.MEM_READ_WRITE,
          cl.MEM_READ_ONLY,
          cl.MEM_WRITE_ONLY,
          cl.MEM_ALLOC_HOST_PTR,
          null,
        ]);
        shape = draft.chance(40)
          ? withHost(draft, size)
          : [
              value(plain),
              value(draft.chance(10) ? BigInt(size) : size),
              value(draft.pick([null, undefined])),
            ];
        shapeOf.set(draft, shape);
      }
      return shape[part];
    },
    wrong: (draft) => {
      // A size that just fits into the machine would take memory from other processes.
      if (part === 1)
        return value(
          draft.pick([
            0,
            1,
            7,
            -1,
            0.5,
            Number.NaN,
            2 ** 53 - 1,
            2 ** 53,
            2n ** 63n,
            2n ** 64n - 1n,
            '8',
            null,
          ]),
        );
      return part === 0
        ? k
            .flags(cl.MEM_READ_WRITE | cl.MEM_READ_ONLY, cl.MEM_USE_HOST_PTR, cl.MEM_COPY_HOST_PTR, 0xffff)
            .right(draft)
        : k.host.wrong(draft);
    },
  };
};

const bufferLeft =
  (size: number): Leaves =>
  (draft, step, sound) =>
    draft.model.add('buffer', step.id, {
      context: draft.context,
      bytes: Math.min(65536, number(step.arguments[size])),
      doubtful: !sound,
    });

const IMAGE_PIXELS: readonly (readonly [number, number, number])[] = [
  [4, 4, 1],
  [16, 2, 1],
  [7, 5, 1],
];

const imageFlags = k.flags(cl.MEM_READ_WRITE, cl.MEM_READ_ONLY, cl.MEM_COPY_HOST_PTR, cl.MEM_USE_HOST_PTR);
/** Four floats for each of at most 64 pixels are 1024 bytes. */
const imageHost: Taken = {
  right: (draft) => {
    draft.bytes = 1024;
    return draft.chance(50) ? value(null) : k.host.right(draft);
  },
  wrong: k.host.wrong,
};
const imageSize: Taken = k.fields((draft) => {
  const [width, height] = draft.pick(IMAGE_PIXELS);
  draft.sizes.push(width, height);
  return {
    type: value(cl.MEM_OBJECT_IMAGE2D),
    width: value(width),
    height: value(height),
    ...(draft.chance(20) ? { row_pitch: value(draft.pick([0, width * 16, width * 4])) } : {}),
    ...(draft.chance(10)
      ? { depth: value(1), array_size: value(1), buffer: draft.thing(['buffer']).from }
      : {}),
  };
});
const imageLeft: Leaves = (draft, step, sound) => {
  const [width = 4, height = 4] = draft.sizes;
  const shape = { pixels: [width, height, 1] as const, bytes: width * height * 16, doubtful: !sound };
  draft.model.add('image', step.id, { context: draft.context, ...shape });
};
const side = k.count(4, 8);
const pitch = k.optional(k.oneOf(0, 64, 128));

const sources = (images: boolean) => [kernelSource(images), ...OTHER_SOURCES, HEADER, WITH_HEADER];
const source: Taken = {
  right: (draft) => value(draft.chance(60) ? kernelSource(draft.traits.images) : draft.pick(sources(false))),
  wrong: k.text('x').wrong,
};
const options = k.text(
  null,
  '',
  '-cl-kernel-arg-info',
  '-D TWICE=2 -cl-kernel-arg-info',
  '-cl-no-such-option',
);
const devices = k.optional(k.handles(k.device, 1, 2), 60);
const headers = k.optional(k.handles(k.program, 0, 2));
const headerNames: Taken = k.optional({
  right: () => list([value('one.h')]),
  wrong: k.properties().wrong,
});
const notify = k.optional(k.callback, 20);
const userData = k.optional(k.oneOf(1, 'data', Symbol.iterator.description), 30);

const kernelName: Taken = {
  right: (draft) => value(draft.pick(Object.keys(SIGNATURES))),
  wrong: k.text('no_such_kernel').wrong,
};

const mapFlags = k.flags(
  cl.MAP_READ,
  cl.MAP_WRITE,
  cl.MAP_READ | cl.MAP_WRITE,
  cl.MAP_WRITE_INVALIDATE_REGION,
);
const mapping =
  (kind: 'buffer' | 'image'): Leaves =>
  (draft, step, sound) => {
    const of = draft.chosen[kind];
    const facts = of ? { of } : {};
    const size = kind === 'buffer' ? draft.bytes : 0;
    draft.model.add('mapping', step.id, { context: draft.context, bytes: sound ? size : 0, ...facts });
    if (draft.wanted) draft.model.add('event', result(step.id, 'event'), { context: draft.context });
  };

/** Unmapping takes a mapping and the object that it maps. */
const mapped: Taken = {
  right: (draft) => {
    const of = draft.chosen.buffer ?? draft.chosen.image;
    const found = draft.model.of(['mapping'], (thing) => thing.facts.of === of);
    const chosen = draft.pick(found);
    draft.chosen.mapping = chosen;
    return chosen.from;
  },
  wrong: k.host.wrong,
};
const mappedMemory: Taken = {
  right: (draft) => {
    const of = draft.pick(
      draft.model.of(['mapping'], (thing) => thing.context === draft.context && !!thing.facts.of),
    ).facts.of as Thing;
    draft.chosen[of.kind] = of;
    return of.from;
  },
  wrong: k.memory.wrong,
};

const sharedMemory = k.handles(k.svm, 1, 2);
const svmSize: Taken = {
  right: (draft) => value(Math.max(4, Math.floor((draft.chosen.svm?.bytes ?? 64) / draft.pick([1, 2, 4])))),
  wrong: k.length().wrong,
};
/** A side of a copy: shared memory, or host memory that the copy fits into. */
const svmSide: Taken = {
  right: (draft) => (draft.chance(60) ? k.svm.right(draft) : k.hostOf(256).right(draft)),
  wrong: k.host.wrong,
};

/** Memory that any call of unified memory may receive, unified or not. */
const anyMemory: Taken = {
  right: (draft) => draft.pick(draft.model.of(['svm', 'host', 'mapping'])).from,
  wrong: k.host.wrong,
};

/** The generator does not know whether the driver supports such memory. */
const unified: Leaves = (draft, step) => {
  draft.model.add('svm', step.id, { context: draft.context, bytes: 0, doubtful: true });
};

/** Two buffers with offsets and a size for both. */
const secondBuffer: Taken = {
  right: (draft) => {
    const first = draft.chosen.buffer;
    const from = k.buffer.right(draft);
    const second = draft.chosen.buffer;
    if (first && second && first.bytes < second.bytes) draft.chosen.buffer = first; // the smaller one is the limit
    return from;
  },
  wrong: k.buffer.wrong,
};

const rect: readonly Taken[] = [
  k.boxOrigin,
  k.boxOrigin,
  k.boxRegion,
  k.rowPitch,
  k.slicePitch,
  k.rowPitch,
  k.slicePitch,
];
const tail: readonly Taken[] = [k.waitList, k.wanted];

/** The numbers of `enqueueKernels`: launches of kernels whose arguments are set, with some of these arguments. */
const launches: Taken = {
  right: (draft) => {
    const of = draft.thing(['kernel'], (thing) => ['put', 'spin'].includes(thing.facts.name ?? ''));
    const memory = draft.thing(['buffer'], (thing) => !thing.facts.doubtful && thing.bytes >= 512);
    draft.chosen.kernel = of;
    const bytes = draft.pick(
      draft.model.of(['host'], (thing) => thing.facts.memory === 'Uint8Array' && thing.bytes >= 64),
    );
    const words = [0];
    const number = 1 + draft.random.below(2);
    for (let launch = 0; launch < number; launch++) {
      const grouped = draft.chance(30);
      words.push(
        1,
        grouped ? 1 : 0,
        draft.pick([1, 4, 16]),
        ...(grouped ? [1] : []),
        2,
        0,
        0,
        0,
        0,
        1,
        1,
        4,
        4,
      );
    }
    return k
      .fields(() => ({
        words: list(words.map(value)),
        count: value(words.length),
        kernels: list(Array.from({ length: number }, () => of.from)),
        memory: list([memory.from]),
        bytes: bytes.from,
      }))
      .right(draft);
  },
  wrong: (draft) => {
    const right = launches.right(draft);
    if (right.is !== 'record') return right;
    const name = draft.pick(['words', 'words', 'words', 'count', 'kernels', 'memory', 'bytes']);
    const old = right.fields[name];
    // The words that are global sizes stay: a large one would be valid, and would run for ever.
    const spoil = (words: readonly Argument[]): Argument => {
      const at = draft.pick([1, 2, 5, 6, 7, 8, 9, 10, 11, 12].filter((i) => i < words.length));
      const spoilt = draft.pick([-1, 0, 0.5, 2, 3, 9, 1025, Number.NaN, 5]);
      return list(words.map((word, i) => (i === at ? value(spoilt) : word)));
    };
    const spoilt =
      name === 'words' && old?.is === 'list'
        ? spoil(old.items)
        : name === 'count'
          ? value(draft.pick([0, 1, 2, 7, 1000, 2 ** 31 - 1, 2 ** 32, 2 ** 53 - 1, -1]))
          : name === 'bytes'
            ? k.host.wrong(draft)
            : list([draft.pick(draft.model.things).from, ...(old?.is === 'list' ? old.items : [])]);
    return { ...right, fields: { ...right.fields, [name]: spoilt } };
  },
};

const staged: readonly Taken[] = [
  k.queue,
  k.buffer,
  k.offset,
  {
    right: (draft) => {
      draft.bytes = 0;
      draft.blocking = false;
      const freeBytes = (draft.chosen.buffer?.bytes ?? 0) - (draft.sizes.at(-1) ?? 0);
      const kinds = draft.chance(70) ? (['host'] as const) : (['mapping', 'svm'] as const);
      const fits = (thing: Thing) =>
        thing.bytes <= freeBytes && !['resizable', 'tracking'].includes(thing.facts.memory ?? '');
      return draft.pick(draft.model.of(kinds, fits)).from;
    },
    wrong: k.host.wrong,
  },
  k.hostOf(64),
  { right: (draft) => value(draft.pick([64, 32, 16])), wrong: k.length().wrong },
  k.count(1, 4),
];

/** No descriptor is open: any descriptor of this process must not be written to. */
const fromFile: readonly Taken[] = [
  k.queue,
  k.buffer,
  k.offset,
  { right: () => value(2 ** 30), wrong: (draft) => value(draft.pick([-1, 2 ** 31, 0.5, null])) },
  k.count(0, 64),
  k.count(0, 64),
  k.hostOf(64),
  { right: (draft) => value(draft.pick([64, 32, 16])), wrong: k.length().wrong },
  k.count(1, 4),
  k.optional(k.hostOf(80)),
  k.count(0, 64),
  k.hostOf(56),
];

/** Offset and size of a fill: multiples of every pattern size. */
/** A transfer between an image and host memory, whose rows and slices may have pitches. */
const imageTransfer: readonly Taken[] = [
  ...[k.queue, k.image, k.blocking, k.imageOrigin, k.imageRegion, k.oneOf(0, 0, 512), k.oneOf(0), k.host],
  ...tail,
];

const filled: readonly Taken[] = [
  {
    right: (draft) => value(16 * draft.random.below(Math.max(1, (draft.chosen.buffer?.bytes ?? 16) / 32))),
    wrong: k.offset.wrong,
  },
  { right: () => value(32), wrong: k.length().wrong },
];

/** A command buffer, with or without its queue. */
const recorded: readonly Taken[] = [k.recording, k.optional(k.queue, 10)];
/** Commands of the same command buffer, identified by the return values of their recording. */
const syncPoints: Taken = k.optional({
  right: (draft) => list([value(draft.random.below(3))]),
  wrong: k.properties().wrong,
});

const anything: Taken = {
  right: (draft) => draft.pick(draft.model.things).from,
  wrong: junk,
};

const no: Taken = {
  right: () => value(false),
  wrong: (draft) => value(draft.pick([undefined, null, 0, Number.NaN, ''])),
};

/** Arguments of a kernel, all at once. */
const kernelArguments: Taken = {
  right: (draft) => {
    const types = SIGNATURES[draft.chosen.kernel?.facts.name ?? ''] ?? [];
    return list(types.map((type) => k.argumentValue(draft, type)));
  },
  wrong: (draft) => {
    const right = kernelArguments.right(draft);
    const items = right.is === 'list' ? [...right.items] : [];
    items.splice(draft.random.below(items.length + 1), draft.random.below(2), k.kernelArgument.wrong(draft));
    return list(items);
  },
};
/** Host memory that is filled from a buffer, in a list. */
const fittingView: Taken = {
  right: (draft) => {
    const maxBytes = draft.chosen.buffer?.bytes ?? 64;
    const fits = ({ bytes, facts }: Thing) =>
      bytes > 0 && bytes <= maxBytes && !['resizable', 'tracking'].includes(facts.memory ?? '');
    return list([draft.pick(draft.model.of(['host'], fits)).from]);
  },
  wrong: (draft) => list([k.host.wrong(draft)]),
};

/** A list of host memory of at least this many bytes. */
const hosts = (bytes: number): Taken => {
  const one = k.hostOf(bytes);
  return {
    right: (draft) => listed(draft, [one.right(draft), one.right(draft)], undefined),
    wrong: (draft) => listed(draft, [one.right(draft)], one.wrong(draft)),
  };
};

/** A number, or an array. */
const workSize = (arrays: Taken): Taken => ({
  right: (draft) => {
    draft.length = 1 + draft.random.below(3);
    return draft.chance(40) ? value(draft.pick([1, 4, 16])) : arrays.right(draft);
  },
  wrong: arrays.wrong,
});

/** All functions that `clsort/opencl` exports, which a test compares, and methods of its handles. */
export const CALLS: Readonly<Record<string, Call>> = {
  // Platforms and devices
  getPlatformIDs: { takes: [], weight: 0.1 },
  getPlatformInfo: { takes: [k.platform, k.named('PLATFORM_')], weight: 0.3 },
  openclInfo: { takes: [], weight: 0.05 },
  unloadCompiler: { takes: [], weight: 0.05 },
  unloadPlatformCompiler: { takes: [k.platform], weight: 0.05 },
  // With true, all waits of the process block.
  setSingleThreaded: { takes: [k.platform, no], weight: 0.05 },
  getDeviceIDs: {
    takes: [k.platform, k.flags(cl.DEVICE_TYPE_ALL, cl.DEVICE_TYPE_CPU, cl.DEVICE_TYPE_GPU)],
    weight: 0.2,
    leaves: (draft, step, sound) => {
      if (sound) draft.model.add('device', result(step.id, 0));
    },
  },
  getDeviceInfo: info(k.anyDevice, 'DEVICE_'),
  createSubDevices: {
    takes: [k.device, k.properties([cl.DEVICE_PARTITION_EQUALLY, [1]], [cl.DEVICE_PARTITION_BY_COUNTS, [1]])],
    weight: 0.3,
    leaves: (draft, step) => draft.model.add('subdevice', result(step.id, 0)),
  },
  retainDevice: retained('device', 'subdevice'),
  releaseDevice: released('subdevice'),
  getDeviceAndHostTimer: { takes: [k.device], weight: 0.2 },
  getHostTimer: { takes: [k.device], weight: 0.2 },

  // Contexts
  createContext: {
    takes: [k.contextProperties, k.handles(k.anyDevice, 1, 1), notify, userData],
    weight: 0.4,
    leaves: (draft, step) => draft.model.add('context', step.id, { context: step.id }),
  },
  createContextFromType: {
    takes: [
      k.contextProperties,
      {
        right: (draft) => (draft.chance(50) ? value(cl.DEVICE_TYPE_ALL) : list([value(cl.DEVICE_TYPE_CPU)])),
        wrong: k.properties().wrong,
      },
      notify,
      userData,
    ],
    weight: 0.3,
    leaves: (draft, step) => draft.model.add('context', step.id, { context: step.id }),
  },
  retainContext: retained('context'),
  releaseContext: { ...released('context'), weight: 0.3 },
  getContextInfo: info(k.context, 'CONTEXT_'),
  setContextDestructorCallback: { takes: [k.context, k.callback, userData], weight: 0.2 },

  // Queues
  createCommandQueue: {
    takes: [
      k.context,
      k.device,
      {
        right: (draft) =>
          value(
            draft.pick([
              0,
              null,
              cl.QUEUE_PROFILING_ENABLE,
              ...(draft.traits.outOfOrder ? [cl.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] : []),
            ]),
          ),
        wrong: k.flags().wrong,
      },
    ],
    leaves: made('queue'),
  },
  createCommandQueueWithProperties: {
    takes: [k.context, k.device, k.properties([cl.QUEUE_PROPERTIES, [0, cl.QUEUE_PROFILING_ENABLE]])],
    leaves: made('queue'),
  },
  retainCommandQueue: retained('queue'),
  releaseCommandQueue: { ...released('queue'), weight: 0.5 },
  getCommandQueueInfo: info(k.queue, 'QUEUE_'),
  setCommandQueueProperty: { takes: [k.queue, k.flags(cl.QUEUE_PROFILING_ENABLE), k.flag], weight: 0.1 },
  setDefaultDeviceCommandQueue: { takes: [k.context, k.device, k.queue], weight: 0.1 },
  flush: { takes: [k.queue], weight: 1 },
  finish: { takes: [k.queue], weight: 0.7 },
  finishAsync: { takes: [k.queue], weight: 1 },

  // Memory
  createBuffer: {
    takes: [k.context, bufferShape(0), bufferShape(1), bufferShape(2)],
    weight: 3,
    leaves: bufferLeft(2),
  },
  createBufferWithProperties: {
    takes: [k.context, k.properties(), bufferShape(0), bufferShape(1), bufferShape(2)],
    weight: 0.5,
    leaves: bufferLeft(3),
  },
  createSubBuffer: {
    takes: [k.buffer, k.flags(0, cl.MEM_READ_WRITE), k.oneOf(cl.BUFFER_CREATE_TYPE_REGION), k.region],
    weight: 1,
    leaves: (draft, step, sound) =>
      draft.model.add('buffer', step.id, {
        context: draft.context,
        bytes: sound ? draft.bytes : 0,
        part: true,
        doubtful: !sound || !!draft.chosen.buffer?.facts.doubtful,
      }),
  },
  createImage: {
    takes: [k.context, imageFlags, k.imageFormat, imageSize, imageHost],
    weight: 1,
    leaves: imageLeft,
  },
  createImageWithProperties: {
    takes: [k.context, k.properties(), imageFlags, k.imageFormat, imageSize, imageHost],
    weight: 0.3,
    leaves: imageLeft,
  },
  createImage2D: {
    takes: [k.context, imageFlags, k.imageFormat, side, side, pitch, imageHost],
    weight: 0.4,
    leaves: imageLeft,
  },
  createImage3D: {
    takes: [k.context, imageFlags, k.imageFormat, side, side, k.count(1, 2), pitch, pitch, imageHost],
    weight: 0.3,
    leaves: (draft, step) =>
      draft.model.add('image', step.id, {
        context: draft.context,
        pixels: [4, 4, 1],
        bytes: 2048,
        doubtful: true,
      }),
  },
  createPipe: {
    takes: [k.context, k.flags(0), k.count(4, 16), k.count(1, 8), k.properties()],
    weight: 0.2,
    leaves: made('pipe'),
  },
  retainMemObject: retained('buffer', 'image'),
  releaseMemObject: { ...released('buffer', 'image'), weight: 1.5 },
  getMemObjectInfo: info(k.memory, 'MEM_'),
  getImageInfo: info(k.image, 'IMAGE_'),
  getPipeInfo: { takes: [handle('pipe', 'buffer'), k.named('PIPE_')], weight: 0.1 },
  getSupportedImageFormats: {
    takes: [
      k.context,
      k.flags(cl.MEM_READ_WRITE, cl.MEM_READ_ONLY),
      k.oneOf(cl.MEM_OBJECT_IMAGE2D, cl.MEM_OBJECT_IMAGE1D),
    ],
    weight: 0.3,
  },
  setMemObjectDestructorCallback: { takes: [k.memory, k.callback, userData], weight: 0.5 },

  // Samplers
  createSampler: {
    takes: [
      k.context,
      k.oneOf(false),
      k.oneOf(cl.ADDRESS_CLAMP_TO_EDGE, cl.ADDRESS_CLAMP),
      k.oneOf(cl.FILTER_NEAREST),
    ],
    weight: 0.5,
    leaves: made('sampler'),
  },
  createSamplerWithProperties: {
    takes: [
      k.context,
      k.properties([cl.SAMPLER_FILTER_MODE, [cl.FILTER_NEAREST]], [cl.SAMPLER_NORMALIZED_COORDS, [false]]),
    ],
    weight: 0.3,
    leaves: made('sampler'),
  },
  retainSampler: retained('sampler'),
  releaseSampler: { ...released('sampler'), weight: 0.3 },
  getSamplerInfo: info(k.sampler, 'SAMPLER_'),

  // Programs
  createProgramWithSource: { takes: [k.context, source], weight: 0.4, leaves: made('program') },
  createProgramWithBinary: {
    takes: [
      k.context,
      k.handles(k.device, 1, 1),
      { right: () => list([value(64)]), wrong: k.properties().wrong },
      k.handles(k.bytes(64), 1, 1),
    ],
    weight: 0.1,
    leaves: made('program'),
  },
  createProgramWithBuiltInKernels: {
    takes: [k.context, k.handles(k.device, 1, 1), k.text('nothing', 'a;b', '')],
    weight: 0.2,
    leaves: made('program'),
  },
  createProgramWithIL: { takes: [k.context, k.bytes(64)], weight: 0.1, leaves: made('program') },
  retainProgram: retained('program'),
  releaseProgram: { ...released('program'), weight: 0.3 },
  buildProgram: { takes: [k.program, devices, options, notify, userData], weight: 0.3 },
  buildProgramAsync: { takes: [k.program, devices, options], weight: 0.4 },
  compileProgram: {
    takes: [k.program, devices, options, headers, headerNames, notify, userData],
    weight: 0.2,
  },
  compileProgramAsync: { takes: [k.program, devices, options, headers, headerNames], weight: 0.2 },
  linkProgram: {
    takes: [k.context, devices, options, k.handles(k.program, 1, 2), notify, userData],
    weight: 0.2,
    leaves: made('program'),
  },
  getProgramInfo: info(k.program, 'PROGRAM_'),
  getProgramBuildInfo: { takes: [k.program, k.device, k.named('PROGRAM_B')], weight: 0.3 },
  setProgramReleaseCallback: { takes: [k.program, k.callback, userData], weight: 0.1 },
  setProgramSpecializationConstant: { takes: [k.program, k.count(0, 4), k.bytes(4, 8)], weight: 0.1 },

  // Kernels
  createKernel: {
    takes: [k.program, kernelName],
    weight: 1,
    leaves: (draft, step, sound) => {
      const [, name] = step.arguments;
      if (sound && name?.is === 'value') {
        draft.model.add('kernel', step.id, { context: draft.context, name: String(name.value) });
      }
    },
  },
  createKernelsInProgram: { takes: [k.program], weight: 0.2 },
  cloneKernel: {
    takes: [k.kernel],
    weight: 0.3,
    leaves: (draft, step) => {
      const name = draft.chosen.kernel?.facts.name;
      if (name) draft.model.add('kernel', step.id, { context: draft.context, name });
    },
  },
  retainKernel: retained('kernel'),
  releaseKernel: { ...released('kernel'), weight: 0.4 },
  setKernelArg: { takes: [k.kernel, k.argumentIndex, k.argumentType, k.kernelArgument], weight: 3 },
  setKernelArgSVMPointer: {
    takes: [k.kernel, { right: () => value(0), wrong: k.argumentIndex.wrong }, k.svm],
    weight: 1,
  },
  setKernelExecInfo: {
    takes: [k.kernel, k.oneOf(cl.KERNEL_EXEC_INFO_SVM_PTRS), sharedMemory],
    weight: 0.5,
  },
  getKernelInfo: info(k.kernel, 'KERNEL_'),
  getKernelArgInfo: { takes: [k.kernel, k.argumentIndex, k.named('KERNEL_ARG_')], weight: 0.5 },
  getKernelWorkGroupInfo: { takes: [k.kernel, k.optional(k.device), k.named('KERNEL_')], weight: 0.5 },
  getKernelSubGroupInfo: {
    takes: [
      k.kernel,
      k.optional(k.device),
      k.named('KERNEL_'),
      k.optional({ right: () => list([value(4)]), wrong: k.globalSize.wrong }),
    ],
    weight: 0.3,
  },
  enqueueNDRangeKernel: {
    takes: [k.queue, k.kernel, k.dimensions, k.globalOffset, k.globalSize, k.localSize, ...tail],
    weight: 3,
    leaves: event,
  },
  'kernel.signature': { takes: [k.kernel], weight: 0.3 },
  'kernel.call': {
    takes: [k.kernel, k.queue, workSize(k.globalSize), k.optional(k.oneOf(1, [1])), kernelArguments],
    weight: 2,
    leaves: (draft, step) => {
      draft.model.add('event', step.id, { context: draft.context });
    },
  },
  enqueueTask: { takes: [k.queue, k.kernel, ...tail], weight: 0.7, leaves: event },
  enqueueNativeKernel: { takes: [], weight: 0.05 },
  enqueueKernels: {
    takes: [k.queue, launches, k.wanted],
    weight: 1.5,
    leaves: (draft, step) => {
      if (draft.wanted) draft.model.add('event', result(step.id, 0), { context: draft.context });
    },
  },

  // Events
  createUserEvent: {
    takes: [k.context],
    weight: 1.5,
    leaves: made('event', () => ({ isUserEvent: true })),
  },
  setUserEventStatus: {
    takes: [
      {
        right: (draft) => draft.thing(['event'], (thing) => !!thing.facts.isUserEvent).from,
        wrong: k.event.wrong,
      },
      {
        right: (draft) => value(draft.chance(80) ? cl.COMPLETE : draft.pick([-1, -5, -9999])),
        wrong: (draft) =>
          value(draft.pick([1, 2, 3, 2 ** 31, 2 ** 32, 2 ** 32 - 1, -(2 ** 31), -(2 ** 32), 0.5, null, 0n])),
      },
    ],
    weight: 1,
  },
  retainEvent: retained('event'),
  releaseEvent: { ...released('event'), weight: 1 },
  getEventInfo: info(k.event, 'EVENT_'),
  getEventProfilingInfo: { takes: [k.event, k.named('PROFILING_')], weight: 0.5 },
  setEventCallback: {
    takes: [k.event, k.oneOf(cl.COMPLETE, cl.COMPLETE, cl.RUNNING, cl.SUBMITTED), k.callback, userData],
    weight: 1.5,
  },
  waitForEvents: { takes: [k.handles(k.event, 1, 3)], weight: 0.7 },
  waitForEventsAsync: { takes: [k.handles(k.event, 1, 3)], weight: 1.5 },
  lookAt: { takes: [k.event, k.oneOf(0, 0, 50, 1000)], weight: 0.7 },

  // Transfers
  enqueueReadBuffer: {
    takes: [k.queue, k.buffer, k.blocking, k.offset, k.length(), k.host, ...tail],
    weight: 4,
    leaves: event,
  },
  readAndLook: {
    takes: [
      k.queue,
      k.handles(k.buffer, 1, 1),
      { right: () => list([value(0)]), wrong: (draft) => list([k.offset.wrong(draft)]) },
      fittingView,
      k.oneOf(0, 20, 1000),
    ],
    weight: 2,
  },
  enqueueWriteBuffer: {
    takes: [k.queue, k.buffer, k.blocking, k.offset, k.length(), k.host, ...tail],
    weight: 4,
    leaves: event,
  },
  enqueueReadBufferRect: {
    takes: [k.queue, k.buffer, k.blocking, ...rect, k.host, ...tail],
    weight: 1,
    leaves: event,
  },
  enqueueWriteBufferRect: {
    takes: [k.queue, k.buffer, k.blocking, ...rect, k.host, ...tail],
    weight: 1,
    leaves: event,
  },
  enqueueCopyBuffer: {
    takes: [k.queue, k.buffer, secondBuffer, k.offset, k.offset, k.length(), ...tail],
    weight: 2,
    leaves: event,
  },
  enqueueCopyBufferRect: {
    takes: [k.queue, k.buffer, secondBuffer, ...rect, ...tail],
    weight: 1,
    leaves: event,
  },
  enqueueFillBuffer: { takes: [k.queue, k.buffer, k.pattern, ...filled, ...tail], weight: 2, leaves: event },
  enqueueReadImage: { takes: imageTransfer, weight: 1, leaves: event },
  enqueueWriteImage: { takes: imageTransfer, weight: 1, leaves: event },
  enqueueFillImage: {
    takes: [k.queue, k.image, k.color, k.imageOrigin, k.imageRegion, ...tail],
    weight: 0.7,
    leaves: event,
  },
  enqueueCopyImage: {
    takes: [k.queue, k.image, k.image, k.imageOrigin, k.imageOrigin, k.imageRegion, ...tail],
    weight: 0.7,
    leaves: event,
  },
  enqueueCopyImageToBuffer: {
    takes: [k.queue, k.image, k.buffer, k.imageOrigin, k.imageRegion, k.offset, ...tail],
    weight: 0.7,
    leaves: event,
  },
  enqueueCopyBufferToImage: {
    takes: [k.queue, k.buffer, k.image, k.offset, k.imageOrigin, k.imageRegion, ...tail],
    weight: 0.7,
    leaves: event,
  },
  enqueueMapBuffer: {
    takes: [k.queue, k.buffer, k.blocking, mapFlags, k.offset, k.length(), ...tail],
    weight: 2,
    leaves: mapping('buffer'),
  },
  enqueueMapImage: {
    takes: [k.queue, k.image, k.blocking, mapFlags, k.imageOrigin, k.imageRegion, ...tail],
    weight: 0.7,
    leaves: mapping('image'),
  },
  enqueueUnmapMemObject: {
    takes: [k.queue, mappedMemory, mapped, ...tail],
    weight: 1.5,
    leaves: (draft, step, sound) => {
      if (sound) gone(draft.chosen.mapping);
      event(draft, step, sound);
    },
  },
  enqueueMigrateMemObjects: {
    takes: [k.queue, k.handles(k.memory, 1, 2), k.flags(0, cl.MIGRATE_MEM_OBJECT_HOST), ...tail],
    weight: 0.5,
    leaves: event,
  },
  enqueueMarkerWithWaitList: { takes: [k.queue, ...tail], weight: 1, leaves: event },
  enqueueBarrierWithWaitList: { takes: [k.queue, ...tail], weight: 0.7, leaves: event },
  enqueueMarker: { takes: [k.queue, k.wanted], weight: 0.3, leaves: event },
  enqueueBarrier: { takes: [k.queue], weight: 0.2 },
  enqueueWaitForEvents: { takes: [k.queue, k.handles(k.event, 1, 2)], weight: 0.5 },

  // Shared virtual memory
  SVMAlloc: {
    takes: [
      k.context,
      k.flags(0, cl.MEM_READ_WRITE),
      k.oneOf(512, 1024, 4096),
      k.optional(k.oneOf(0, 8, 64)),
    ],
    weight: 1,
    leaves: (draft, step, sound) => {
      const bytes = number(step.arguments[2]);
      draft.model.add('svm', step.id, {
        context: draft.context,
        bytes: bytes <= 4096 && sound ? bytes : 0,
        doubtful: !sound,
      });
    },
  },
  SVMFree: {
    takes: [k.context, k.svm],
    weight: 0.5,
    leaves: (draft, _step, sound) => {
      if (sound) gone(draft.chosen.svm);
    },
  },
  enqueueSVMFree: {
    takes: [k.queue, k.handles(k.svm, 1, 1), k.optional(k.callback), userData, ...tail],
    weight: 0.5,
    leaves: (draft, step, sound) => {
      gone(draft.chosen.svm);
      event(draft, step, sound);
    },
  },
  enqueueSVMMemcpy: {
    takes: [
      k.queue,
      k.blocking,
      svmSide,
      svmSide,
      { right: (draft) => value(draft.pick([1, 64, 256])), wrong: k.length().wrong },
      ...tail,
    ],
    weight: 1,
    leaves: event,
  },
  enqueueSVMMemFill: { takes: [k.queue, k.svm, k.bytes(4, 8), svmSize, ...tail], weight: 1, leaves: event },
  enqueueSVMMap: {
    takes: [k.queue, k.blocking, mapFlags, k.svm, svmSize, ...tail],
    weight: 0.7,
    leaves: event,
  },
  enqueueSVMUnmap: { takes: [k.queue, k.svm, ...tail], weight: 0.7, leaves: event },
  enqueueSVMMigrateMem: {
    takes: [
      k.queue,
      sharedMemory,
      k.optional({
        right: (draft) => list(Array.from({ length: draft.length }, () => value(64))),
        wrong: k.properties().wrong,
      }),
      k.flags(0),
      ...tail,
    ],
    weight: 0.4,
    leaves: event,
  },

  // Unified shared memory: drivers without the extension refuse it; its calls also receive other memory, and vice versa
  hostMemAllocINTEL: {
    takes: [k.context, k.properties(), k.oneOf(64, 512), k.optional(k.oneOf(0, 8, 64))],
    weight: 0.3,
    leaves: unified,
  },
  sharedMemAllocINTEL: {
    takes: [k.context, k.optional(k.device), k.properties(), k.oneOf(64, 512), k.optional(k.oneOf(0, 8, 64))],
    weight: 0.3,
    leaves: unified,
  },
  deviceMemAllocINTEL: { takes: [k.context], weight: 0.05 },
  memFreeINTEL: { takes: [k.context, anyMemory], weight: 0.3 },
  getMemAllocInfoINTEL: {
    takes: [k.context, anyMemory, k.named('MEM_ALLOC_')],
    weight: 0.3,
  },
  setKernelArgMemPointerINTEL: {
    takes: [k.kernel, { right: () => value(0), wrong: k.argumentIndex.wrong }, anyMemory],
    weight: 0.3,
  },
  enqueueMemcpyINTEL: {
    takes: [k.queue, k.blocking, anyMemory, anyMemory, k.oneOf(1, 64), ...tail],
    weight: 0.5,
    leaves: event,
  },
  enqueueMemFillINTEL: {
    takes: [k.queue, anyMemory, k.bytes(4, 8), k.oneOf(8, 64), ...tail],
    weight: 0.5,
    leaves: event,
  },

  // Extensions
  getExtensionFunctions: { takes: [k.platform], weight: 0.05 },
  enqueueAcquireExternalMemObjectsKHR: {
    takes: [k.queue, k.handles(k.memory, 1, 2), ...tail],
    weight: 0.05,
    leaves: event,
  },
  enqueueReleaseExternalMemObjectsKHR: {
    takes: [k.queue, k.handles(k.memory, 1, 2), ...tail],
    weight: 0.05,
    leaves: event,
  },
  createCommandBufferKHR: {
    takes: [k.handles(k.queue, 1, 1), k.properties()],
    weight: 0.5,
    leaves: made('recording'),
  },
  finalizeCommandBufferKHR: {
    takes: [k.recording],
    weight: 1,
    leaves: (draft, _step, sound) => {
      const { recording } = draft.chosen;
      if (!sound || !recording) return;
      gone(recording);
      draft.model.add('commandBuffer', recording.from, { context: recording.context });
    },
  },
  enqueueCommandBufferKHR: {
    takes: [k.optional(k.handles(k.queue, 1, 1)), k.commandBuffer, ...tail],
    weight: 2,
    leaves: event,
  },
  retainCommandBufferKHR: retained('commandBuffer', 'recording'),
  releaseCommandBufferKHR: { ...released('commandBuffer', 'recording'), weight: 0.3 },
  getCommandBufferInfoKHR: info(handle('commandBuffer', 'recording'), 'COMMAND_BUFFER_'),
  commandBarrierWithWaitListKHR: { takes: [...recorded, syncPoints], weight: 0.5 },
  commandCopyBufferKHR: {
    takes: [...recorded, k.buffer, secondBuffer, k.offset, k.offset, k.length(), syncPoints],
    weight: 0.5,
  },
  commandCopyBufferRectKHR: {
    takes: [...recorded, k.buffer, secondBuffer, ...rect, syncPoints],
    weight: 0.3,
  },
  commandCopyBufferToImageKHR: {
    takes: [...recorded, k.buffer, k.image, k.offset, k.imageOrigin, k.imageRegion, syncPoints],
    weight: 0.3,
  },
  commandCopyImageKHR: {
    takes: [...recorded, k.image, k.image, k.imageOrigin, k.imageOrigin, k.imageRegion, syncPoints],
    weight: 0.3,
  },
  commandCopyImageToBufferKHR: {
    takes: [...recorded, k.image, k.buffer, k.imageOrigin, k.imageRegion, k.offset, syncPoints],
    weight: 0.3,
  },
  commandFillBufferKHR: { takes: [...recorded, k.buffer, k.pattern, ...filled, syncPoints], weight: 0.5 },
  commandFillImageKHR: {
    takes: [...recorded, k.image, k.color, k.imageOrigin, k.imageRegion, syncPoints],
    weight: 0.3,
  },
  commandNDRangeKernelKHR: {
    takes: [
      ...recorded,
      k.properties(),
      k.kernel,
      k.dimensions,
      k.globalOffset,
      k.globalSize,
      k.localSize,
      syncPoints,
    ],
    weight: 1,
  },

  // Functions of the binding beyond OpenCL
  hashAsync: {
    takes: [k.hostOf(0), k.hostOf(80)],
    weight: 0.4,
  },
  multisetAsync: {
    takes: [k.hostOf(8), k.oneOf(1, 2, 4, 8), k.hostOf(32), k.hostOf(16), k.count(1, 4)],
    weight: 0.4,
  },
  copyAsync: { takes: [hosts(1), hosts(64), k.count(1, 4)], weight: 0.4 },
  joinAsync: { takes: [hosts(1), k.hostOf(1), k.count(1, 4)], weight: 0.4 },
  placeAsync: {
    takes: [
      k.hostOf(8),
      k.oneOf(1, 2, 4, 8),
      k.hostOf(56),
      k.hostOf(0),
      k.hostOf(0),
      k.count(0, 63),
      k.hostOf(8),
      k.hostOf(4),
      k.count(1, 4),
    ],
    weight: 0.4,
  },
  splitAsync: {
    takes: [
      k.hostOf(8),
      k.oneOf(1, 2, 4, 8),
      k.hostOf(56),
      k.hostOf(0),
      k.hostOf(0),
      k.count(0, 63),
      k.optional(k.hostOf(8)),
      k.oneOf(0, 1, 4, 16),
      { right: () => value([null]), wrong: () => value([{}]) },
      k.optional({ right: () => value([null]), wrong: () => value([{}, null]) }),
      k.hostOf(4),
      k.count(1, 4),
    ],
    weight: 0.4,
  },
  'handle.equals': { takes: [handle('event', 'context', 'buffer', 'kernel'), anything], weight: 0.3 },
  writeBufferAsync: { takes: staged, weight: 1 },
  readBufferAsync: { takes: [...staged, k.optional(k.flag)], weight: 1 },
  allocateFileAsync: {
    takes: [fromFile[3] as Taken, k.count(0, 64), k.count(0, 64), k.hostOf(8)],
    weight: 0.2,
  },
  prepareMappingAsync: { takes: [k.queue, k.buffer], weight: 0.3 },
  writeBufferFromFileAsync: { takes: fromFile, weight: 0.5 },
  readBufferToFileAsync: { takes: fromFile, weight: 0.5 },
  allocateHostMemory: {
    takes: [
      {
        right: (draft) => value(draft.pick([0, 1, 64, 4096, 1 << 20])),
        wrong: (draft) =>
          value(draft.pick([-1, 0.5, 2 ** 53 - 1, 2n ** 63n, 2n ** 64n - 1n, 2n ** 64n - 4096n, null])),
      },
      k.optional(k.count(0, 3)),
      k.optional(k.flag),
    ],
    weight: 0.5,
    leaves: (draft, step, sound) => {
      if (sound)
        draft.model.add('host', step.id, { bytes: number(step.arguments[0]), memory: 'ArrayBuffer' });
    },
  },
  checksumAsync: {
    takes: [k.hostOf(0), k.hostOf(8), k.count(1, 4)],
    weight: 0.7,
  },
  releaseAsync: {
    takes: [
      handle(
        'queue',
        'context',
        'event',
        'kernel',
        'buffer',
        'image',
        'program',
        'sampler',
        'subdevice',
        'recording',
        'commandBuffer',
      ),
    ],
    weight: 0.7,
    leaves: (draft, _step, sound) => {
      if (sound) for (const thing of Object.values(draft.chosen)) gone(thing);
    },
  },
  releaseAll: {
    takes: [k.fields((draft) => ({ contexts: value(draft.chance(20)) }))],
    weight: 0.06,
    leaves: (draft) => draft.model.releaseAll(true),
  },
};
