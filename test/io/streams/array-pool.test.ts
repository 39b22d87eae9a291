import test from 'ava';
import type { DeviceInfo } from '../../../src/device/platform/platform.js';
import { ArrayPool } from '../../../src/io/streams/array-pool.js';
import { newArray } from '../../../src/keys/array.js';
import type { Dtype } from '../../../src/keys/dtype.js';
import { MemoryError } from '../../../src/util/errors.js';

const DEVICE = { name: 'some device' } as DeviceInfo;

/** Memory of a device, or of the host engine, that counts allocations and frees. */
function memory({ isHost = false } = {}) {
  const live = new Set<ArrayBufferLike>();
  let made = 0;
  return {
    live,
    device: isHost ? undefined : DEVICE,
    get made() {
      return made;
    },
    allocPinned: <D extends Dtype>(dtype: D, length: number) => {
      const array = newArray(dtype, length);
      live.add(array.buffer);
      made++;
      return array;
    },
    freePinned: async ({ buffer }: ArrayBufferView) => void live.delete(buffer),
  };
}

const MIB = 2 ** 20;

test('a returned array is reused for the next array that fits, of any dtype', (t) => {
  const from = memory();
  const pool = new ArrayPool(from, 64 * MIB);
  const first = pool.take('u32', MIB);
  t.is(first.length, MIB);
  t.true(first instanceof Uint32Array);
  const second = pool.take('u32', MIB);
  t.not(first.buffer, second.buffer, 'arrays do not share memory');
  pool.release(first);
  pool.release(second);
  const third = pool.take('f64', MIB / 2 - 7);
  t.true(third instanceof Float64Array);
  t.is(third.length, MIB / 2 - 7);
  t.true([first.buffer, second.buffer].includes(third.buffer));
  t.is(from.made, 2);
  pool.take('u8', 2 * MIB);
  t.is(from.made, 2, 'a smaller array fits into it');
  pool.take('u8', 2 * MIB);
  t.is(from.made, 3);
  t.is(pool.take('u64', 0).length, 0);
  t.is(pool.take('u16', 100_000).length, 100_000);
  t.is(from.made, 3, 'small arrays are not pooled');
});

test('arrays of small files are reused on the host engine only', (t) => {
  for (const isHost of [true, false]) {
    const from = memory({ isHost });
    const pool = new ArrayPool(from, 64 * MIB);
    const first = pool.take('f64', 25_000);
    pool.release(first);
    t.is(pool.take('f64', 24_000).buffer === first.buffer, isHost);
    t.is(from.made, isHost ? 1 : 0);
  }
});

test('the smallest array that is large enough is reused', (t) => {
  const from = memory();
  const pool = new ArrayPool(from, 64 * MIB);
  const [large, small] = [pool.take('u8', 2 * MIB - 9), pool.take('u8', MIB)];
  pool.release(small);
  pool.release(large);
  t.is(pool.take('u8', MIB - 5).buffer, small.buffer);
  t.is(pool.take('u8', MIB).buffer, large.buffer);
});

test('a much larger array is not reused for a small one, and an unused array is freed', (t) => {
  const from = memory();
  const pool = new ArrayPool(from, 64 * MIB);
  const large = pool.take('u8', 16 * MIB);
  pool.release(large);
  const small = pool.take('u8', 4 * MIB);
  t.not(small.buffer, large.buffer);
  t.is(pool.take('u8', 12 * MIB).buffer, large.buffer);
  pool.release(large);
  for (let i = 0; i < 70; i++) pool.release(pool.take('u8', MIB));
  t.true(from.live.has(large.buffer), 'until another array is allocated');
  pool.take('u8', 32 * MIB);
  t.false(from.live.has(large.buffer));
});

test('the pool stays within its limit and frees its oldest array first', async (t) => {
  const from = memory();
  const pool = new ArrayPool(from, 3 * MIB);
  const arrays = [1, 1, 1, 1].map((size) => pool.take('u8', size * MIB));
  for (const array of arrays) pool.release(array);
  t.is(from.live.size, 3);
  t.false(from.live.has(arrays[0]?.buffer as ArrayBuffer));
  const huge = pool.take('u8', 4 * MIB);
  pool.release(huge);
  t.is(from.live.size, 0, 'an array above the limit is freed at once');
});

test('when allocation fails, the pool frees its arrays and returns ordinary memory', (t) => {
  const from = memory();
  let isFull = false;
  const allocPinned = <D extends Dtype>(dtype: D, length: number) => {
    if (isFull) throw new MemoryError('none');
    return from.allocPinned(dtype, length);
  };
  const pool = new ArrayPool({ ...from, allocPinned }, 64 * MIB);
  pool.release(pool.take('u8', MIB));
  isFull = true;
  t.is(pool.take('u32', MIB).length, MIB);
  t.is(from.live.size, 0);
});

test('a forgotten array is not reused, and arrays from elsewhere are ignored', (t) => {
  const from = memory();
  const pool = new ArrayPool(from, 64 * MIB);
  const array = pool.take('u32', MIB);
  pool.abandon(array);
  t.is(from.live.size, 0);
  pool.release(array);
  pool.release(new Uint8Array(4 * MIB));
  t.not(pool.take('u32', MIB).buffer, array.buffer);
  t.is(from.made, 2);
});
