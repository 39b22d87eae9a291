import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { where } from '../where.js';
import { type Opened, opened, thrown } from './devices.js';

const SOURCE = `
  kernel void put(global uint* out, uint n) { out[0] = n; }
  kernel void sample(read_only image2d_t from, sampler_t how, global uint4* out) {
    *out = read_imageui(from, how, (int2)(0, 0));
  }`;
const FORMAT = { channel_order: cl.RGBA, channel_data_type: cl.UNSIGNED_INT8 };
const ORIGIN = [0, 0, 0];
const PIXELS = [4, 4, 1];
const BOX = [64, 1, 1];

/** One object of each kind, all of one context. */
class World {
  readonly context: cl.Context;
  readonly queue: cl.CommandQueue;
  readonly buffer: cl.MemObject;
  readonly program: cl.Program;
  readonly put: cl.Kernel;
  readonly event: cl.Event;

  constructor(readonly device: cl.Device) {
    this.context = cl.createContext(null, [device]);
    this.queue = cl.createCommandQueue(this.context, device);
    this.buffer = cl.createBuffer(this.context, cl.MEM_READ_WRITE, 1024);
    this.program = cl.createProgramWithSource(this.context, SOURCE);
    cl.buildProgram(this.program);
    this.put = cl.createKernel(this.program, 'put');
    cl.setKernelArg(this.put, 0, 'uint*', this.buffer);
    cl.setKernelArg(this.put, 1, 'uint', 7);
    this.event = cl.enqueueMarker(this.queue, true);
    cl.finish(this.queue);
  }

  image(): cl.MemObject {
    return cl.createImage2D(this.context, cl.MEM_READ_WRITE, FORMAT, 4, 4, 0, null);
  }
  sampler(): cl.Sampler {
    return cl.createSampler(this.context, false, cl.ADDRESS_CLAMP, cl.FILTER_NEAREST);
  }
  sample(): cl.Kernel {
    return cl.createKernel(this.program, 'sample');
  }
  compiled(): cl.Program {
    const program = cl.createProgramWithSource(this.context, SOURCE);
    cl.compileProgram(program);
    return program;
  }
  end(): void {
    cl.finish(this.queue);
    for (const made of [this.event, this.put, this.program, this.buffer, this.queue, this.context]) {
      made[Symbol.dispose]();
    }
  }
}

type Mix = (mine: World, theirs: World) => unknown;
type Mixes = Readonly<Record<string, Mix>>;

const bytes = () => new Uint8Array(1024);

const EVERYWHERE: Mixes = {
  enqueueNDRangeKernel: (m, o) => cl.enqueueNDRangeKernel(m.queue, o.put, 1, null, [1], null),
  enqueueTask: (m, o) => cl.enqueueTask(m.queue, o.put),
  'kernel.call on another queue': (m, o) => o.put.call(m.queue, [1], [1], o.buffer, 5),
  'kernel.call with another buffer': (m, o) => m.put.call(m.queue, [1], [1], o.buffer, 5),
  'enqueueKernels with another buffer': (m, o) => {
    const words = Float64Array.of(0, 1, 0, 1, 1, 0, 0, 0, 0);
    const list = { words, count: words.length, kernels: [m.put], memory: [o.buffer], bytes: bytes() };
    return cl.enqueueKernels(m.queue, list);
  },
  setKernelArg: (m, o) => cl.setKernelArg(m.put, 0, 'uint*', o.buffer),
  enqueueReadBuffer: (m, o) => cl.enqueueReadBuffer(m.queue, o.buffer, true, 0, 64, bytes()),
  enqueueWriteBuffer: (m, o) => cl.enqueueWriteBuffer(m.queue, o.buffer, false, 0, 64, bytes()),
  enqueueCopyBuffer: (m, o) => cl.enqueueCopyBuffer(m.queue, m.buffer, o.buffer, 0, 0, 64),
  enqueueMapBuffer: (m, o) => cl.enqueueMapBuffer(m.queue, o.buffer, true, cl.MAP_READ, 0, 64),
  enqueueUnmapMemObject: (m, o) => {
    const mapped = cl.enqueueMapBuffer(o.queue, o.buffer, true, cl.MAP_READ, 0, 64);
    try {
      return cl.enqueueUnmapMemObject(m.queue, o.buffer, mapped);
    } finally {
      cl.enqueueUnmapMemObject(o.queue, o.buffer, mapped);
      cl.finish(o.queue);
    }
  },
  'a wait list': (m, o) => cl.enqueueReadBuffer(m.queue, m.buffer, true, 0, 64, bytes(), [o.event]),
  'a wait list beside an own event': (m, o) => cl.enqueueWaitForEvents(m.queue, [m.event, o.event]),
  waitForEvents: (m, o) => cl.waitForEvents([m.event, o.event]),
};

