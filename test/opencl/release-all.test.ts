import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { opened, thrown } from './devices.js';

// In a separate file, and thus a separate process: it releases objects that every other test would still use.
test.serial(
  'releaseAll releases every object but contexts, whose reference counts return to their initial value',
  async (t) => {
    for (const { context, device, name } of opened) {
      const before: number = cl.getContextInfo(context, cl.CONTEXT_REFERENCE_COUNT);
      const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
      const queue = cl.createCommandQueue(context, device);
      const program = cl.createProgramWithSource(context, 'kernel void nothing(int a) {}');
      cl.releaseAll();
      for (const handle of [buffer, queue, program]) t.true(handle.released, name);
      t.false(context.released);
      // A thread of the addon may still be releasing the last object that it waited for.
      const count = () => cl.getContextInfo(context, cl.CONTEXT_REFERENCE_COUNT) as number;
      for (const end = performance.now() + 5000; count() > before && performance.now() < end; )
        await sleep(5);
      t.true(count() <= before, name);
      t.is(thrown(() => cl.finish(queue)).code, cl.INVALID_COMMAND_QUEUE.code);
      // The owners' releases may come later, from a callback, and are valid.
      t.is(cl.releaseMemObject(buffer), 0);
      t.is(cl.releaseProgram(program), 0);
      t.notThrows(() => cl.releaseMemObject(cl.createBuffer(context, cl.MEM_READ_WRITE, 64)));
    }
  },
);

test.serial('releaseAll returns although a queue waits for another queue that was never flushed', (t) => {
  for (const { context, device, version } of opened) {
    if (version < 110) continue;
    // Whichever queue is finished first, in one of the rounds it waits for the other.
    for (const round of [0, 1]) {
      const queues = [cl.createCommandQueue(context, device), cl.createCommandQueue(context, device)];
      if (round === 1) queues.reverse();
      const [first, second] = queues as [cl.CommandQueue, cl.CommandQueue];
      const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
      const event = cl.enqueueWriteBuffer(first, buffer, false, 0, 64, new Uint8Array(64), null, true);
      cl.enqueueReadBuffer(second, buffer, false, 0, 64, new Uint8Array(64), [event]);
      cl.releaseAll();
      t.true(first.released && second.released);
    }
  }
});

test.serial('releaseAll releases contexts on request', (t) => {
  cl.releaseAll(null);
  for (const { context } of opened) t.false(context.released);
  const buffers = opened.map(({ context }) => cl.createBuffer(context, cl.MEM_READ_WRITE, 64));
  cl.releaseAll({ contexts: true });
  for (const buffer of buffers) t.true(buffer.released);
  for (const { context, device, name } of opened) {
    t.true(context.released, name);
    t.false(device.released, name);
    t.is(typeof cl.getDeviceInfo(device, cl.DEVICE_NAME), 'string');
    t.is(thrown(() => cl.createBuffer(context, cl.MEM_READ_WRITE, 64)).code, cl.INVALID_CONTEXT.code);
    t.is(cl.releaseContext(context), 0);
  }
});
