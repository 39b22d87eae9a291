import test from 'ava';
import { pairwise } from './pairwise.js';

test('few combinations contain every pair of values from two axes, and a seed repeats them', (t) => {
  for (const sizes of [
    [2, 3],
    [4, 1, 5],
    [11, 4, 3, 8, 12, 10],
  ]) {
    const combinations = pairwise(sizes, 7n);
    t.deepEqual(pairwise(sizes, 7n), combinations);
    sizes.forEach((n, a) => {
      for (let b = a + 1; b < sizes.length; b++) {
        const met = new Set(combinations.map((one) => `${one[a]} ${one[b]}`));
        t.is(met.size, n * (sizes[b] ?? 0));
      }
    });
    t.true(combinations.every((one) => one.every((value, axis) => value >= 0 && value < (sizes[axis] ?? 0))));
    const [first = 1, second = 1] = sizes.toSorted((x, y) => y - x);
    t.true(
      combinations.length >= first * second && combinations.length < 2 * first * second,
      `${combinations.length}`,
    );
  }
});
