import test from 'ava';
import { GcPressure } from '../../src/util/gc-pressure.js';

const MIB = 2 ** 20;

/** The GC pressure and the number of collections they triggered. A test subtracts collected bytes itself. */
function gcPressure() {
  const collections = { n: 0 };
  const pressure = new GcPressure(72 * MIB, () => {
    collections.n++;
  });
  return { pressure, collections };
}

test('unreferenced results trigger a garbage collection every 72 MiB', (t) => {
  const { pressure, collections } = gcPressure();
  let [uncollected, maxMib] = [0, 0];
  for (let i = 0; i < 2000; i++) {
    pressure.grow(MIB);
    maxMib = Math.max(maxMib, ++uncollected);
    const before = collections.n;
    pressure.check();
    if (collections.n === before) continue;
    pressure.shrink(uncollected * MIB, true);
    uncollected = 0;
  }
  t.is(collections.n, Math.floor(2000 / 72));
  t.is(maxMib, 72);
});

test('results that V8 collects in time trigger no garbage collection', (t) => {
  const { pressure, collections } = gcPressure();
  for (let i = 0; i < 2000; i++) {
    pressure.grow(MIB);
    pressure.check();
    if (i % 64 === 63) pressure.shrink(64 * MIB, true);
  }
  t.is(collections.n, 0);
});

test('a program that keeps its arrays triggers garbage collections less and less often', (t) => {
  const { pressure, collections } = gcPressure();
  for (let i = 0; i < 2000; i++) {
    pressure.grow(MIB);
    pressure.check();
  }
  t.is(collections.n, 4, 'at 72, 144, 432 and 1,584 MiB');
});

test('rounds of disposed results trigger garbage collections in the first round only', (t) => {
  const { pressure, collections } = gcPressure();
  const made: number[] = [];
  for (let round = 0; round < 6; round++) {
    for (let i = 0; i < 200; i++) {
      pressure.grow(MIB);
      pressure.check();
    }
    pressure.shrink(200 * MIB, false);
    made.push(collections.n);
  }
  t.deepEqual(made, [2, 2, 2, 2, 2, 2], 'at 72 and 144 MiB, and then at 288, which there never are');
});

test('a garbage collection that frees memory resets the threshold', (t) => {
  const { pressure, collections } = gcPressure();
  for (let i = 0; i < 1000; i++) {
    pressure.grow(MIB);
    pressure.check();
  }
  pressure.shrink(1000 * MIB, false);
  for (let i = 0; i < 500; i++) pressure.grow(MIB);
  const before = collections.n;
  pressure.check();
  t.is(collections.n, before, 'less than what it would take now');
  pressure.shrink(500 * MIB, true);
  for (let i = 0; i < 72; i++) pressure.grow(MIB);
  pressure.check();
  t.is(collections.n, before + 1);
});
