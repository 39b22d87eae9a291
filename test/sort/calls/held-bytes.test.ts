import test from 'ava';
import { HeldBytes } from '../../../src/sort/calls/held-bytes.js';

const MIB = 2 ** 20;

/** What is held, and how often it had V8 collect: a test gives back itself what is collected. */
function heldBytes() {
  const collections = { n: 0 };
  const held = new HeldBytes(() => {
    collections.n++;
  });
  return { held, collections };
}

test('results that are dropped and not collected have V8 collect each 72 MiB', (t) => {
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

test('what V8 collects in time needs no collection of ours', (t) => {
  const { held, collections } = heldBytes();
  for (let i = 0; i < 2000; i++) {
    held.grow(MIB);
    held.check();
    if (i % 64 === 63) held.shrink(64 * MIB, true);
  }
  t.is(collections.n, 0);
});

test('a program that holds its arrays has V8 collect less and less often', (t) => {
  const { held, collections } = heldBytes();
  for (let i = 0; i < 2000; i++) {
    held.grow(MIB);
    held.check();
  }
  t.is(collections.n, 4, 'at 72, 144, 432 and 1,584 MiB');
});

test('rounds of results that are disposed of have V8 collect in the first one alone', (t) => {
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

test('where V8 finds what was dropped, it is made to collect as early as before', (t) => {
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
