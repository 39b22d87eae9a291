import test from 'ava';
import { type Buffer, BufferPool } from '../../../src/device/memory/buffer.js';
import { MemoryError } from '../../../src/util/errors.js';

/** A pool of buffers without memory, and a queue whose position the test sets. */
function poolOf(budget: number, maxBytes = Number.POSITIVE_INFINITY) {
  const released: Buffer[] = [];
  const queue = { position: 0, passed: 0, hasPassed: (position: number) => position <= queue.passed };
  let allocated = 0;
  const allocate = (bytes: number): Buffer => {
    if (allocated + bytes > maxBytes) throw new MemoryError('no memory');
    allocated += bytes;
    const buffer = {
      bytes,
      release: () => {
        allocated -= bytes;
        released.push(buffer);
      },
    } as unknown as Buffer;
    return buffer;
  };
  return { pool: new BufferPool(allocate, budget, queue), queue, released };
}

test('a returned buffer is reused by the same queue at once', (t) => {
  const { pool, queue } = poolOf(2 ** 20);
  const first = pool.take(8192);
  queue.position = 5;
  pool.give(first);
  t.is(pool.take(5000), first);
  t.not(pool.take(8192), first, 'it is in use');
});

test('another queue reuses a buffer only after the commands that use it are complete', (t) => {
  const { pool, queue } = poolOf(2 ** 20);
  const first = pool.take(8192);
  queue.position = 5;
  pool.give(first);
  queue.passed = 4;
  const other = pool.take(8192, true);
  t.not(other, first, 'commands that use it are pending');
  queue.passed = 5;
  t.is(pool.take(8192, true), first);
});

test('buffers that are too large or too small are not reused', (t) => {
  const { pool } = poolOf(2 ** 20);
  const buffer = pool.take(20_000);
  pool.give(buffer);
  t.not(pool.take(9999), buffer, 'more than twice as large');
  t.not(pool.take(20_001), buffer);
  t.is(pool.take(10_000), buffer);
});

test('idle memory stays within the budget: the oldest buffer and oversized buffers are released', (t) => {
  const { pool, released } = poolOf(20_000);
  const [a, b, c, d] = [pool.take(8000), pool.take(8000), pool.take(8000), pool.take(20_001)];
  for (const buffer of [a, b, c, d]) pool.give(buffer);
  t.deepEqual(released, [a, d]);
  t.deepEqual(pool.usage, { idle: 16_000, used: 0, peak: 44_001 });
});

test('idle memory is released before an allocation fails', (t) => {
  const { pool, released } = poolOf(2 ** 20, 10_000);
  const first = pool.take(9000);
  pool.give(first);
  t.is(pool.take(2000).bytes, 2000);
  t.deepEqual(released, [first]);
  t.throws(() => pool.take(9000), { instanceOf: MemoryError });
});

test('a closed pool keeps no buffers', (t) => {
  const { pool, released } = poolOf(2 ** 20);
  const [a, b] = [pool.take(8192), pool.take(8192)];
  pool.give(a);
  pool.close();
  pool.give(b);
  t.deepEqual(released, [a, b]);
});
