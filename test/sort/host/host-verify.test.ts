import test from 'ava';
import { emptyLike, keyColumn } from '../../../src/keys/array.js';
import { DTYPES } from '../../../src/keys/dtype.js';
import { hostSort } from '../../../src/sort/host/host-sort.js';
import { hostVerify } from '../../../src/sort/host/host-verify.js';
import { keysOf } from '../../distributions.js';

for (const dtype of DTYPES) {
  test(`${dtype}: correct results pass verification, one wrong element does not`, (t) => {
    const keys = keyColumn(keysOf(dtype, 'and3', 1000), dtype);
    const sorted = emptyLike(keys.array);
    const moved = new Uint32Array(1000);
    hostSort(keys, {}, { sorted, moved });
    t.deepEqual(hostVerify(keys, {}, { sorted, moved }), { order: true, permutation: true });
    t.deepEqual(hostVerify(keys, {}, { sorted }), { order: true, permutation: true });

    const bits = new Uint8Array(sorted.buffer);
    bits[500] = (bits[500] ?? 0) ^ 1;
    t.false(hostVerify(keys, {}, { sorted }).permutation);
    bits[500] = (bits[500] ?? 0) ^ 1;
    sorted.reverse();
    t.deepEqual(hostVerify(keys, {}, { sorted }), { order: false, permutation: true });
  });
}

test('an output of zeros is in order but no permutation', (t) => {
  const keys = keyColumn(keysOf('u32', 'uniform', 1000));
  t.deepEqual(hostVerify(keys, {}, { sorted: new Uint32Array(1000) }), { order: true, permutation: false });
});

test('positions must each appear once, and rise where keys are equal', (t) => {
  const keys = keyColumn(Uint32Array.of(7, 7, 3));
  t.deepEqual(hostVerify(keys, {}, { moved: Uint32Array.of(2, 0, 1) }), { order: true, permutation: true });
  t.false(hostVerify(keys, {}, { moved: Uint32Array.of(2, 1, 0) }).order);
  t.false(hostVerify(keys, {}, { moved: Uint32Array.of(2, 0, 0) }).permutation);
  t.false(hostVerify(keys, {}, { moved: Uint32Array.of(2, 0, 9) }).permutation);
});

test('verification finds a value that moved with another key', (t) => {
  const keys = keyColumn(Uint32Array.of(2, 1, 3));
  const values = { place: Float64Array.of(20, 10, 30), bytes: 8 };
  const sorted = Uint32Array.of(1, 2, 3);
  t.true(hostVerify(keys, {}, { sorted, values, moved: Float64Array.of(10, 20, 30) }).permutation);
  t.false(hostVerify(keys, {}, { sorted, values, moved: Float64Array.of(20, 10, 30) }).permutation);
});
