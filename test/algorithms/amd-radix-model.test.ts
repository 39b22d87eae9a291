import test from 'ava';
import { amdGeometry } from '../../src/algorithms/amd-geometry.js';
import { amdPassModel } from '../../src/algorithms/amd-radix-model.js';
import { UsageError } from '../../src/util/errors.js';

test('sizes are padded to multiples of 16384 and determine the scan chain', (t) => {
  const shape = (n: number) => {
    const { padded, blocks, runs, scan } = amdGeometry(n);
    return [padded, blocks, runs, scan];
  };
  t.deepEqual(shape(1), [16384, 64, 1, 3]);
  t.deepEqual(shape(16384), [16384, 64, 1, 3]);
  t.deepEqual(shape(16385), [32768, 128, 2, 5]);
  t.deepEqual(shape(2 ** 20), [2 ** 20, 4096, 64, 5]);
  t.deepEqual(shape(2 ** 24), [2 ** 24, 65536, 1024, 5]);
});

test('the scan chain of 5 can be forced for one run, that of 3 for one run at most', (t) => {
  t.is(amdGeometry(100, 5).scan, 5);
  t.is(amdGeometry(16384, 3).scan, 3);
  t.throws(() => amdGeometry(16385, 3), { instanceOf: UsageError, message: /for more than 16384 keys/ });
});

test('the model keeps the invariants of the pipeline', (t) => {
  const n = 40_000;
  const digits = Uint32Array.from({ length: n }, (_, i) => Math.imul(i, 2654435761) >>> 24);
  const model = amdPassModel(digits, 255);
  const { blocks, padded } = model.geometry;
  for (let block = 0; block < blocks; block++) {
    t.is(
      model.buckets.subarray(block * 256, (block + 1) * 256).reduce((a, b) => a + b),
      256,
    );
  }
  t.is((model.binBases[255] ?? 0) + (model.binTotals[255] ?? 0), padded);
  t.is(new Set(model.places).size, padded);
  // Stable and in order: the positions, visited in key order, rise within a digit.
  const last = new Map<number, number>();
  for (const [i, place] of model.places.subarray(0, n).entries()) {
    const digit = digits[i] ?? 0;
    if (place <= (last.get(digit) ?? -1)) t.fail(`key ${i} overtook an equal one`);
    last.set(digit, place);
  }
  t.true(model.places.subarray(n).every((place) => place >= n));
});
