import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { where } from '../where.js';
import { type Opened, opened, thrown } from './devices.js';
import { bytes, FORMAT, ORIGIN, PIXELS, SOURCE, World } from './world.js';

const BOX = [64, 1, 1];

type Mix = (mine: World, theirs: World) => unknown;
type Mixes = Readonly<Record<string, Mix>>;

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

/** The combinations that a device supports. */
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
  const { name, device, platform } = opening;

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
}
