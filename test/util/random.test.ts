import test from 'ava';
import { Random } from '../../src/util/random.js';

test('bytes returns the requested length, repeats for a seed, and is a prefix of longer output', (t) => {
  for (const length of [0, 1, 3, 4, 5, 1000]) {
    const bytes = new Random(7).bytes(length);
    t.is(bytes.length, length);
    t.deepEqual(bytes, new Random(7n).bytes(1003).slice(0, length));
  }
  t.notDeepEqual(new Random(7).bytes(16), new Random(8).bytes(16));
  t.is(new Set(new Random(1).bytes(10_000)).size, 256);
});