const FROM_1_1: Mixes = {
  enqueueReadBufferRect: (m, o) =>
    cl.enqueueReadBufferRect(m.queue, o.buffer, true, ORIGIN, ORIGIN, BOX, 0, 0, 0, 0, bytes()),
  enqueueCopyBufferRect: (m, o) =>
    cl.enqueueCopyBufferRect(m.queue, o.buffer, m.buffer, ORIGIN, ORIGIN, BOX, 0, 0, 0, 0),
};

const FROM_1_2: Mixes = {
  enqueueFillBuffer: (m, o) => cl.enqueueFillBuffer(m.queue, o.buffer, 0, 0, 64),
  enqueueMigrateMemObjects: (m, o) => cl.enqueueMigrateMemObjects(m.queue, [m.buffer, o.buffer], 0),
  enqueueMarkerWithWaitList: (m, o) => cl.enqueueMarkerWithWaitList(m.queue, [o.event]),
  enqueueBarrierWithWaitList: (m, o) => cl.enqueueBarrierWithWaitList(m.queue, [o.event]),
  linkProgram: (m, o) => cl.linkProgram(m.context, null, null, [o.compiled()]),
  'linkProgram of two contexts': (m, o) =>
    cl.linkProgram(m.context, null, null, [m.compiled(), o.compiled()]),
  'a header': (m, o) => cl.compileProgram(m.compiled(), null, null, [o.compiled()], ['a.h']),
};

const WITH_IMAGES: Mixes = {
  enqueueReadImage: (m, o) => cl.enqueueReadImage(m.queue, o.image(), true, ORIGIN, PIXELS, 0, 0, bytes()),
  enqueueCopyImage: (m, o) => cl.enqueueCopyImage(m.queue, m.image(), o.image(), ORIGIN, ORIGIN, PIXELS),
  enqueueCopyImageToBuffer: (m, o) =>
    cl.enqueueCopyImageToBuffer(m.queue, m.image(), o.buffer, ORIGIN, PIXELS, 0),
  enqueueCopyBufferToImage: (m, o) =>
    cl.enqueueCopyBufferToImage(m.queue, o.buffer, m.image(), 0, ORIGIN, PIXELS),
  enqueueMapImage: (m, o) => cl.enqueueMapImage(m.queue, o.image(), true, cl.MAP_READ, ORIGIN, PIXELS),
  'setKernelArg with an image': (m, o) => cl.setKernelArg(m.sample(), 0, 'image2d_t', o.image()),
  'setKernelArg with a sampler': (m, o) => cl.setKernelArg(m.sample(), 1, 'sampler_t', o.sampler()),
};

const WITH_IMAGES_1_2: Mixes = {
  createImage: (m, o) =>
    cl.createImage(m.context, cl.MEM_READ_WRITE, FORMAT, {
      type: cl.MEM_OBJECT_IMAGE1D_BUFFER,
      width: 16,
      buffer: o.buffer,
    }),
  enqueueFillImage: (m, o) => cl.enqueueFillImage(m.queue, o.image(), [1, 2, 3, 4], ORIGIN, PIXELS),
};

const shared = (world: World) => cl.SVMAlloc(world.context, 0, 64, 0);

