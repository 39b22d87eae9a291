import test from 'ava';
import { HeldBytes } from '../../../src/sort/calls/held-bytes.js';

const MIB = 2 ** 20;

/** The held bytes and the number of collections they triggered. A test subtracts collected bytes itself. */
function heldBytes() {
  const collections = { n: 0 };
  const held = new HeldBytes(() => {
    collections.n++;
  });
  return { held, collections };
}

test('unreferenced results trigger a garbage collection every 72 MiB', (t) => {
  const { held, collections } = heldBytes();
  let [kept, most] = [0, 0];
  for (let i = 0; i < 2000; i++) {
    held.grow(MIB);
    most = Math.max(most, ++kept);
    const before = collections.n;
    held.check();
    if (collections.n === before) continue;
    held.shrink(kept * MIB, true);
    kept = 0;
  }
  t.is(collections.n, Math.floor(2000 / 72));
  t.is(most, 72);
});

test('results that V8 collects in time trigger no garbage collection', (t) => {
  const { held, collections } = heldBytes();
  for (let i = 0; i < 2000; i++) {
    held.grow(MIB);
    held.check();
    if (i % 64 === 63) held.shrink(64 * MIB, true);
  }
  t.is(collections.n, 0);
});

test('a program that keeps its arrays triggers garbage collections less and less often', (t) => {
  const { held, collections } = heldBytes();
  for (let i = 0; i < 2000; i++) {
    held.grow(MIB);
    held.check();
  }
  t.is(collections.n, 4, 'at 72, 144, 432 and 1,584 MiB');
});

test('rounds of disposed results trigger garbage collections in the first round only', (t) => {
  const { held, collections } = heldBytes();
  const made: number[] = [];
  for (let round = 0; round < 6; round++) {
    for (let i = 0; i < 200; i++) {
      held.grow(MIB);
      held.check();
    }
    held.shrink(200 * MIB, false);
    made.push(collections.n);
  }
  t.deepEqual(made, [2, 2, 2, 2, 2, 2], 'at 72 and 144 MiB, and then at 288, which there never are');
});

test('a garbage collection that frees memory resets the threshold', (t) => {
  const { held, collections } = heldBytes();
  for (let i = 0; i < 1000; i++) {
    held.grow(MIB);
    held.check();
  }
  held.shrink(1000 * MIB, false);
  for (let i = 0; i < 500; i++) held.grow(MIB);
  const before = collections.n;
  held.check();
  t.is(collections.n, before, 'less than what it would take now');
  held.shrink(500 * MIB, true);
  for (let i = 0; i < 72; i++) held.grow(MIB);
  held.check();
  t.is(collections.n, before + 1);
});
