import test from 'ava';
import { Device } from '../../../src/device/device.js';
import { copyArrays, Staging } from '../../../src/device/memory/staging.js';
import { forEachDevice } from '../../each-device.js';
import { where } from '../../where.js';

const MI = 2 ** 20;

/** Bytes without repetition, so that a misplaced piece is noticed. */
function pattern(bytes: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(bytes / 4));
  for (let i = 0; i < words.length; i++) words[i] = Math.imul(i + 1, 0x9e3779b9);
  return new Uint8Array(words.buffer, 0, bytes);
}

test('small and resizable arrays are copied synchronously, and large ones by other threads', async (t) => {
  for (const [sizes, atOnce] of [
    [[0, 1, 100], true],
    [[MI, 5, 3 * MI + 1], false],
  ] as const) {
    for (const resizable of [false, true]) {
      const from = sizes.map(pattern);
      const Resizable = ArrayBuffer as unknown as new (bytes: number, options: object) => ArrayBuffer;
      if (resizable) from.push(new Uint8Array(new Resizable(7, { maxByteLength: 9 })).fill(3));
      const to = from.map(({ length }) => new Uint8Array(length));
      const copied = copyArrays(from, to);
      t.is(copied === undefined, atOnce || resizable);
      await copied;
      for (const [i, own] of to.entries()) t.is(Buffer.compare(own, from[i] as Uint8Array), 0);
    }
  }
});

forEachDevice((title, open, small, name) => {
  const able = !['clover', 'oclgrind'].includes(name);
  const staged = where(able, 'single-threaded drivers use no staging', test.serial);

  staged(title('staged transfers copy every byte for all sizes and thread counts'), async (t) => {
    const device = await open();
    // Less than a piece, several pieces, a piece and a remainder, and more than the staging memory holds.
    for (const [bytes, threads] of small
      ? [[3 * MI + 5, 16] as const]
      : ([
          [1, 1],
          [4 * MI, 8],
          [2 * MI, 16],
          [45 * MI + 4097, 3],
          [70 * MI + 1, 16],
        ] as const)) {
      const staging = new Staging(device.context, device.queue, () => device.transferQueues, threads);
      const data = pattern(bytes);
      const buffer = device.buffer(bytes + 12);
      device.queue.fill(buffer, 0, { bytes: 12 });
      await device.queue.finish();
      await staging.write(buffer, data, 12);
      const back = new Uint8Array(bytes);
      await staging.read(buffer, back, 12);
      t.is(Buffer.compare(back, data), 0, `${bytes} bytes, ${threads} threads`);
      const head = new Uint8Array(12);
      device.queue.read(buffer, head);
      await device.queue.finish();
      t.deepEqual([...head], Array(12).fill(0));
      buffer.release();
      staging.release();
    }
  });

  staged(title('many staged transfers of any size may run concurrently in both directions'), async (t) => {
    const device = await open();
    const staging = new Staging(device.context, device.queue, () => device.transferQueues);
    const sizes = small ? [MI, 17 * MI, 5] : [MI, 3 * MI + 1, 17 * MI, 5, 20 * MI, 2 * MI, MI, 4097, 16 * MI];
    const transfers = sizes.map(async (bytes) => {
      const data = pattern(bytes);
      const buffer = device.buffer(bytes);
      const back = new Uint8Array(bytes);
      await staging.write(buffer, data);
      await staging.read(buffer, back);
      buffer.release();
      return Buffer.compare(back, data);
    });
    t.deepEqual(await Promise.all(transfers), Array(sizes.length).fill(0));
    staging.release();
  });

  test.serial(title('pinned memory is zeroed when it is allocated'), async (t) => {
    const device = await open();
    const staging = new Staging(device.context, device.queue, () => device.transferQueues);
    for (let round = 0; round < 20; round++) {
      const bytes = new Uint8Array(staging.allocate(1000 + round));
      t.true(bytes.every((byte) => byte === 0));
      bytes.fill(0xa5);
      staging.free(bytes.buffer);
    }
    staging.release();
  });

  test.serial(title('pinned memory has exactly the requested size, also for a few bytes'), async (t) => {
    const device = await open();
    const staging = new Staging(device.context, device.queue, () => device.transferQueues);
    for (const bytes of [1, 2, 3, 4, 5, 4097]) t.is(staging.allocate(bytes).byteLength, bytes);
    staging.release();
  });

  test.serial(title('pinned memory is transferred directly, and detached when freed'), async (t) => {
    const device = await open();
    const staging = new Staging(device.context, device.queue, () => device.transferQueues);
    const memory = staging.allocate(8192);
    const words = new Uint32Array(memory);
    t.is(words.length, 2048);
    words.forEach((_, i) => {
      words[i] = i * i;
    });
    const buffer = device.buffer(8192);
    device.queue.write(buffer, words);
    await device.queue.finish();
    const back = new Uint32Array(2048);
    device.queue.read(buffer, back);
    await device.queue.finish();
    t.deepEqual(back, words);
    t.true(staging.has(memory));
    t.true(staging.free(memory));
    t.is(words.length, 0);
    t.false(staging.free(memory));
    buffer.release();
    staging.release();
  });

  staged(title('abandoning a device releases its staging memory but not pinned arrays'), async (t) => {
    const device = await open();
    const staging = new Staging(device.context, device.queue, () => device.transferQueues);
    const array = staging.allocate(64);
    const stagingMemory = staging.allocateStaging(MI);
    const buffer = device.buffer(2 * MI);
    const data = pattern(2 * MI);
    await staging.write(buffer, data);
    device.queue.write(buffer, new Uint8Array(stagingMemory).fill(7)); // pending when its memory is released
    staging.abandon();
    t.is(stagingMemory.byteLength, 0);
    t.is(array.byteLength, 64);
    const back = new Uint8Array(2 * MI);
    device.queue.read(buffer, back);
    await device.queue.finish();
    t.true(back.subarray(0, MI).every((byte) => byte === 7));
    t.is(Buffer.compare(back.subarray(MI), data.subarray(MI)), 0);
    buffer.release();
    staging.release();
    t.is(array.byteLength, 0);
  });

  staged(
    title(
      'pinned arrays of an abandoned device keep their data until they are freed or its successor closes',
    ),
    async (t) => {
      const { info } = await open();
      const first = await Device.open(info.id);
      const [freed, retained] = [first.staging.allocate(64), first.staging.allocate(64)];
      new Uint8Array(retained).fill(7);
      await first.abandon();
      t.true(new Uint8Array(retained).every((byte) => byte === 7));
      t.false(first.staging.has(retained), 'it is no longer pinned');
      t.true(first.staging.free(freed));
      t.is(freed.byteLength, 0);
      const second = await Device.open(info.id);
      second.staging.adoptOrphans(first.staging);
      await first.close();
      t.is(retained.byteLength, 64);
      await second.abandon();
      await second.close();
      t.is(retained.byteLength, 0);
    },
  );

  test.serial(title('hostMemory returns zeroed memory of the requested size'), async (t) => {
    const device = await open();
    const memory = device.hostMemory(5 * MI + 3);
    t.is(memory.byteLength, 5 * MI + 3);
    t.true(new Uint8Array(memory).every((byte) => byte === 0));
    const copy = structuredClone(memory);
    t.is(copy.byteLength, memory.byteLength);
    t.is(device.hostMemory(10).byteLength, 10);
  });
});