const WITH_SVM: Mixes = {
  enqueueSVMMemFill: (m, o) => cl.enqueueSVMMemFill(m.queue, shared(o), new Uint8Array(4), 64),
  'enqueueSVMMemcpy to': (m, o) => cl.enqueueSVMMemcpy(m.queue, true, shared(o), bytes(), 64),
  'enqueueSVMMemcpy from': (m, o) => cl.enqueueSVMMemcpy(m.queue, true, bytes(), shared(o), 64),
  enqueueSVMMap: (m, o) => cl.enqueueSVMMap(m.queue, true, cl.MAP_READ, shared(o), 64),
  enqueueSVMUnmap: (m, o) => cl.enqueueSVMUnmap(m.queue, shared(o)),
  enqueueSVMMigrateMem: (m, o) => cl.enqueueSVMMigrateMem(m.queue, [shared(o)], [64], 0),
  enqueueSVMFree: (m, o) => cl.enqueueSVMFree(m.queue, [shared(o)]),
  SVMFree: (m, o) => cl.SVMFree(m.context, shared(o)),
  setKernelArgSVMPointer: (m, o) => cl.setKernelArgSVMPointer(m.put, 0, shared(o)),
  'setKernelArg with shared memory': (m, o) => cl.setKernelArg(m.put, 0, null, shared(o)),
  setKernelExecInfo: (m, o) => cl.setKernelExecInfo(m.put, cl.KERNEL_EXEC_INFO_SVM_PTRS, [shared(o)]),
};

const recording = (world: World) => cl.createCommandBufferKHR([world.queue]);

const WITH_COMMAND_BUFFERS: Mixes = {
  commandNDRangeKernelKHR: (m, o) =>
    cl.commandNDRangeKernelKHR(recording(m), null, null, o.put, 1, null, [1], [1]),
  commandFillBufferKHR: (m, o) => cl.commandFillBufferKHR(recording(m), null, o.buffer, bytes(), 0, 1024),
  commandCopyBufferKHR: (m, o) => cl.commandCopyBufferKHR(recording(m), null, m.buffer, o.buffer, 0, 0, 64),
  enqueueCommandBufferKHR: (m, o) => {
    const commands = recording(m);
    cl.finalizeCommandBufferKHR(commands);
    return cl.enqueueCommandBufferKHR(null, commands, [o.event]);
  },
};

const commandBuffers = ({ platform }: Opened): boolean =>
  cl.getExtensionFunctions(platform).includes('clCreateCommandBufferKHR');

/** The mixes that a device can make. */
function mixesOf(opening: Opened): Mixes {
  const { device, version, images } = opening;
  const svm = version >= 200 && cl.getDeviceInfo(device, cl.DEVICE_SVM_CAPABILITIES) > 0;
  return {
    ...EVERYWHERE,
    ...(version >= 110 && FROM_1_1),
    ...(version >= 120 && FROM_1_2),
    ...(images && WITH_IMAGES),
    ...(images && version >= 120 && WITH_IMAGES_1_2),
    ...(svm && WITH_SVM),
    ...(commandBuffers(opening) && WITH_COMMAND_BUFFERS),
  };
}

