import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { packageRoot } from '../../src/util/paths.js';
import { kernel, type Opened, opened } from './devices.js';

type Call = (...args: never[]) => unknown;

/** Creates arguments that a case may destroy, and releases the remaining ones. */
class Fresh {
  readonly made: Disposable[] = [];
  readonly svm = new Set<ArrayBuffer>();
  readonly device: cl.Device;
  readonly context: cl.Context;
  readonly queue: cl.CommandQueue;
  readonly program: cl.Program;
  readonly kernel: cl.Kernel;
  readonly buffer: cl.MemObject;
  readonly waits: readonly cl.Event[];
  /** Without argument info from the driver, a vector must be passed as bytes. */
  readonly vector: number[] | Uint32Array;

  constructor({ device, queue, version }: Opened, add: cl.Kernel) {
    this.device = device;
    this.context = this.own(cl.getCommandQueueInfo(queue, cl.QUEUE_CONTEXT) as cl.Context);
    this.queue = this.own(cl.createCommandQueue(this.context, device, 0));
    this.program = this.own(cl.getKernelInfo(add, cl.KERNEL_PROGRAM) as cl.Program);
    this.kernel = this.own(cl.createKernel(this.program, 'add'));
    this.buffer = this.memory();
    this.vector = version >= 120 ? [1, 2, 3, 4] : Uint32Array.of(1, 2, 3, 4);
    this.waits = [this.own(cl.enqueueMarker(this.queue, true))];
    cl.finish(this.queue);
    cl.setKernelArg(this.kernel, 0, 'uint*', this.buffer);
    cl.setKernelArg(this.kernel, 1, 'uint4', [1, 2, 3, 4]);
  }

  own<T extends Disposable>(handle: T): T {
    this.made.push(handle);
    return handle;
  }
  memory(): cl.MemObject {
    return this.own(cl.createBuffer(this.context, cl.MEM_READ_WRITE, 64));
  }
  image(): cl.MemObject {
    return this.own(cl.createImage2D(this.context, 0, FORMAT, 4, 4, 0, null));
  }
  shared(): ArrayBuffer {
    const memory = cl.SVMAlloc(this.context, 0, 64, 0) as ArrayBuffer;
    this.svm.add(memory);
    return memory;
  }
  end(): void {
    if (!this.queue.released) cl.finish(this.queue);
    for (const memory of this.svm) cl.SVMFree(this.context, memory);
    for (const handle of this.made.reverse()) handle[Symbol.dispose]();
  }
}

const FORMAT = { channel_order: cl.RGBA, channel_data_type: cl.UNSIGNED_INT8 };
const SHAPE = { type: cl.MEM_OBJECT_IMAGE2D, width: 4, height: 4 };
const ORIGIN = [0, 0, 0];
const REGION = [4, 4, 1];
const fixed = (bytes = 64) => new Uint8Array(bytes);
const Resizable = ArrayBuffer as new (bytes: number, options: { maxByteLength: number }) => ArrayBuffer;
const elastic = () => new Uint8Array(new Resizable(64, { maxByteLength: 128 }));

/** One launch that sets argument 0. */
const enqueueKernels = (queue: cl.CommandQueue, kernels: cl.Kernel[], memory: cl.MemObject[]) => {
  const words = Float64Array.of(0, 1, 0, 1, 1, 0, 0, 0, 0);
  return cl.enqueueKernels(queue, { words, count: words.length, kernels, memory, bytes: fixed(4) });
};

const callKernel = (self: cl.Kernel, ...args: Parameters<cl.Kernel['call']>) => self.call(...args);

