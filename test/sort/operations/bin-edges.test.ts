import test from 'ava';
import { BinEdges } from '../../../src/sort/operations/histogram/bin-edges.js';
import { UsageError } from '../../../src/util/errors.js';

test('even bins are cached, separately for numbers and BigInts, and given edges are not', (t) => {
  const even = BinEdges.of({ bins: 4, range: [0, 8] });
  t.is(BinEdges.of({ bins: 4, range: [0, 8] }), even);
  t.deepEqual(even.edges, [0, 2, 4, 6, 8]);
  t.is(even.bins, 4);
  t.is(even.codes('u32'), even.codes('u32'));
  t.deepEqual(even.codes('u32'), [0n, 2n, 4n, 6n, 8n]);
  t.deepEqual(BinEdges.of({ bins: 4, range: [0n, 8n] }).edges, [0n, 2n, 4n, 6n, 8n]);
  t.deepEqual(BinEdges.of({ bins: 2, range: [0, 8] }).edges, [0, 4, 8]);
  const edges = [0, 5];
  const given = BinEdges.of({ edges });
  edges[1] = 6;
  t.deepEqual(given.edges, [0, 5]);
  t.deepEqual(BinEdges.of({ edges }).edges, [0, 6]);
});

test('bins are limited to the range of the dtype, and have no codes outside of it', (t) => {
  t.is(BinEdges.of({ bins: 2, range: [300, 400] }).codes('u8'), undefined);
  t.deepEqual(BinEdges.of({ edges: [200, 300] }).codes('u8'), [200n, 255n]);
});

test('invalid bins are rejected every time', (t) => {
  for (let i = 0; i < 2; i++) {
    t.throws(() => BinEdges.of({ bins: 0, range: [0, 1] }), { instanceOf: UsageError });
    t.throws(() => BinEdges.of({ bins: 2, range: [1, 1] }), { instanceOf: UsageError });
    t.throws(() => BinEdges.of({ bins: 2 }), { instanceOf: UsageError });
    t.throws(() => BinEdges.of({ edges: [1, 1] }), { instanceOf: UsageError });
  }
});
