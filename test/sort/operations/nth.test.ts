/** Keys by their positions in the order, and quantiles, against a plain reference. */
import test from 'ava';
import { caseInput } from '../../../src/sort/cases/input.js';
import { Reference } from '../../../src/sort/cases/reference.js';
import { startCase } from '../../../src/sort/operations/case.js';
import { nthCases } from '../../../src/sort/operations/nth/cases.js';
import { InputError, UsageError } from '../../../src/util/errors.js';
import { dtypesOn, keysOf, SEED } from '../../distributions.js';
import { forEachSorter } from '../../each-sorter.js';

const { NaN: NAN } = Number;
const KEYS = Float32Array.of(3, -0, NAN, 5, 0, 1);
const METHODS = ['linear', 'lower', 'higher', 'nearest', 'midpoint'] as const;
const bytesOf = (view: ArrayBufferView) => Buffer.from(view.buffer, view.byteOffset, view.byteLength);

forEachSorter((title, open, small) => {
  test.serial(title('nth returns numbers, BigInts and arrays; NaN is last or first'), async (t) => {
    const sorter = await open();
    t.is(await sorter.nth(KEYS, 0), -0);
    t.is(await sorter.nth(KEYS, 4), 5);
    t.is(await sorter.nth(KEYS, 5), NAN);
    t.is(await sorter.nth(KEYS, 0, { nan: 'first' }), NAN);
    t.is(await sorter.nth(KEYS, 1, { nan: 'first', verify: true }), -0);
    t.is(await sorter.nth(BigInt64Array.of(-5n, 2n ** 60n), 1), 2n ** 60n);
    t.deepEqual(await sorter.nth(KEYS, [4, 1, 1]), Float32Array.of(5, 0, 0));
    t.deepEqual(await sorter.nth(KEYS, []), new Float32Array(0));
    using array = await sorter.upload(KEYS);
    t.is(await sorter.nth(array, 3), 3);
    const several = await sorter.nth(array, [3, 2]);
    t.deepEqual(await several.read(), Float32Array.of(3, 1));
    several.dispose();
  });

  test.serial(title('quantile interpolates, and is NaN beside a NaN'), async (t) => {
    const sorter = await open();
    const keys = Uint8Array.of(1, 9, 5, 7);
    const halves = METHODS.map((interpolation) => sorter.quantile(keys, 0.5, { interpolation }));
    t.deepEqual(await Promise.all(halves), [6, 5, 7, 7, 6]);
    t.deepEqual(await sorter.quantile(keys, [0, 0.25, 1]), Float64Array.of(1, 4, 9));
    t.is(await sorter.median(keys), 6);
    t.is(await sorter.median(KEYS), 2);
    t.is(await sorter.quantile(KEYS, 0.9), NAN);
    t.is(await sorter.quantile(KEYS, 1, { nan: 'first' }), 5);
    t.is(await sorter.quantile(BigUint64Array.of(2n ** 63n, 2n ** 64n - 1n), 0.5), 1.5 * 2 ** 63);
    t.is(await sorter.quantile(Float64Array.of(1, Infinity), 0), 1);
    for (const q of [0.25, 0.5, 0.75]) {
      t.is(await sorter.quantile(Float64Array.of(1, Infinity), q), Infinity);
      t.is(await sorter.quantile(Float32Array.of(-Infinity, 1), q), -Infinity);
      t.is(await sorter.quantile(Float32Array.of(-Infinity, Infinity), q), NAN);
    }
    const largest = Number.MAX_VALUE; // the distance of these two is no double
    t.is(await sorter.median(Float64Array.of(-largest, largest)), 0);
    using array = await sorter.upload(keys);
    t.is(await sorter.median(array), 6);
  });

  test.serial(title('argpartition separates the keys, and each side keeps its order'), async (t) => {
    const sorter = await open();
    t.deepEqual(await sorter.argpartition(Uint8Array.of(9, 5, 7, 1), 1), Uint32Array.of(3, 1, 0, 2));
    t.deepEqual(await sorter.argpartition(KEYS, 4), Uint32Array.of(0, 1, 4, 5, 3, 2));
    t.deepEqual(await sorter.argpartition(KEYS, 0, { nan: 'first' }), Uint32Array.of(2, 0, 1, 3, 4, 5));
    t.deepEqual(await sorter.argpartition(KEYS, []), await sorter.argsort(KEYS));
    t.deepEqual(await sorter.argpartition(new Uint8Array(0), []), new Uint32Array(0));
    using array = await sorter.upload(KEYS);
    using moved = await sorter.argpartition(array, [4, 0], { verify: true });
    t.deepEqual(await moved.read(), Uint32Array.of(1, 0, 4, 5, 3, 2));
  });

  test.serial(title('wrong positions and quantiles are typed errors'), async (t) => {
    const sorter = await open();
    for (const k of [-1, 6, 1.5, NAN, '1', [0, 6], undefined]) {
      await t.throwsAsync(sorter.nth(KEYS, k as never), { instanceOf: UsageError }, String(k));
      await t.throwsAsync(sorter.argpartition(KEYS, k as never), { instanceOf: UsageError }, String(k));
    }
    for (const q of [-0.1, 1.1, NAN, '0.5', [0, 2], undefined]) {
      await t.throwsAsync(sorter.quantile(KEYS, q as never), { instanceOf: UsageError }, String(q));
    }
    const interpolation = 'cubic' as never;
    await t.throwsAsync(sorter.quantile(KEYS, 0.5, { interpolation }), { instanceOf: UsageError });
    await t.throwsAsync(sorter.median(new Uint8Array(0)), { instanceOf: InputError });
  });

  for (const dtype of dtypesOn(small)) {
    test.serial(title(`positions among many keys of ${dtype} are found by digits`), async (t) => {
      const sorter = await open();
      for (const distribution of ['uniform', 'special', 'constant', 'and9'] as const) {
        const bytes = bytesOf(keysOf(dtype, distribution, small ? 17_000 : 40_011));
        const reference = new Reference(dtype, bytes);
        for (const nan of ['last', 'first'] as const) {
          const order = { algorithm: 'auto', isStable: true, descending: false, nan };
          const options = { ...order, call: { dtype }, sort: { dtype, nan } };
          for (const one of nthCases.checked) {
            const check = await startCase(one, sorter, caseInput(reference, reference, 1), options);
            t.is(check(), undefined, `${one.name} ${distribution} ${nan} seed ${SEED}`);
          }
        }
      }
    });
  }
});
