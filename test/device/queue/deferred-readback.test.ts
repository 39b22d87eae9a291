import test from 'ava';
import { DeferredReadback } from '../../../src/device/queue/deferred-readback.js';

test('words are unknown until they are read back, and only the requested ones are copied', (t) => {
  const readback = new DeferredReadback({} as never, 8);
  readback.request(3);
  readback.request(2);
  t.is(readback.count, 3);
  t.is(readback.word(0), 0xffffffff);
  t.deepEqual([...readback.words(1, 2)], [0xffffffff, 0xffffffff]);
  t.false(readback.isZero);
  // Memory of an abandoned device is detached.
  readback.deliver(new Uint8Array(0));
  t.is(readback.word(2), 0xffffffff);
  const memory = new Uint8Array(Uint32Array.of(9, 0, 4, 5, 9).buffer);
  readback.deliver(memory.subarray(4, 16));
  memory.fill(255); // the memory is reused
  t.deepEqual([readback.word(0), readback.word(1), readback.word(2)], [0, 4, 5]);
  t.deepEqual([...readback.words(1, 2)], [4, 5]);
  t.false(readback.isZero);
  const zero = new DeferredReadback({} as never, 0);
  zero.request(2);
  zero.deliver(new Uint32Array(2));
  t.true(zero.isZero);
});