for (const opening of opened) {
  const { name, device, platform, version } = opening;

  for (const [call, mix] of Object.entries(mixesOf(opening))) {
    test.serial(`${name}: ${call} refuses objects of two contexts`, (t) => {
      const [mine, theirs] = [new World(device), new World(device)];
      const error = thrown(() => mix(mine, theirs));
      t.is(error.code, cl.INVALID_CONTEXT.code, `${error}`);
      t.regex(error.reason ?? '', /is of another context than the/);
      mine.end();
      theirs.end();
    });
  }

  test.serial(`${name}: events of several contexts are refused by the promise of their end`, async (t) => {
    const [mine, theirs] = [new World(device), new World(device)];
    await t.throwsAsync(cl.waitForEventsAsync([mine.event, theirs.event]), { code: cl.INVALID_CONTEXT.code });
    mine.end();
    theirs.end();
  });

  test.serial(`${name}: handles that the driver gives of one context go together`, (t) => {
    const mine = new World(device);
    const context = cl.getCommandQueueInfo(mine.queue, cl.QUEUE_CONTEXT) as cl.Context;
    const queue = cl.createCommandQueue(context, device);
    t.is(cl.enqueueReadBuffer(queue, mine.buffer, true, 0, 64, bytes()), 0);
    cl.releaseCommandQueue(queue);
    cl.releaseContext(context);
    mine.end();
  });

  const [other] = cl.getDeviceIDs(platform).filter((one) => !one.equals(device));
  where(
    other !== undefined,
    'the platform has one device',
    test.serial,
  )(`${name}: a device that a context lacks is refused`, (t) => {
    const world = new World(device);
    const stranger = other as cl.Device;
    const source = cl.createProgramWithSource(world.context, SOURCE);
    const [binary] = cl.getProgramInfo(world.program, cl.PROGRAM_BINARIES) as [Uint8Array];
    for (const use of [
      () => cl.createCommandQueue(world.context, stranger),
      () => cl.createCommandQueueWithProperties(world.context, stranger, []),
      () => cl.createProgramWithBinary(world.context, [stranger], [binary.length], [binary]),
      () => cl.buildProgram(source, [stranger]),
      () => cl.getProgramBuildInfo(world.program, stranger, cl.PROGRAM_BUILD_STATUS),
      () => cl.getKernelWorkGroupInfo(world.put, stranger, cl.KERNEL_WORK_GROUP_SIZE),
    ]) {
      t.is(thrown(use).code, cl.INVALID_DEVICE.code, `${use}`);
    }
    cl.releaseProgram(source);
    world.end();
  });

  const canPart = version >= 120 && cl.getDeviceInfo(device, cl.DEVICE_PARTITION_MAX_SUB_DEVICES) > 1;
  where(
    canPart,
    'the device has no parts',
    test.serial,
  )(`${name}: queues of a part of a device work, but for images where the driver has none for them`, (t) => {
    const [part] = cl.createSubDevices(device, [cl.DEVICE_PARTITION_EQUALLY, 1]) as [cl.Device];
    const own = cl.createContext(null, [part]);
    for (const world of [new World(device), undefined]) {
      const context = world?.context ?? own;
      let queue: cl.CommandQueue;
      try {
        queue = cl.createCommandQueue(context, part);
      } catch (error) {
        t.is((error as cl.OpenCLError).code, cl.INVALID_DEVICE.code); // as OpenCL has it; PoCL tells no part from the whole
        t.truthy(world);
        continue;
      }
      const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 1024);
      const image = cl.createImage2D(context, cl.MEM_READ_WRITE, FORMAT, 4, 4, 0, null);
      t.is(cl.enqueueWriteBuffer(queue, buffer, true, 0, 1024, bytes()), 0);
      for (const use of [
        () => cl.enqueueFillImage(queue, image, [1, 2, 3, 4], ORIGIN, PIXELS),
        () => cl.enqueueReadImage(queue, image, true, ORIGIN, PIXELS, 0, 0, bytes()),
        () => cl.enqueueCopyImage(queue, image, image, ORIGIN, [0, 2, 0], [4, 2, 1]),
        () => cl.enqueueCopyImageToBuffer(queue, image, buffer, ORIGIN, PIXELS, 0),
        () => cl.enqueueCopyBufferToImage(queue, buffer, image, 0, ORIGIN, PIXELS),
        () => cl.enqueueMapImage(queue, image, true, cl.MAP_READ, ORIGIN, PIXELS),
      ]) {
        try {
          const made = use();
          t.true(made === 0 || made instanceof ArrayBuffer);
        } catch (error) {
          t.is((error as cl.OpenCLError).code as unknown, 'ERR_CLSORT_UNSUPPORTED', `${use}`);
        }
      }
      t.is(cl.finish(queue), 0);
      for (const made of [image, buffer, queue]) made[Symbol.dispose]();
      world?.end();
    }
    for (const made of [own, part]) made[Symbol.dispose]();
  });
}