/** Every function that takes an array or an object, with valid arguments. */
const EVERYWHERE: readonly [Call, (f: Fresh) => unknown[]][] = [
  [cl.enqueueNDRangeKernel, (f) => [f.queue, f.kernel, 2, [0, 0], [1, 1], [1, 1], f.waits, false]],
  [cl.enqueueTask, (f) => [f.queue, f.kernel, f.waits, false]],
  [callKernel, (f) => [f.kernel, f.queue, [1, 1], [1, 1], f.buffer, f.vector]],
  [enqueueKernels, (f) => [f.queue, [f.kernel], [f.buffer]]],
  [cl.setKernelArg, (f) => [f.kernel, 1, 'uint4', [1, 2, 3, 4]]],
  [cl.createContext, (f) => [[cl.CONTEXT_PLATFORM, platformOf(f)], [f.device]]],
  [cl.createContextFromType, (f) => [[cl.CONTEXT_PLATFORM, platformOf(f)], [cl.DEVICE_TYPE_ALL]]],
  [cl.createCommandQueueWithProperties, (f) => [f.context, f.device, [cl.QUEUE_PROPERTIES, 0]]],
  [cl.createSamplerWithProperties, (f) => [f.context, [cl.SAMPLER_NORMALIZED_COORDS, true]]],
  [cl.createSubDevices, (f) => [f.device, [cl.DEVICE_PARTITION_EQUALLY, 1]]],
  [cl.createSubBuffer, (f) => [f.buffer, 0, cl.BUFFER_CREATE_TYPE_REGION, { origin: 0, size: 4 }]],
  [cl.createBufferWithProperties, (f) => [f.context, [1, 2], cl.MEM_COPY_HOST_PTR, 64, fixed()]],
  [cl.createProgramWithBinary, (f) => [f.context, [f.device], [64], [fixed()]]],
  [cl.createProgramWithBinary, (f) => [f.context, [f.device], [64], [elastic()]]],
  [cl.createProgramWithBuiltInKernels, (f) => [f.context, [f.device], ['a', 'b']]],
  [cl.buildProgram, (f) => [f.program, [f.device], '']],
  [cl.buildProgramAsync, (f) => [f.program, [f.device], '']],
  [cl.compileProgram, (f) => [f.program, [f.device], '', [f.program], ['header.h']]],
  [cl.compileProgramAsync, (f) => [f.program, [f.device], '', [f.program], ['header.h']]],
  [cl.linkProgram, (f) => [f.context, [f.device], '', [f.program]]],
  [cl.getKernelSubGroupInfo, (f) => [f.kernel, f.device, cl.KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, [4, 1]]],
  [cl.waitForEvents, (f) => [f.waits]],
  [cl.waitForEventsAsync, (f) => [f.waits]],
  [cl.enqueueMarkerWithWaitList, (f) => [f.queue, f.waits, false]],
  [cl.enqueueBarrierWithWaitList, (f) => [f.queue, f.waits, false]],
  [cl.enqueueWaitForEvents, (f) => [f.queue, f.waits]],
  [cl.enqueueReadBuffer, (f) => [f.queue, f.buffer, true, 0, 64, fixed(), f.waits, false]],
  [cl.enqueueReadBuffer, (f) => [f.queue, f.buffer, true, 0, 64, elastic(), f.waits, false]],
  [cl.enqueueReadBuffer, (f) => [f.queue, f.buffer, false, 0, 64, fixed(), f.waits, false]],
  [cl.enqueueWriteBuffer, (f) => [f.queue, f.buffer, true, 0, 64, elastic(), f.waits, false]],
  [cl.enqueueWriteBuffer, (f) => [f.queue, f.buffer, false, 0, 64, fixed(), f.waits, false]],
  [
    cl.enqueueReadBufferRect,
    (f) => [f.queue, f.buffer, true, ORIGIN, ORIGIN, REGION, 0, 0, 0, 0, elastic(), f.waits, false],
  ],
  [
    cl.enqueueWriteBufferRect,
    (f) => [f.queue, f.buffer, true, ORIGIN, ORIGIN, REGION, 0, 0, 0, 0, elastic(), f.waits, false],
  ],
  [cl.enqueueCopyBuffer, (f) => [f.queue, f.buffer, f.memory(), 0, 0, 64, f.waits, false]],
  [
    cl.enqueueCopyBufferRect,
    (f) => [f.queue, f.buffer, f.memory(), ORIGIN, ORIGIN, REGION, 0, 0, 0, 0, f.waits, false],
  ],
  [cl.enqueueFillBuffer, (f) => [f.queue, f.buffer, fixed(4), 0, 64, f.waits, false]],
  [cl.enqueueMapBuffer, (f) => [f.queue, f.buffer, true, cl.MAP_READ, 0, 64, f.waits, false]],
  [cl.enqueueMigrateMemObjects, (f) => [f.queue, [f.buffer, f.memory()], 0, f.waits, false]],
];

