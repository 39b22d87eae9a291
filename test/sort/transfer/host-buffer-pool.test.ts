/** A pool of host buffers. */
import test from 'ava';
import { HostBufferPool } from '../../../src/sort/transfer/host-buffer-pool.js';

test('a pooled buffer has one user at a time, and at most four are pooled', (t) => {
  const made: ArrayBuffer[] = [];
  const from = (bytes: number): ArrayBuffer => {
    made.push(new ArrayBuffer(bytes));
    return made.at(-1) as ArrayBuffer;
  };
  const pool = new HostBufferPool(64);
  const taken = Array.from({ length: 6 }, () => pool.take(from));
  t.is(new Set(taken).size, 6);
  t.is(made.length, 6);
  t.true(taken.every(({ byteLength }) => byteLength === 64));
  for (const buffer of taken) pool.give(buffer);
  const again = Array.from({ length: 6 }, () => pool.take(from));
  t.is(new Set(again).size, 6);
  t.is(again.filter((buffer) => taken.includes(buffer)).length, 4, 'at most four are pooled');
  for (const buffer of again) pool.give(buffer);
  pool.clear();
  t.false(again.includes(pool.take(from)));
  t.is(pool.take().byteLength, 64, 'allocated by V8 without another source');
});
