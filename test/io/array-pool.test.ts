import test from 'ava';
import { ArrayPool } from '../../src/io/array-pool.js';
import { newArray } from '../../src/keys/array.js';
import type { Dtype } from '../../src/keys/dtype.js';
import { MemoryError } from '../../src/util/errors.js';

/** Counts what is taken of it and given back. */
function memory() {
  const live = new Set<ArrayBufferLike>();
  let made = 0;
  return {
    live,
    get made() {
      return made;
    },
    alloc: <D extends Dtype>(dtype: D, length: number) => {
      const array = newArray(dtype, length);
      live.add(array.buffer);
      made++;
      return array;
    },
    free: async ({ buffer }: ArrayBufferView) => void live.delete(buffer),
  };
}

const MIB = 2 ** 20;

test('what is given back serves the next array that fits, of whatever dtype', (t) => {
  const from = memory();
  const pool = new ArrayPool(from, 64 * MIB);
  const first = pool.take('u32', MIB);
  t.is(first.length, MIB);
  t.true(first instanceof Uint32Array);
  const second = pool.take('u32', MIB);
  t.not(first.buffer, second.buffer, 'each is one’s own');
  pool.give(first);
  pool.give(second);
  const third = pool.take('f64', MIB / 2 - 7);
  t.true(third instanceof Float64Array);
  t.is(third.length, MIB / 2 - 7);
  t.true([first.buffer, second.buffer].includes(third.buffer));
  t.is(from.made, 2);
  pool.take('u8', 2 * MIB);
  t.is(from.made, 2, 'what is smaller has room in it');
  pool.take('u8', 2 * MIB);
  t.is(from.made, 3);
  t.is(pool.take('u64', 0).length, 0);
  t.is(pool.take('u16', 100_000).length, 100_000);
  t.is(from.made, 3, 'few bytes are no matter');
});

test('the smallest that is large enough is taken', (t) => {
  const from = memory();
  const pool = new ArrayPool(from, 64 * MIB);
  const [large, small] = [pool.take('u8', 2 * MIB - 9), pool.take('u8', MIB)];
  pool.give(small);
  pool.give(large);
  t.is(pool.take('u8', MIB - 5).buffer, small.buffer);
  t.is(pool.take('u8', MIB).buffer, large.buffer);
});

test('what is much larger is left to who needs it, and what nobody needs is given back', (t) => {
  const from = memory();
  const pool = new ArrayPool(from, 64 * MIB);
  const large = pool.take('u8', 16 * MIB);
  pool.give(large);
  const small = pool.take('u8', 4 * MIB);
  t.not(small.buffer, large.buffer);
  t.is(pool.take('u8', 12 * MIB).buffer, large.buffer);
  pool.give(large);
  for (let i = 0; i < 70; i++) pool.give(pool.take('u8', MIB));
  t.true(from.live.has(large.buffer), 'as long as no other is to be made');
  pool.take('u8', 32 * MIB);
  t.false(from.live.has(large.buffer));
});

test('no more waits than may, and the one that waits the longest goes first', async (t) => {
  const from = memory();
  const pool = new ArrayPool(from, 3 * MIB);
  const arrays = [1, 1, 1, 1].map((size) => pool.take('u8', size * MIB));
  for (const array of arrays) pool.give(array);
  t.is(from.live.size, 3);
  t.false(from.live.has(arrays[0]?.buffer as ArrayBuffer));
  const huge = pool.take('u8', 4 * MIB);
  pool.give(huge);
  t.is(from.live.size, 0, 'one that is more than that, neither');
});

test('where there is no such memory left, all that waits is given back, and ordinary memory has to do', (t) => {
  const from = memory();
  let isFull = false;
  const alloc = <D extends Dtype>(dtype: D, length: number) => {
    if (isFull) throw new MemoryError('none');
    return from.alloc(dtype, length);
  };
  const pool = new ArrayPool({ alloc, free: from.free }, 64 * MIB);
  pool.give(pool.take('u8', MIB));
  isFull = true;
  t.is(pool.take('u32', MIB).length, MIB);
  t.is(from.live.size, 0);
});

test('an array that a failed call may still use is nobody else’s; others are left alone', (t) => {
  const from = memory();
  const pool = new ArrayPool(from, 64 * MIB);
  const array = pool.take('u32', MIB);
  pool.forget(array);
  t.is(from.live.size, 0);
  pool.give(array);
  pool.give(new Uint8Array(4 * MIB));
  t.not(pool.take('u32', MIB).buffer, array.buffer);
  t.is(from.made, 2);
});