const ON_SHARED_MEMORY: typeof EVERYWHERE = [
  [cl.setKernelExecInfo, (f) => [f.kernel, cl.KERNEL_EXEC_INFO_SVM_PTRS, [f.shared()]]],
  [cl.enqueueSVMFree, (f) => [f.queue, [f.shared()], null, null, f.waits, false]],
  [cl.enqueueSVMMemcpy, (f) => [f.queue, true, f.shared(), elastic(), 64, f.waits, false]],
  [cl.enqueueSVMMemFill, (f) => [f.queue, f.shared(), fixed(4), 64, f.waits, false]],
  [cl.enqueueSVMMap, (f) => [f.queue, true, cl.MAP_WRITE, f.shared(), 64, f.waits, false]],
  [cl.enqueueSVMUnmap, (f) => [f.queue, f.shared(), f.waits, false]],
  [cl.enqueueSVMMigrateMem, (f) => [f.queue, [f.shared()], [64], 0, f.waits, false]],
];

const ON_IMAGES: typeof EVERYWHERE = [
  [cl.createImage, (f) => [f.context, cl.MEM_COPY_HOST_PTR, FORMAT, SHAPE, fixed()]],
  [cl.createImageWithProperties, (f) => [f.context, [1, 2], cl.MEM_COPY_HOST_PTR, FORMAT, SHAPE, fixed()]],
  [cl.createImage2D, (f) => [f.context, cl.MEM_COPY_HOST_PTR, FORMAT, 4, 4, 0, elastic()]],
  [cl.createImage3D, (f) => [f.context, cl.MEM_COPY_HOST_PTR, FORMAT, 4, 2, 2, 0, 0, elastic()]],
  [cl.enqueueReadImage, (f) => [f.queue, f.image(), true, ORIGIN, REGION, 0, 0, elastic(), f.waits, false]],
  [cl.enqueueWriteImage, (f) => [f.queue, f.image(), true, ORIGIN, REGION, 0, 0, elastic(), f.waits, false]],
  [cl.enqueueFillImage, (f) => [f.queue, f.image(), [1, 2, 3, 4], ORIGIN, REGION, f.waits, false]],
  [cl.enqueueCopyImage, (f) => [f.queue, f.image(), f.image(), ORIGIN, ORIGIN, REGION, f.waits, false]],
  [cl.enqueueCopyImageToBuffer, (f) => [f.queue, f.image(), f.buffer, ORIGIN, REGION, 0, f.waits, false]],
  [cl.enqueueCopyBufferToImage, (f) => [f.queue, f.buffer, f.image(), 0, ORIGIN, REGION, f.waits, false]],
  [cl.enqueueMapImage, (f) => [f.queue, f.image(), true, cl.MAP_READ, ORIGIN, REGION, f.waits, false]],
];

const platformOf = (f: Fresh): cl.Platform => cl.getDeviceInfo(f.device, cl.DEVICE_PLATFORM);

const RELEASE: readonly [abstract new () => unknown, (handle: never) => unknown][] = [
  [cl.Context, cl.releaseContext],
  [cl.CommandQueue, cl.releaseCommandQueue],
  [cl.MemObject, cl.releaseMemObject],
  [cl.Program, cl.releaseProgram],
  [cl.Kernel, cl.releaseKernel],
  [cl.Event, cl.releaseEvent],
];

