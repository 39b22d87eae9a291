import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { underLayer } from '../layer/layer.js';
import { where } from '../where.js';
import { opened, thrown } from './devices.js';
import { run } from './run.js';

const WAYS = [
  'SVMFree under a kernel',
  'SVMFree under a kernel of a released queue',
  'SVMFree under a kernel of a queue without order',
  'SVMFree under a kernel that follows a pointer',
  'SVMFree under a copy',
  'SVMFree under a read',
  'SVMFree under a checksum',
  'SVMFree under a buffer that lives there',
  'enqueueSVMFree on another queue',
  'releaseAll under a kernel',
];
const TRANSFERRED = 'shared virtual memory is transferred and freed';

const heedsMark = Number(process.versions.node.split('.')[0]) >= 24;

for (const { name, context, device, queue, version, userEvents } of opened) {
  const shared = version >= 200 && Boolean(cl.getDeviceInfo(device, cl.DEVICE_SVM_CAPABILITIES));
  const withSvm = where(shared, 'no shared virtual memory', test.serial); // the device has none
  // The commands wait for a user event; a single-threaded driver waits for it for ever.
  const withUserEvents = where(
    shared && userEvents,
    'no shared virtual memory, or no user events',
    test.serial,
  );

  withUserEvents(
    `${name}: enqueueSVMFree calls back and frees the memory even if an event that it waits for fails`,
    async (t) => {
      const memory = cl.SVMAlloc(context, cl.MEM_READ_WRITE, 4096, 0);
      const user = cl.createUserEvent(context);
      const freed = new Promise((resolve) => cl.enqueueSVMFree(queue, [memory], resolve, 'told', [user]));
      cl.setUserEventStatus(user, -5);
      // Nothing else keeps the loop alive; a driver that does not report failed commands is polled at the next call.
      const waiting = setInterval(() => cl.SVMFree(context, cl.SVMAlloc(context, 0, 64)), 10);
      t.is(await freed, 'told');
      clearInterval(waiting);
      t.is(memory.byteLength, 0);
    },
  );

  for (const way of [...WAYS, TRANSFERRED]) {
    const transfers = way === TRANSFERRED && (heedsMark || !('transfer' in ArrayBuffer.prototype));
    where(
      !transfers,
      'this Node does not transfer such memory',
      withUserEvents,
    )(`${name}: commands and jobs keep shared memory alive: ${way}`, async (t) => {
      const { result, control } = await underLayer((env) => run('lifetimes', [name, way], env));
      t.is(result.stderr, '');
      t.is(result.signal ?? result.code, 0);
      t.is(result.stdout, 'alive\n');
      const { live, misuses } = control;
      t.deepEqual(live, {}, 'all of it is freed in the end');
      t.is(misuses.count, 0);
    });
  }

  withSvm(`${name}: resizable memory is rejected by copies that do not block`, (t) => {
    const Resizable = ArrayBuffer as unknown as new (n: number, o: { maxByteLength: number }) => ArrayBuffer;
    const host = new Resizable(64, { maxByteLength: 128 });
    const memory = cl.SVMAlloc(context, 0, 64);
    for (const [to, from] of [
      [host, memory],
      [memory, host],
    ] as const) {
      t.regex(thrown(() => cl.enqueueSVMMemcpy(queue, false, to, from, 64)).reason ?? '', /resizable/);
      t.is(cl.enqueueSVMMemcpy(queue, true, to, from, 64), 0);
    }
    cl.SVMFree(context, memory);
  });

  withSvm(`${name}: freed memory is returned while the program runs, not at its end`, (t) => {
    const bytes = 1 << 26;
    const before = process.memoryUsage().rss;
    for (let i = 0; i < 40; i++) {
      const memory = cl.SVMAlloc(context, 0, bytes);
      cl.enqueueSVMMemFill(queue, memory, Uint8Array.of(i), bytes);
      cl.finish(queue);
      cl.SVMFree(context, memory);
    }
    cl.finish(queue);
    t.true(process.memoryUsage().rss - before < 6 * bytes);
  });
}
