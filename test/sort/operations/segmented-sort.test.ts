/** What is known of algorithms without loading them. */
import test from 'ava';
import { ALGORITHMS } from '../../../src/algorithms/registry.js';
import { WAYS_FOR_SEGMENTS } from '../../../src/sort/operations/segmented-sort.js';

test('the algorithms for segments are those that say so', (t) => {
  const saying = ALGORITHMS.filter(({ bySegments }) => bySegments).map(({ name }) => name);
  t.deepEqual(
    [...WAYS_FOR_SEGMENTS].filter((name) => name !== 'auto' && name !== 'host'),
    saying,
  );
});