const isPlain = (value: unknown): value is object =>
  Array.isArray(value) || (value !== null && Object.getPrototypeOf(value) === Object.prototype);

/** All ways to release or detach an argument of a call while the call reads its arguments. */
function strikes(args: readonly unknown[], f: Fresh): (() => unknown)[] {
  return args.flatMap((value) => {
    if (isPlain(value)) return strikes(Object.values(value), f);
    const release = RELEASE.find(([type]) => value instanceof type)?.[1];
    if (release) return [() => release(value as never)];
    const buffer = ArrayBuffer.isView(value) ? value.buffer : value;
    if (!(buffer instanceof ArrayBuffer)) return [];
    if (f.svm.has(buffer)) return [() => cl.SVMFree(f.context, buffer)];
    const transfer = () => structuredClone(buffer, { transfer: [buffer] });
    const { resize } = buffer as unknown as { resize(bytes: number): void };
    return (buffer as { resizable?: boolean }).resizable
      ? [transfer, () => resize.call(buffer, 3)]
      : [transfer];
  });
}

/** Arrays and objects that call `strike` when their last element or property, or any of them, is read. */
const TRAPS: Readonly<Record<string, (value: object, strike: () => void) => object>> = {
  getter(value, strike) {
    const copy = Array.isArray(value) ? [...value] : { ...value };
    const [name, was] = Object.entries(copy).at(-1) ?? ['0', undefined];
    return Object.defineProperty(copy, name, {
      get() {
        strike();
        return was;
      },
    });
  },
  // V8 does not treat a proxy of an array as an array; a hole is looked up in the prototype, which may be a proxy.
  proxy(value, strike) {
    const get = (_: object, name: string | symbol) => {
      if (typeof name === 'string') strike();
      return Reflect.get(value, name);
    };
    return Array.isArray(value)
      ? Object.setPrototypeOf(new Array(value.length), new Proxy([], { get }))
      : new Proxy(value, { get });
  },
};

