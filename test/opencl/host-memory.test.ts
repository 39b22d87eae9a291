import test from 'ava';
import { native } from '../../src/opencl/binding.js';
import * as cl from '../../src/opencl/index.js';
import { where } from '../where.js';
import { opened, thrown } from './devices.js';
import { run } from './run.js';

const MAPPED = [
  'unmap on another queue',
  'unmap before another map of the same memory',
  'release of the mapped buffer',
  'releaseAll of the mapped buffer',
  'unmap under a checksum',
  'release under a checksum',
  'release of a ring',
  'a buffer that lives in mapped memory',
  'another context uses mapped memory',
  'a mapped copy is transferred by structuredClone',
  'a mapped copy is unmapped under a read',
];
const TRANSFERRED = [
  'mapped memory is transferred',
  'mapped memory is transferred and its buffer released',
  'mapped memory is transferred to another length',
];
const COPIES = [
  'host memory is transferred to another length',
  'a mapped copy is transferred',
  'a mapped copy is transferred to another length',
];

const hasTransfer = 'transfer' in ArrayBuffer.prototype;
/** Whether V8 respects the mark of an ArrayBuffer that must not be transferred. */
const heedsMark = Number(process.versions.node.split('.')[0]) >= 24;

for (const { name, context, queue, userEvents } of opened) {
  // The commands wait for a user event; a single-threaded driver waits for it for ever.
  const withUserEvents = where(userEvents, 'no user events', test.serial);
  const alive = (way: string, runs = withUserEvents) =>
    runs(`${name}: memory in use stays valid: ${way}`, async (t) => {
      const { code, signal, stdout, stderr } = await run('lifetimes', [name, way]);
      t.is(stderr, '');
      t.is(signal ?? code, 0);
      t.is(stdout, 'alive\n');
    });
  for (const way of MAPPED) alive(way);
  // Only such a Node can transfer mapped memory.
  for (const way of TRANSFERRED)
    alive(way, where(hasTransfer && !heedsMark, 'this Node does not transfer such memory', withUserEvents));
  for (const way of COPIES)
    alive(way, where(hasTransfer, 'this Node does not transfer memory', withUserEvents));

  where(
    heedsMark,
    'this Node transfers mapped memory',
    test.serial,
  )(`${name}: mapped memory can be neither transferred nor resized`, (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
    const mapped = cl.enqueueMapBuffer(queue, buffer, true, cl.MAP_WRITE, 0, 64);
    const prototype = ArrayBuffer.prototype as unknown as Record<string, (length?: number) => ArrayBuffer>;
    for (const method of ['transfer', 'transferToFixedLength', 'resize']) {
      for (const length of [undefined, 0, 64, 128]) {
        t.throws(() => prototype[method]?.call(mapped, length), { instanceOf: TypeError }, method);
      }
    }
    t.is(mapped.byteLength, 64);
    cl.enqueueUnmapMemObject(queue, buffer, mapped);
    cl.finish(queue);
    cl.releaseMemObject(buffer);
  });

  test.serial(`${name}: host allocations larger than any address space are rejected`, (t) => {
    for (const copies of [false, true]) {
      const before = native().setCopyMappings(copies);
      for (const bytes of [2n ** 64n - 1n, 2n ** 64n - 2n ** 21n, 2n ** 63n, 2n ** 53n, 2n ** 47n]) {
        for (const used of [false, true]) {
          const error = thrown(() => cl.allocateHostMemory(bytes, 1, used));
          t.is(error.code, cl.OUT_OF_HOST_MEMORY.code);
          t.regex(error.reason ?? '', new RegExp(`${bytes} bytes`));
        }
      }
      t.is(cl.allocateHostMemory(0).byteLength, 0);
      t.deepEqual(new Uint8Array(cl.allocateHostMemory(5)), new Uint8Array(5));
      native().setCopyMappings(before);
    }
  });
}
