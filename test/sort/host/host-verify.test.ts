import test from 'ava';
import { emptyLike, type HostColumn, keyColumn } from '../../../src/keys/array.js';
import { DTYPES } from '../../../src/keys/dtype.js';
import { type HostOrder, type HostResult, hostSort } from '../../../src/sort/host/host-sort.js';
import { verifySteps } from '../../../src/sort/host/host-verify.js';
import { nativeVerify } from '../../../src/sort/host/native-sort.js';
import { runSync } from '../../../src/sort/host/steps.js';
import { keysOf } from '../../distributions.js';

const ENGINES: Record<string, typeof nativeVerify> = {
  JavaScript: async (keys, order, result) => runSync(verifySteps(keys, order, result)),
  addon: nativeVerify,
};

for (const [name, verifyWith] of Object.entries(ENGINES)) {
  const verify = (keys: HostColumn, order: HostOrder, result: HostResult) =>
    verifyWith(keys, order, result, {});

  for (const dtype of DTYPES) {
    test(`${name}: ${dtype}: correct results pass verification, one wrong element does not`, async (t) => {
      const keys = keyColumn(keysOf(dtype, 'and3', 1000), dtype);
      const sorted = emptyLike(keys.array);
      const moved = new Uint32Array(1000);
      hostSort(keys, {}, { sorted, moved });
      t.deepEqual(await verify(keys, {}, { sorted, moved }), { order: true, permutation: true });
      t.deepEqual(await verify(keys, {}, { sorted }), { order: true, permutation: true });

      const bits = new Uint8Array(sorted.buffer);
      bits[500] = (bits[500] ?? 0) ^ 1;
      t.false((await verify(keys, {}, { sorted })).permutation);
      bits[500] = (bits[500] ?? 0) ^ 1;
      sorted.reverse();
      t.deepEqual(await verify(keys, {}, { sorted }), { order: false, permutation: true });
    });
  }

  test(`${name}: an output of zeros is in order but no permutation`, async (t) => {
    const keys = keyColumn(keysOf('u32', 'uniform', 1000));
    t.deepEqual(await verify(keys, {}, { sorted: new Uint32Array(1000) }), {
      order: true,
      permutation: false,
    });
  });

  test(`${name}: positions must each appear once, and rise where keys are equal`, async (t) => {
    const keys = keyColumn(Uint32Array.of(7, 7, 3));
    const narrow = (positions: number[]) => Uint32Array.from(positions);
    const wide = (positions: number[]) => BigUint64Array.from(positions, BigInt);
    for (const make of [narrow, wide]) {
      const verifyPositions = (...positions: number[]) => verify(keys, {}, { moved: make(positions) });
      t.deepEqual(await verifyPositions(2, 0, 1), { order: true, permutation: true });
      t.false((await verifyPositions(2, 1, 0)).order);
      t.false((await verifyPositions(2, 0, 0)).permutation);
      t.false((await verifyPositions(2, 0, 9)).permutation);
    }
    t.false((await verify(keys, {}, { moved: wide([2, 2 ** 32, 1]) })).permutation);
  });

  test(`${name}: verification finds a value that moved with another key`, async (t) => {
    const keys = keyColumn(Uint32Array.of(2, 1, 3));
    const values = { place: Float64Array.of(20, 10, 30), bytes: 8 };
    const sorted = Uint32Array.of(1, 2, 3);
    t.true((await verify(keys, {}, { sorted, values, moved: Float64Array.of(10, 20, 30) })).permutation);
    t.false((await verify(keys, {}, { sorted, values, moved: Float64Array.of(20, 10, 30) })).permutation);
  });
}

test('the addon finds one wrong element among several slices, on any slice', async (t) => {
  const n = 2 ** 18 + 3;
  const keys = keyColumn(keysOf('i32', 'uniform', n));
  const moved = new Uint32Array(n);
  const sorted = new Int32Array(n);
  hostSort(keys, { descending: true }, { sorted, moved });
  const verify = (result: HostResult) => nativeVerify(keys, { descending: true }, result, {});
  t.deepEqual(await verify({ sorted, moved }), { order: true, permutation: true });
  for (const at of [0, 2 ** 16, 2 ** 17 - 1, n - 1]) {
    const [key, position] = [sorted[at] as number, moved[at] as number];
    sorted[at] = key ^ 1;
    t.false((await verify({ sorted })).permutation, `key ${at}`);
    t.false((await verify({ sorted, moved })).permutation, `key ${at} beside positions`);
    sorted[at] = key;
    moved[at] = moved[(at + 1) % n] as number;
    t.deepEqual(await verify({ moved }), { order: false, permutation: false }, `position ${at}`);
    moved[at] = position;
  }
  const last = 2 ** 16;
  [sorted[last - 1], sorted[last]] = [sorted[last] as number, sorted[last - 1] as number];
  t.deepEqual(await verify({ sorted }), { order: false, permutation: true }, 'at the start of a slice');
});
