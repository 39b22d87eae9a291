/** Additions of the binding for speed: lists of launches, staged transfers, host memory on large pages. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import * as cl from '../../src/opencl/index.js';
import { where } from '../where.js';
import { kernel, opened, rejected, thrown } from './devices.js';
import { run } from './run.js';

const SOURCE =
  'kernel void add(global uint *a, uint b, local uint *scratch) {' +
  '  scratch[0] = b; a[get_global_id(0)] += scratch[0]; }';

/** Launches as words; the first word is replaced by the number of launches. */
const launches = (
  words: readonly number[],
  kernels: readonly cl.Kernel[],
  memory: readonly cl.MemObject[] = [],
  bytes = new Uint8Array(8),
): cl.Launches => ({
  words: Float64Array.from([0, ...words]),
  count: words.length + 1,
  kernels,
  memory,
  bytes,
});

for (const one of opened) {
  const { name, context, queue } = one;
  const title = (claim: string): string => `${name}: ${claim}`;
  const read = (buffer: cl.MemObject, n: number) => {
    const host = new Uint32Array(n);
    cl.enqueueReadBuffer(queue, buffer, true, 0, n * 4, host);
    return [...host];
  };

  test.serial(title('a list of launches sets arguments and runs kernels in order'), (t) => {
    const add = kernel(one, SOURCE);
    const buffer = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 16, Uint32Array.of(1, 2, 3, 4));
    const bytes = new Uint8Array(Uint32Array.of(10, 100).buffer);
    // One dimension, groups of one, four and then two work-items; three arguments, then only the second.
    const all = [1, 1, 4, 1, 3, ...[0, 0, 0, 0], ...[1, 1, 0, 4], ...[2, 2, 4, 0]];
    const changed = [1, 1, 2, 1, 1, ...[1, 1, 4, 4]];
    const list = launches([...all, ...changed], [add, add], [buffer], bytes);
    t.is(cl.enqueueKernels(queue, list), 0);
    t.is(list.words[0], 2);
    t.deepEqual(read(buffer, 4), [111, 112, 13, 14]);
    const events = cl.enqueueKernels(queue, launches([1, 0, 4, 0], [add]), true);
    t.is(events.length, 1);
    cl.waitForEvents(events);
    t.deepEqual(read(buffer, 4), [211, 212, 113, 114]);
    for (const event of events) cl.releaseEvent(event);
    cl.releaseMemObject(buffer);
    t.is(
      thrown(() => cl.enqueueKernels(queue, launches([1, 0, 4, 0], [add]))).code,
      cl.INVALID_KERNEL_ARGS.code,
    );
    cl.releaseKernel(add);
  });

  test.serial(title('an invalid launch in a list is rejected after those before it are enqueued'), (t) => {
    const add = kernel(one, SOURCE);
    const buffer = cl.createBuffer(context, cl.MEM_COPY_HOST_PTR, 16, new Uint32Array(4));
    const good = [1, 1, 4, 1, 3, ...[0, 0, 0, 0], ...[1, 1, 0, 4], ...[2, 2, 4, 0]];
    const bytes = new Uint8Array(Uint32Array.of(5).buffer);
    const refused: readonly (readonly [words: number[], kernel?: unknown])[] = [
      [[4, 1, 4, 1, 0]], // dimensions
      [[1, 1, 4]], // ends within a launch
      [[1, 0, 4, 1, ...[0, 0, 7, 0]]], // no such memory
      [[1, 0, 4, 1, ...[0, 0, 1, 0]]], // null
      [[1, 0, 4, 1, ...[1, 1, 2, 4]]], // beyond the bytes
      [[1, 0, 4, 1, ...[1, 1, 1e12, 4]]],
      [[1, 0, 4, 1, ...[1, 1, 0, 0]]], // nothing
      [[1, 0, 4, 1, ...[1, 9, 0, 4]]], // no such kind
      [[1, 0, 4, 1, ...[77, 1, 0, 4]]], // no such argument
      [[1, 0, 4, 1, ...[1e9, 1, 0, 4]]],
      [[1, 0, -4, 0]],
      [[1, 0, Number.NaN, 0]],
      [[1, 0, 4, 0], null],
      [[1, 0, 4, 0], undefined],
    ];
    for (const [words, ...rest] of refused) {
      const kernels = [add, ...(rest.length > 0 ? rest : [add])] as cl.Kernel[];
      const list = launches([...good, ...words], kernels, [buffer, null as never], bytes);
      const error = thrown(() => cl.enqueueKernels(queue, list));
      t.is(typeof error.code, 'number', JSON.stringify(words));
      t.is(list.words[0], 1, JSON.stringify(words));
    }
    cl.finish(queue);
    t.deepEqual(read(buffer, 4), Array(4).fill(5 * refused.length));
    const { code } = thrown(() => cl.enqueueKernels(queue, { ...launches([], []), count: 99 }));
    t.is(code, cl.INVALID_VALUE.code);
    cl.releaseMemObject(buffer);
    cl.releaseKernel(add);
  });

  test.serial(title('staged transfers work in both directions and reject wrong arguments'), async (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 100_000);
    const data = Uint8Array.from({ length: 99_990 }, (_, i) => i * 31 + (i >> 8));
    const ring = new ArrayBuffer(4 * 4096);
    // PoCL's basic device runs commands on any waiting thread, and sometimes hung when two threads waited.
    const threads = /^basic/.test(String(cl.getDeviceInfo(one.device, cl.DEVICE_NAME))) ? 1 : 4;
    const back = new Uint8Array(data.length);
    for (const piece of [4096, 5000, ring.byteLength]) {
      back.fill(0);
      await cl.writeBufferAsync(queue, buffer, 10, data, ring, piece, threads);
      await cl.readBufferAsync(queue, buffer, 10, back, ring, piece, threads);
      t.deepEqual(back, data, `pieces of ${piece} bytes`);
    }
    // Reads bypass the caches, from any byte on.
    for (const [start, bytes] of [
      [0, data.length],
      [3, data.length - 8],
      [17, 5],
    ] as const) {
      const came = new Uint8Array(data.length + 5);
      await cl.readBufferAsync(
        queue,
        buffer,
        10,
        came.subarray(start, start + bytes),
        ring,
        4096,
        threads,
        true,
      );
      t.deepEqual(came.subarray(start, start + bytes), data.subarray(0, bytes));
      t.true([...came.subarray(0, start), ...came.subarray(start + bytes)].every((byte) => byte === 0));
    }
    // One driver crashed the process for an offset and a size whose sum wraps.
    for (const start of [cl.readBufferAsync, cl.writeBufferAsync]) {
      const wrapping = () => start(queue, buffer, 2n ** 64n - 64n, back, ring, 4096, 2);
      t.is((await rejected(wrapping())).message, cl.INVALID_VALUE.message);
    }
    await t.throwsAsync(async () => cl.readBufferAsync(queue, buffer, 11, back, ring, 4096, 2));
    const moved = new Uint8Array(50_000);
    const transfer = cl.readBufferAsync(queue, buffer, 0, moved, ring, 4096, 1);
    structuredClone(moved, { transfer: [moved.buffer] });
    await t.throwsAsync(transfer, { code: cl.INVALID_HOST_PTR.code });
    for (const threads of [0, 65, -1]) {
      t.is(
        typeof (await rejected(cl.writeBufferAsync(queue, buffer, 0, data, ring, 4096, threads))).code,
        'number',
      );
    }
    for (const piece of [0, ring.byteLength + 1, -1]) {
      t.is(
        typeof (await rejected(cl.writeBufferAsync(queue, buffer, 0, data, ring, piece, 1))).code,
        'number',
      );
    }
    const target = cl.createBuffer(context, cl.MEM_READ_WRITE, 2 ** 21);
    const many = new Uint8Array(2 ** 21);
    const refusal = (await rejected(cl.writeBufferAsync(queue, target, 0, many, ring, 1, 1))) as Error & {
      reason: string;
    };
    t.regex(refusal.reason, /at most 2\^20/);
    cl.releaseMemObject(target);
    t.is(
      typeof (await rejected(cl.writeBufferAsync(queue, buffer, 0, 5 as never, ring, 4096, 1))).code,
      'number',
    );
    cl.releaseMemObject(buffer);
    t.is(
      (await rejected(cl.writeBufferAsync(queue, buffer, 0, data, ring, 4096, 1))).code,
      cl.INVALID_MEM_OBJECT.code,
    );
  });

  // Migration needs OpenCL 1.2, and a single-threaded driver has no transfers by other threads. PoCL's basic device
  // runs commands within the calls of any waiting thread, and deadlocks when commands of two queues and threads depend
  // on each other.
  const isBasic = cl.getDeviceInfo(one.device, cl.DEVICE_NAME).startsWith('basic');
  where(
    !(one.version < 120 || one.singleThreaded || isBasic),
    'no transfers by threads, or OpenCL below 1.2',
    test.serial,
  )(title('a buffer can be migrated while threads transfer to it'), async (t) => {
    const { code, signal, stdout, stderr } = await run('migrated', [name]);
    t.is(signal, null, stderr);
    t.is(code, 0, stderr);
    t.is(stdout.trim(), 'right');
  });
}