for (const device of opened) {
  const title = (claim: string): string => `${device.name}: ${claim}`;
  const add = kernel(device, 'kernel void add(global uint* out, uint4 n) { *out += n.x; }');
  const svm = device.version >= 200 && cl.getDeviceInfo(device.device, cl.DEVICE_SVM_CAPABILITIES) > 0;
  const table = [...EVERYWHERE, ...(svm ? ON_SHARED_MEMORY : []), ...(device.images ? ON_IMAGES : [])];

  /**
   * Makes every call of the table with a trap in place of each of its arrays and objects in turn. `strikeOf` returns
   * the action of the trap for the `round`-th time, and undefined after the last one.
   */
  async function trapped(
    strikeOf: (args: readonly unknown[], f: Fresh, round: number) => (() => unknown) | undefined,
    check: (call: () => unknown, what: string) => Promise<void>,
  ): Promise<void> {
    for (const [call, argsOf] of table) {
      for (const [kind, trap] of Object.entries(TRAPS)) {
        let place = -1;
        let round = 0;
        for (;;) {
          const f = new Fresh(device, add);
          const args = argsOf(f);
          place = args.findIndex((value, i) => i >= place && isPlain(value));
          const strike = place < 0 ? undefined : strikeOf(args, f, round);
          if (strike) {
            const bad = trap(args[place] as object, strike);
            const all = args.map((value, i) => (i === place ? bad : value)) as never[];
            await check(() => call(...all), `${call.name}, argument ${place + 1}, ${kind} ${round}`);
            round++;
          }
          f.end();
          if (place < 0) break;
          if (!strike) {
            place++;
            round = 0;
          }
        }
      }
    }
  }

  test.serial(title('a call throws the exception of a getter in its arguments'), async (t) => {
    const mine = new RangeError('mine');
    const strike = () => {
      throw mine;
    };
    await trapped(
      (_args, _f, round) => (round === 0 ? strike : undefined),
      async (call, what) => {
        t.is(await t.throwsAsync(async () => call(), undefined, what), mine, what);
      },
    );
  });

  test.serial(title('objects that a getter releases mid-call never reach the driver'), async (t) => {
    await trapped(
      (args, f, round) => {
        let struck = false;
        const act = strikes(args, f)[round];
        return (
          act &&
          (() => {
            if (!struck) act();
            struck = true;
          })
        );
      },
      async (call, what) => {
        const error = await t.throwsAsync(async () => call(), { any: true }, what);
        t.is(typeof (error as cl.OpenCLError | undefined)?.code, 'number', `${what}: ${error}`);
      },
    );
  });

  test.serial(title('a getter in an argument may call OpenCL'), (t) => {
    const f = new Fresh(device, add);
    const work = () => cl.releaseMemObject(cl.createBuffer(f.context, 0, 16));
    const global = TRAPS.getter?.([1, 1], work) as number[];
    t.is(cl.enqueueNDRangeKernel(f.queue, f.kernel, 2, null, global, null, f.waits), 0);
    f.end();
  });

  test(title('a sparse array of 2^32 - 1 elements is rejected at once'), (t) => {
    const endless: never[] = [];
    endless.length = 2 ** 32 - 1;
    t.throws(() => cl.createContextFromType(null, endless), { code: cl.INVALID_VALUE.code });
    t.throws(() => cl.waitForEvents(endless), { code: cl.INVALID_VALUE.code });
    t.throws(() => enqueueKernels(device.queue, endless, []), { code: cl.INVALID_VALUE.code });
    t.throws(() => enqueueKernels(device.queue, [], endless), { code: cl.INVALID_VALUE.code });
  });

  test(title('numbers above 32 bits are rejected, not truncated'), (t) => {
    const event = cl.enqueueMarker(device.queue, true);
    t.throws(() => cl.setUserEventStatus(event, 2 ** 32), { code: cl.INVALID_VALUE.code });
    t.throws(() => cl.setEventCallback(event, 2 ** 32, () => undefined), { code: cl.INVALID_VALUE.code });
    cl.releaseEvent(event);
    if (device.images) {
      const type = SHAPE.type + 2 ** 32;
      t.throws(() => cl.createImage(device.context, 0, FORMAT, { ...SHAPE, type }), {
        code: cl.INVALID_IMAGE_DESCRIPTOR.code,
      });
      const signed = { ...FORMAT, channel_data_type: cl.SIGNED_INT8 };
      const image = cl.createImage2D(device.context, 0, signed, 4, 4, 0, null);
      const fill = () => cl.enqueueFillImage(device.queue, image, [2 ** 32, 0, 0, 0], ORIGIN, REGION);
      t.throws(fill, { code: cl.INVALID_VALUE.code });
      cl.releaseMemObject(image);
    }
    const words = Float64Array.of(0, 1, 0, 1, 1, 2 ** 32, 1, 0, 4);
    const list = { words, count: words.length, kernels: [add], memory: [], bytes: fixed(4) };
    t.throws(() => cl.enqueueKernels(device.queue, list), { code: cl.INVALID_ARG_INDEX.code });
  });

  test.after.always(() => cl.releaseKernel(add));
}

test('only call_arguments.cc of the addon reads elements and properties of arguments', (t) => {
  const folder = join(packageRoot, 'src', 'native');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const others = files.filter((file) => /\.(?:cc|h)$/.test(file) && file !== 'call_arguments.cc');
  const found = others.filter((file) => /(?:Nan::|->)Get\(/.test(readFileSync(join(folder, file), 'utf8')));
  t.deepEqual(found, [], 'read them by Call::Elements or Call::Property, which look again at what was read');
});
