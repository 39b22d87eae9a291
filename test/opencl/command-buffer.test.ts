import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { UnsupportedError } from '../../src/util/errors.js';
import { where } from '../where.js';
import { kernel, opened, thrown } from './devices.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

for (const opening of opened) {
  const { name, context, device, queue, platform, images } = opening;
  const title = (claim: string): string => `${name}: ${claim}`;
  const has = cl.getExtensionFunctions(platform).includes('clCreateCommandBufferKHR');
  const record = () => cl.createCommandBufferKHR([queue]);
  const bytes = (n: number) => new Uint8Array(n).map((_, i) => i);
  const buffer = (n = 64) => cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, n, bytes(n));
  const read = (memory: cl.MemObject, n = 64) => {
    const host = new Uint8Array(n);
    cl.enqueueReadBuffer(queue, memory, true, 0, n, host);
    return [...host];
  };

  if (!has) {
    test(title('without the extension, command buffers throw an UnsupportedError that names it'), (t) => {
      const error = thrown(record) as Error;
      t.true(error instanceof UnsupportedError);
      t.regex(error.message, /cl_khr_command_buffer/);
    });
    continue;
  }

  test(title('commands are recorded once and executed many times'), (t) => {
    const a = buffer();
    const b = buffer();
    const increment = kernel(opening, 'kernel void increment(global uchar* a) { a[get_global_id(0)]++; }');
    cl.setKernelArg(increment, 0, 'uchar*', a);
    const commands = record();
    t.true(commands instanceof cl.CommandBuffer);
    t.is(cl.getCommandBufferInfoKHR(commands, cl.COMMAND_BUFFER_NUM_QUEUES_KHR), 1);
    t.true(cl.getCommandBufferInfoKHR(commands, cl.COMMAND_BUFFER_QUEUES_KHR)[0].equals(queue));
    const filled = cl.commandFillBufferKHR(commands, null, a, Uint8Array.of(7), 0, 32);
    const launched = cl.commandNDRangeKernelKHR(commands, queue, null, increment, 1, null, [64], null, [
      filled,
    ]);
    const passed = cl.commandBarrierWithWaitListKHR(commands, null, [launched]);
    const copied = cl.commandCopyBufferKHR(commands, null, a, b, 0, 16, 32, [passed]);
    cl.commandCopyBufferRectKHR(commands, null, a, b, [0, 0, 0], [0, 0, 0], [2, 2, 1], 8, 0, 4, 0, [copied]);
    t.is(new Set([filled, launched, passed, copied]).size, 4);
    t.is(cl.finalizeCommandBufferKHR(commands), 0);
    t.deepEqual(read(a), [...bytes(64)]);
    for (let run = 1; run <= 3; run++) {
      const event = cl.enqueueCommandBufferKHR(null, commands, null, true);
      t.true(event instanceof cl.Event);
      cl.waitForEvents([event]);
      t.is(cl.getEventInfo(event, cl.EVENT_COMMAND_EXECUTION_STATUS), cl.COMPLETE);
      cl.releaseEvent(event);
      const expected = Array.from(bytes(64), (value, i) => (i < 32 ? 8 : value + run));
      t.deepEqual(read(a), expected);
      t.deepEqual(read(b).slice(16, 48), expected.slice(0, 32));
      t.deepEqual(read(b).slice(0, 8), [8, 8, 2, 3, 8, 8, 6, 7]);
    }
    t.is(cl.releaseCommandBufferKHR(commands), 0);
    t.is(
      thrown(() => cl.enqueueCommandBufferKHR(null, commands)).message,
      cl.INVALID_COMMAND_BUFFER_KHR.message,
    );
    for (const memory of [a, b]) cl.releaseMemObject(memory);
    cl.releaseKernel(increment);
  });

  where(
    images,
    'no images',
    test,
  )(title('images are filled and copied by recorded commands'), (t) => {
    const format = { channel_order: cl.RGBA, channel_data_type: cl.UNSIGNED_INT8 };
    const shape = { type: cl.MEM_OBJECT_IMAGE2D, width: 4, height: 4 };
    const one = cl.createImage(context, cl.MEM_COPY_HOST_PTR, format, shape, bytes(64));
    const other = cl.createImage(context, cl.MEM_READ_WRITE, format, shape);
    const memory = buffer();
    const commands = record();
    cl.commandFillImageKHR(commands, null, other, [1, 2, 3, 4], [0, 0, 0], [4, 4, 1]);
    cl.commandCopyImageKHR(commands, null, one, other, [0, 0, 0], [0, 1, 0], [4, 1, 1]);
    cl.commandCopyBufferToImageKHR(commands, null, memory, other, 32, [0, 2, 0], [4, 1, 1]);
    cl.commandCopyImageToBufferKHR(commands, null, other, memory, [0, 0, 0], [4, 4, 1], 0);
    cl.finalizeCommandBufferKHR(commands);
    cl.enqueueCommandBufferKHR([queue], commands);
    cl.finish(queue);
    const colour = [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4];
    t.deepEqual(read(memory), [...colour, ...bytes(16), ...bytes(48).subarray(32), ...colour]);
    cl.releaseCommandBufferKHR(commands);
    for (const made of [one, other, memory]) cl.releaseMemObject(made);
  });

  test(
    title('a command buffer keeps alive its kernel, its memory and the arguments that it recorded'),
    async (t) => {
      const before = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 64, new Uint8Array(64));
      const seen = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 64, new Uint8Array(64));
      const other = buffer();
      const increment = kernel(opening, 'kernel void increment(global uchar* a) { a[get_global_id(0)]++; }');
      cl.setKernelArg(increment, 0, 'uchar*', before);
      const commands = record();
      cl.commandNDRangeKernelKHR(commands, null, null, increment, 1, null, [64], null);
      cl.commandBarrierWithWaitListKHR(commands, null);
      cl.commandCopyBufferKHR(commands, null, before, seen, 0, 0, 64);
      cl.finalizeCommandBufferKHR(commands);
      cl.setKernelArg(increment, 0, 'uchar*', other);
      for (const memory of [before, other]) cl.releaseMemObject(memory);
      cl.releaseKernel(increment);
      for (let run = 1; run <= 2; run++) {
        cl.enqueueCommandBufferKHR(null, commands);
        await cl.finishAsync(queue);
        t.deepEqual(read(seen), Array<number>(64).fill(run));
      }
      cl.releaseCommandBufferKHR(commands);
      cl.releaseMemObject(seen);
    },
  );

  test(
    title('a command buffer released during its execution lives until the execution is complete'),
    async (t) => {
      const memory = buffer();
      const userEvent = cl.createUserEvent(context);
      const commands = record();
      cl.commandFillBufferKHR(commands, null, memory, 0, 0, 64);
      cl.finalizeCommandBufferKHR(commands);
      const event = cl.enqueueCommandBufferKHR(null, commands, [userEvent], true);
      cl.releaseCommandBufferKHR(commands);
      t.true(commands.released);
      cl.setUserEventStatus(userEvent, cl.COMPLETE);
      await event.completed;
      t.deepEqual(read(memory), Array<number>(64).fill(0));
      for (const each of [event, userEvent]) cl.releaseEvent(each);
      cl.releaseMemObject(memory);
    },
  );

  test(title('only a command buffer for simultaneous use can be executed twice at once'), (t) => {
    const memory = buffer();
    const userEvent = cl.createUserEvent(context);
    const flags = [cl.COMMAND_BUFFER_FLAGS_KHR, cl.COMMAND_BUFFER_SIMULTANEOUS_USE_KHR];
    for (const properties of [[], flags]) {
      const commands = cl.createCommandBufferKHR([queue], properties);
      cl.commandFillBufferKHR(commands, null, memory, 0, 0, 64);
      cl.finalizeCommandBufferKHR(commands);
      cl.enqueueCommandBufferKHR(null, commands, [userEvent]);
      const again = () => cl.enqueueCommandBufferKHR(null, commands, [userEvent]);
      if (properties.length > 0) t.is(again(), 0);
      else t.is(thrown(again).message, cl.INVALID_OPERATION.message);
      cl.releaseCommandBufferKHR(commands);
    }
    cl.setUserEventStatus(userEvent, cl.COMPLETE);
    cl.finish(queue);
    cl.releaseEvent(userEvent);
    cl.releaseMemObject(memory);
  });

  test(title('retain and release count the references of a command buffer'), (t) => {
    const commands = record();
    t.is(cl.retainCommandBufferKHR(commands), 0);
    t.is(cl.getCommandBufferInfoKHR(commands, cl.COMMAND_BUFFER_REFERENCE_COUNT_KHR), 2);
    cl.releaseCommandBufferKHR(commands);
    t.false(commands.released);
    cl.releaseCommandBufferKHR(commands);
    t.true(commands.released);
    t.is(thrown(() => cl.releaseCommandBufferKHR(commands)).message, cl.INVALID_COMMAND_BUFFER_KHR.message);
    const dropped = record();
    dropped[Symbol.dispose]();
    t.true(dropped.released);
  });

  test(title('an execution may hold the last reference to its queue'), async (t) => {
    // A queue that ends keeps shared memory behind its commands while the list of commands is traversed.
    const shared = cl.SVMAlloc(context, cl.MEM_READ_WRITE, 64, 0);
    const memory = buffer();
    /** Leaves this many executions in flight, each with an otherwise unreferenced queue and one byte to write. */
    const execute = (count: number, value: number) => {
      for (let i = 0; i < count; i++) {
        const own = cl.createCommandQueue(context, device, 0);
        const commands = cl.createCommandBufferKHR([own]);
        cl.commandFillBufferKHR(commands, null, memory, Uint8Array.of(value), i, 1);
        cl.finalizeCommandBufferKHR(commands);
        cl.enqueueCommandBufferKHR(null, commands);
        cl.flush(own);
        cl.releaseCommandBufferKHR(commands);
      }
    };
    for (let round = 0; round < 6; round++) {
      const count = 2 ** round;
      execute(count, round + 1);
      // The test holds no reference to the queues and cannot wait for them, so it polls for their writes.
      const limit = Date.now() + 20_000;
      let written = 0;
      do {
        await new Promise((resolve) => setTimeout(resolve, 20));
        collectGarbage();
        await new Promise((resolve) => setTimeout(resolve, 20));
        t.is(read(memory).length, 64); // a blocking call traverses the list
        const host = new Uint8Array(count);
        cl.enqueueReadBuffer(queue, memory, false, 0, count, host);
        cl.finish(queue);
        written = host.filter((value) => value === round + 1).length;
      } while (written < count && Date.now() < limit);
      t.is(written, count);
    }
    cl.SVMFree(context, shared);
    cl.releaseMemObject(memory);
  });

  test(title('a kernel with a null pointer or sampler is recorded, or the error names a workaround'), (t) => {
    const commands = record();
    const nothing = kernel(opening, 'kernel void nothing(global int* a, int b) { if (a) a[0] = b; }');
    cl.setKernelArg(nothing, 0, null, null);
    cl.setKernelArg(nothing, 1, 'int', 1);
    const kernels = [nothing];
    if (images) {
      const source = 'kernel void sampled(sampler_t s, global int* a) { a[0] = 1; }';
      const sampled = kernel(opening, source);
      cl.setKernelArg(
        sampled,
        0,
        'sampler_t',
        cl.createSampler(context, true, cl.ADDRESS_NONE, cl.FILTER_NEAREST),
      );
      cl.setKernelArg(sampled, 1, null, buffer());
      kernels.push(sampled);
    }
    const version = cl.getPlatformInfo(platform, cl.PLATFORM_VERSION);
    for (const one of kernels) {
      const crashes = one === nothing ? /PoCL 3[.]/ : /PoCL/;
      const launch = () => cl.commandNDRangeKernelKHR(commands, null, null, one, 1, null, [4], null);
      if (!crashes.test(version)) {
        t.is(typeof launch(), 'number');
        continue;
      }
      const error = thrown(launch) as Error;
      t.true(error instanceof UnsupportedError);
      t.regex(error.message, /kernel argument 1 .* cannot record .*enqueue it instead/);
    }
    cl.enqueueNDRangeKernel(queue, nothing, 1, null, [4], null);
    cl.finish(queue);
  });

  test(title('invalid recordings and executions are rejected'), (t) => {
    const memory = buffer();
    const commands = record();
    const other = record();
    const point = cl.commandBarrierWithWaitListKHR(other, null);
    const refused = (error: cl.OpenCLError, call: () => unknown) => t.is(thrown(call).message, error.message);
    const stranger = cl.createCommandQueue(context, opening.device);
    const wrong = (value: unknown) => value as never;
    refused(cl.INVALID_VALUE, () => cl.createCommandBufferKHR([]));
    refused(cl.INVALID_VALUE, () => cl.createCommandBufferKHR([queue, stranger]));
    refused(cl.INVALID_COMMAND_QUEUE, () => cl.createCommandBufferKHR([wrong(context)]));
    refused(cl.INVALID_COMMAND_BUFFER_KHR, () => cl.finalizeCommandBufferKHR(wrong(queue)));
    refused(cl.INVALID_COMMAND_QUEUE, () => cl.commandFillBufferKHR(commands, stranger, memory, 0, 0, 64));
    refused(cl.INVALID_VALUE, () => cl.commandFillBufferKHR(commands, null, memory, 0, 2n ** 64n - 16n, 32));
    refused(cl.INVALID_VALUE, () => cl.commandFillBufferKHR(commands, null, memory, new Uint8Array(3), 0, 9));
    refused(cl.INVALID_VALUE, () => cl.commandCopyBufferKHR(commands, null, memory, memory, 0, 60, 8));
    refused(cl.MEM_COPY_OVERLAP, () => cl.commandCopyBufferKHR(commands, null, memory, memory, 0, 4, 8));
    refused(cl.INVALID_SYNC_POINT_WAIT_LIST_KHR, () =>
      cl.commandBarrierWithWaitListKHR(commands, null, [point + 1000]),
    );
    refused(cl.INVALID_SYNC_POINT_WAIT_LIST_KHR, () =>
      cl.commandBarrierWithWaitListKHR(commands, null, wrong(['1'])),
    );
    refused(cl.INVALID_OPERATION, () => cl.enqueueCommandBufferKHR(null, commands));
    const unset = kernel(opening, 'kernel void unset(global int* a) { *a = 1; }');
    refused(cl.INVALID_KERNEL_ARGS, () =>
      cl.commandNDRangeKernelKHR(commands, null, null, unset, 1, null, [1], null),
    );
    cl.setKernelArg(unset, 0, 'int*', memory);
    refused(cl.INVALID_WORK_ITEM_SIZE, () =>
      cl.commandNDRangeKernelKHR(commands, null, null, unset, 1, null, [1], [0]),
    );
    cl.commandFillBufferKHR(commands, null, memory, 0, 0, 64);
    cl.finalizeCommandBufferKHR(commands);
    refused(cl.INVALID_OPERATION, () => cl.finalizeCommandBufferKHR(commands));
    refused(cl.INVALID_OPERATION, () => cl.commandFillBufferKHR(commands, null, memory, 0, 0, 64));
    refused(cl.INVALID_VALUE, () => cl.enqueueCommandBufferKHR([queue, queue], commands));
    cl.releaseMemObject(memory);
    refused(cl.INVALID_MEM_OBJECT, () => cl.commandFillBufferKHR(other, null, memory, 0, 0, 64));
    for (const each of [commands, other]) cl.releaseCommandBufferKHR(each);
    cl.releaseCommandQueue(stranger);
    cl.releaseKernel(unset);
  });

  const hasSvm = opening.version >= 200 && cl.getDeviceInfo(opening.device, cl.DEVICE_SVM_CAPABILITIES) > 0;
  // Without shared virtual memory there is nothing to record.
  where(
    hasSvm,
    'no shared virtual memory',
    test,
  )(title('a recorded kernel whose shared virtual memory was freed is rejected'), (t) => {
    const memory = cl.SVMAlloc(context, 0, 64);
    const put = kernel(opening, 'kernel void put(global uchar* a) { a[get_global_id(0)] = 5; }');
    cl.setKernelArgSVMPointer(put, 0, memory);
    const commands = record();
    cl.commandNDRangeKernelKHR(commands, null, null, put, 1, null, [64], null);
    cl.finalizeCommandBufferKHR(commands);
    cl.enqueueCommandBufferKHR(null, commands);
    const host = new Uint8Array(64);
    cl.enqueueSVMMemcpy(queue, true, host, memory, 64);
    t.deepEqual([...host], Array<number>(64).fill(5));
    cl.SVMFree(context, memory);
    t.is(thrown(() => cl.enqueueCommandBufferKHR(null, commands)).message, cl.INVALID_KERNEL_ARGS.message);
    cl.releaseCommandBufferKHR(commands);
    cl.releaseKernel(put);
  });
}
