/** Words that a driver writes, many in one allocation. */
import test from 'ava';
import { HostWordArena } from '../../../src/device/queue/deferred-readback.js';

test('words are zero and never overlap, and many share one piece of memory', (t) => {
  const arena = new HostWordArena();
  const all = Array.from({ length: 5000 }, (_, i) => arena.allocate(i % 150));
  for (const [i, words] of all.entries()) {
    t.is(words.length, i % 150);
    t.true(words.every((word) => word === 0));
    words.fill(i + 1);
  }
  t.true(all.every((words, i) => words.every((word) => word === i + 1)));
  t.true(new Set(all.slice(0, 100).map(({ buffer }) => buffer)).size < 10);
});