test('allocateHostMemory returns zeroed memory of any size and rejects wrong arguments', async (t) => {
  for (const bytes of [0, 1, 4096, 2 ** 21 + 1]) {
    for (const threads of [0, 3]) {
      const memory = cl.allocateHostMemory(bytes, threads);
      t.is(memory.byteLength, bytes);
      const view = new Uint8Array(memory);
      t.true(view.every((byte) => byte === 0));
      view.fill(7); // while threads access its pages
      t.true(view.every((byte) => byte === 7));
    }
  }
  t.is(typeof thrown(() => cl.allocateHostMemory(-1)).code, 'number');
  t.is(typeof thrown(() => cl.allocateHostMemory(16, 65)).code, 'number');
  await new Promise((resolve) => setTimeout(resolve, 10));
});

test('freed host memory is reused by one owner at a time, and never where zeros are requested', (t) => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const bytes = 2 ** 21 + 4096;
  let again = 0;
  for (let round = 0; round < 20; round++) {
    const pair = [1, 2].map((mark) => {
      const view = new Uint8Array(cl.allocateHostMemory(bytes - round, 0, true));
      t.is(view.length, bytes - round);
      if (view[0] !== 0) again++;
      return view.fill(mark);
    });
    pair.forEach((view, i) => {
      t.true(
        view.every((byte) => byte === i + 1),
        'not shared',
      );
    });
    t.true(new Uint8Array(cl.allocateHostMemory(bytes)).every((byte) => byte === 0));
    pair.length = 0;
    collectGarbage();
  }
  if (process.platform === 'linux') t.true(again > 0);
});
