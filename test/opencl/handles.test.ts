import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { opened, thrown } from './devices.js';

for (const { name, context, device, platform, queue } of opened) {
  const title = (claim: string): string => `${name}: ${claim}`;

  test(title('a value that is not a handle of the right kind is rejected'), (t) => {
    const impostors: unknown[] = [null, undefined, 0, 7, 'x', {}, [], new Uint8Array(64), Symbol.iterator];
    const uses: [cl.OpenCLError, (value: never) => unknown, unknown][] = [
      [cl.INVALID_PLATFORM, (value) => cl.getPlatformInfo(value, cl.PLATFORM_NAME), device],
      [cl.INVALID_DEVICE, (value) => cl.getDeviceInfo(value, cl.DEVICE_NAME), platform],
      [cl.INVALID_CONTEXT, (value) => cl.getContextInfo(value, cl.CONTEXT_DEVICES), queue],
      [cl.INVALID_COMMAND_QUEUE, (value) => cl.finish(value), context],
      [cl.INVALID_MEM_OBJECT, (value) => cl.getMemObjectInfo(value, cl.MEM_SIZE), context],
      [cl.INVALID_SAMPLER, (value) => cl.getSamplerInfo(value, cl.SAMPLER_FILTER_MODE), context],
      [cl.INVALID_PROGRAM, (value) => cl.buildProgram(value), context],
      [cl.INVALID_KERNEL, (value) => cl.getKernelInfo(value, cl.KERNEL_NUM_ARGS), context],
      [cl.INVALID_EVENT, (value) => cl.getEventInfo(value, cl.EVENT_COMMAND_TYPE), context],
    ];
    for (const [expected, use, wrongKind] of uses) {
      for (const impostor of [...impostors, wrongKind]) {
        t.is(thrown(() => use(impostor as never)).message, expected.message);
      }
    }
  });

  test(title('an object that has a handle as its prototype is rejected'), (t) => {
    const forged = Object.create(context) as cl.Context;
    t.is(thrown(() => cl.getContextInfo(forged, cl.CONTEXT_DEVICES)).code, cl.INVALID_CONTEXT.code);
  });

  const strangers = cl
    .getPlatformIDs()
    .filter(
      (other) =>
        cl.getPlatformInfo(other, cl.PLATFORM_NAME) !== cl.getPlatformInfo(platform, cl.PLATFORM_NAME),
    );

  test(title('objects of two platforms in one call, and numbers as a platform, are rejected'), (t) => {
    for (const number of [0, 0xdeadbeef]) {
      for (const create of [
        () => cl.createContext([cl.CONTEXT_PLATFORM, number], [device]),
        () => cl.createContextFromType([cl.CONTEXT_PLATFORM, number], cl.DEVICE_TYPE_ALL),
      ]) {
        t.is(thrown(create).code, cl.INVALID_PLATFORM.code);
      }
    }
    for (const other of strangers) {
      const create = () => cl.createContext([cl.CONTEXT_PLATFORM, other], [device]);
      t.is(thrown(create).code, cl.INVALID_DEVICE.code);
      for (const stranger of devicesOf(other)) {
        for (const use of [
          () => cl.createContext(null, [device, stranger]),
          () => cl.createContext([cl.CONTEXT_PLATFORM, platform], [stranger]),
          () => cl.createCommandQueue(context, stranger, 0),
          () => cl.createCommandQueueWithProperties(context, stranger, [cl.QUEUE_PROPERTIES, 0]),
          () => cl.createProgramWithBinary(context, [stranger], [1], [new Uint8Array(1)]),
          () => cl.buildProgram(cl.createProgramWithSource(context, 'kernel void k() {}'), [stranger]),
        ]) {
          t.is(thrown(use).code, cl.INVALID_DEVICE.code);
        }
        const theirs = cl.createContext([cl.CONTEXT_PLATFORM, other], [stranger]);
        const buffer = cl.createBuffer(theirs, 0, 8);
        const read = () => cl.enqueueReadBuffer(queue, buffer, true, 0, 8, new Uint8Array(8));
        t.is(thrown(read).code, cl.INVALID_CONTEXT.code);
        cl.releaseMemObject(buffer);
        cl.releaseContext(theirs);
      }
    }
  });

  test(title('a released handle is rejected by every function, including release'), (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
    t.false(buffer.released);
    t.is(cl.releaseMemObject(buffer), 0);
    t.true(buffer.released);
    const host = new Uint8Array(64);
    for (const use of [
      () => cl.releaseMemObject(buffer),
      () => cl.retainMemObject(buffer),
      () => cl.getMemObjectInfo(buffer, cl.MEM_SIZE),
      () => cl.enqueueReadBuffer(queue, buffer, true, 0, 64, host),
      () => cl.enqueueMapBuffer(queue, buffer, true, cl.MAP_READ, 0, 64),
      () => cl.releaseAsync(buffer),
    ]) {
      const error = thrown(use);
      t.is(error.code, cl.INVALID_MEM_OBJECT.code);
      t.regex(error.reason ?? '', /released/);
    }
  });

  test(title('platforms and root devices are never released'), (t) => {
    t.is(thrown(() => cl.releaseAsync(device)).code, cl.INVALID_DEVICE.code);
    t.is(thrown(() => cl.releaseAsync(platform as never)).code, cl.INVALID_PLATFORM.code);
    for (const handle of [device, platform]) {
      handle[Symbol.dispose]();
      t.false(handle.released);
    }
    t.is(typeof cl.getDeviceInfo(device, cl.DEVICE_NAME), 'string');
    t.is(typeof cl.getPlatformInfo(platform, cl.PLATFORM_NAME), 'string');
  });

  test(title('reference counts match those of the driver'), (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
    const count = (): number => cl.getMemObjectInfo(buffer, cl.MEM_REFERENCE_COUNT);
    t.is(count(), 1);
    cl.retainMemObject(buffer);
    t.is(count(), 2);
    cl.releaseMemObject(buffer);
    t.is(count(), 1);
    cl.releaseMemObject(buffer);
    t.true(buffer.released);
  });

  test(title('releaseAsync releases a handle with all its references at once'), (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
    cl.retainMemObject(buffer);
    cl.releaseAsync(buffer);
    t.true(buffer.released);
  });

  test(title('a handle can be disposed of once or twice'), (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
    buffer[Symbol.dispose]();
    t.true(buffer.released);
    t.notThrows(() => buffer[Symbol.dispose]());
  });

  test(title('a query for a missing object returns a released handle'), (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
    const none = cl.getMemObjectInfo(buffer, cl.MEM_ASSOCIATED_MEMOBJECT);
    t.true(none instanceof cl.MemObject);
    t.true(none.released);
    cl.releaseMemObject(buffer);
  });

  test(title('handles are instances of their classes'), (t) => {
    t.true(platform instanceof cl.Platform);
    t.true(device instanceof cl.Device);
    t.true(context instanceof cl.Context);
    t.true(queue instanceof cl.CommandQueue);
    t.false((queue as unknown) instanceof cl.Context);
    const Constructor = Object.getPrototypeOf(queue).constructor;
    t.throws(() => new Constructor(), { instanceOf: TypeError });
  });

  test(title('a kernel keeps an argument alive whose handle was collected'), (t) => {
    const program = cl.createProgramWithSource(context, 'kernel void put(global int* a) { a[0] = 42; }');
    cl.buildProgram(program);
    const put = cl.createKernel(program, 'put');
    cl.setKernelArg(put, 0, 'int*', cl.createBuffer(context, cl.MEM_READ_WRITE, 4));
    collectGarbage();
    t.notThrows(() => cl.enqueueNDRangeKernel(queue, put, 1, null, [1], null));
    cl.finish(queue);
    cl.releaseKernel(put);
    cl.releaseProgram(program);
  });

  test(title('launching a kernel with a released argument is rejected'), (t) => {
    const program = cl.createProgramWithSource(context, 'kernel void put(global int* a) { a[0] = 42; }');
    cl.buildProgram(program);
    const put = cl.createKernel(program, 'put');
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 4);
    cl.setKernelArg(put, 0, 'int*', buffer);
    cl.releaseMemObject(buffer);
    const error = thrown(() => cl.enqueueNDRangeKernel(queue, put, 1, null, [1], null));
    t.is(error.code, cl.INVALID_KERNEL_ARGS.code);
    t.regex(error.reason ?? '', /argument 1 .*was released/);
    cl.releaseKernel(put);
    cl.releaseProgram(program);
  });
}

/** The devices of a platform; some platforms have none. */
function devicesOf(platform: cl.Platform): cl.Device[] {
  try {
    return cl.getDeviceIDs(platform, cl.DEVICE_TYPE_ALL);
  } catch {
    return [];
  }
}

function collectGarbage(): void {
  const gc = (globalThis as { gc?: () => void }).gc;
  if (gc) gc();
}
