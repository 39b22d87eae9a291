import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { opened, thrown } from './devices.js';

// In a file, and so in a process, of its own: it releases what every other test would still use.
test.serial(
  'releaseAll releases everything but contexts, whose reference counts it lowers to what they were',
  (t) => {
    for (const { context, device, name } of opened) {
      const before: number = cl.getContextInfo(context, cl.CONTEXT_REFERENCE_COUNT);
      const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
      const queue = cl.createCommandQueue(context, device);
      const program = cl.createProgramWithSource(context, 'kernel void nothing() {}');
      cl.releaseAll();
      for (const handle of [buffer, queue, program]) t.true(handle.released, name);
      t.false(context.released);
      t.true(cl.getContextInfo(context, cl.CONTEXT_REFERENCE_COUNT) <= before, name);
      t.is(thrown(() => cl.finish(queue)).code, cl.INVALID_COMMAND_QUEUE.code);
      // Their owners' own releases may come later, from a callback, and are no mistake.
      t.is(cl.releaseMemObject(buffer), 0);
      t.is(cl.releaseProgram(program), 0);
      t.notThrows(() => cl.releaseMemObject(cl.createBuffer(context, cl.MEM_READ_WRITE, 64)));
    }
  },
);

test.serial('releaseAll releases contexts, too, where that is wanted', (t) => {
  const buffers = opened.map(({ context }) => cl.createBuffer(context, cl.MEM_READ_WRITE, 64));
  cl.releaseAll({ contexts: true });
  for (const buffer of buffers) t.true(buffer.released);
  for (const { context, name } of opened) {
    t.true(context.released, name);
    t.is(thrown(() => cl.createBuffer(context, cl.MEM_READ_WRITE, 64)).code, cl.INVALID_CONTEXT.code);
    t.is(cl.releaseContext(context), 0);
  }
});
