/** Which algorithms sort segments, and checks of segment offsets before a sort. */

import test from 'ava';
import { ALGORITHMS } from '../../../src/algorithms/registry.js';
import { segmentColumn } from '../../../src/sort/operations/segments/segment-column.js';
import { SEGMENT_ALGORITHMS } from '../../../src/sort/operations/segments/sort-segments.js';
import { InputError } from '../../../src/util/errors.js';

test('the algorithms for segments are those that declare support for them', (t) => {
  const saying = ALGORITHMS.filter(({ bySegments }) => bySegments).map(({ name }) => name);
  t.deepEqual(
    [...SEGMENT_ALGORITHMS].filter((name) => name !== 'auto' && name !== 'host'),
    saying,
  );
});

test('segment offsets are copied, and the longest segment is computed', (t) => {
  const offsets = Uint32Array.of(0, 3, 3, 10, 12);
  for (const given of [offsets, [...offsets]]) {
    const { offsets: copy, longest } = segmentColumn(given, 12);
    t.is(longest, 7);
    t.deepEqual(copy.place, offsets as never);
    t.not(copy.place, offsets as never);
  }
  t.is(segmentColumn(Uint32Array.of(0), 0).longest, 0);
});

test('offsets of segments of one length count as rows, and others do not', (t) => {
  const isRows = (offsets: readonly number[], n: number) => {
    const typed = segmentColumn(Uint32Array.from(offsets), n);
    t.deepEqual(typed.offsets.place, Uint32Array.from(offsets) as never);
    t.is(segmentColumn(offsets, n).isRows, typed.isRows);
    return typed.isRows === true;
  };
  t.true(isRows([0, 4, 8, 12], 12));
  t.true(isRows([0, 12], 12));
  t.false(isRows([0, 4, 4, 12], 12));
  t.false(isRows([0, 4, 9, 12], 12));
  t.false(isRows([0, 0, 0], 0));
  t.false(isRows([0], 0));
});

test('the error names the first wrong offset', (t) => {
  const wrong: readonly (readonly [offsets: readonly number[], at: number])[] = [
    [[], 0],
    [[1, 12], 0],
    [[0, 5, 4, 12], 2],
    [[0, 13, 12], 1],
    [[0, 5, 11], 2],
    [[0, 5, 2 ** 32 - 1, 12], 2],
  ];
  for (const [offsets, at] of wrong) {
    for (const given of [offsets, Uint32Array.from(offsets)]) {
      const error = t.throws(() => segmentColumn(given, 12), { instanceOf: InputError });
      t.is(error?.details?.offset, at, JSON.stringify(offsets));
    }
  }
  for (const given of [
    [0, 2.5, 12],
    [0, -1, 12],
    [0, 2 ** 32, 12],
  ]) {
    t.throws(() => segmentColumn(given, 12), { instanceOf: InputError });
  }
});
