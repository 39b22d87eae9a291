/** A pool of host buffers. */
import test from 'ava';
import { Rooms } from '../../../src/sort/transfer/rooms.js';

test('a pooled buffer has one user at a time, and at most four are kept', (t) => {
  const made: ArrayBuffer[] = [];
  const from = (bytes: number): ArrayBuffer => {
    made.push(new ArrayBuffer(bytes));
    return made.at(-1) as ArrayBuffer;
  };
  const rooms = new Rooms(64);
  const taken = Array.from({ length: 6 }, () => rooms.take(from));
  t.is(new Set(taken).size, 6);
  t.is(made.length, 6);
  t.true(taken.every(({ byteLength }) => byteLength === 64));
  for (const room of taken) rooms.give(room);
  const again = Array.from({ length: 6 }, () => rooms.take(from));
  t.is(new Set(again).size, 6);
  t.is(again.filter((room) => taken.includes(room)).length, 4, 'at most four are kept');
  for (const room of again) rooms.give(room);
  rooms.clear();
  t.false(again.includes(rooms.take(from)));
  t.is(rooms.take().byteLength, 64, 'allocated by V8 without another source');
});
