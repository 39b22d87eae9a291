/** Set operations, against a plain reference. */
import test from 'ava';
import { type SetOptions, UsageError } from '../../../src/index.js';
import { setCases } from '../../../src/sort/operations/sets/cases.js';
import { dtypesOn } from '../../distributions.js';
import { forEachSorter } from '../../each-sorter.js';
import { passInTwoOrders } from './in-two-orders.js';

const { NaN: NAN } = Number;
const A = Float32Array.of(3, -0, NAN, 5, 0, 3);
const B = Float32Array.of(7, NAN, 0, 3);
const NONE = new Float32Array(0);
const NAMES = ['intersect', 'union', 'difference', 'setXor'] as const;

forEachSorter((title, open, small) => {
  test.serial(title('sets have one zero and one NaN, those of the first array'), async (t) => {
    const sorter = await open();
    for (const verify of [false, true]) {
      t.deepEqual(await sorter.isIn(A, B, { verify }), Uint8Array.of(1, 1, 1, 0, 1, 1));
      t.deepEqual(await sorter.intersect(A, B, { verify }), Float32Array.of(-0, 3, NAN));
      t.deepEqual(await sorter.union(A, B, { verify }), Float32Array.of(-0, 3, 5, 7, NAN));
      t.deepEqual(await sorter.difference(A, B, { verify }), Float32Array.of(5));
      t.deepEqual(await sorter.setXor(A, B, { verify }), Float32Array.of(5, 7));
    }
    t.deepEqual(
      await sorter.union(A, B, { descending: true, nan: 'first' }),
      Float32Array.of(NAN, 7, 5, 3, -0),
    );
  });

  test.serial(title('either array, or both, can be empty'), async (t) => {
    const sorter = await open();
    const distinct = Float32Array.of(-0, 3, 5, NAN);
    t.deepEqual(await sorter.isIn(A, NONE), new Uint8Array(6));
    t.deepEqual(await sorter.isIn(NONE, A), new Uint8Array(0));
    for (const name of NAMES) {
      t.deepEqual(await sorter[name](NONE, NONE), NONE, name);
      t.deepEqual(await sorter[name](A, NONE), name === 'intersect' ? NONE : distinct, name);
      const fromSecond = name === 'union' || name === 'setXor';
      t.deepEqual(await sorter[name](NONE, A), fromSecond ? distinct : NONE, name);
      t.deepEqual(await sorter[name](A, A), name === 'intersect' || name === 'union' ? distinct : NONE, name);
    }
  });

  test.serial(title('sorted arrays give the same sets without a sort'), async (t) => {
    const sorter = await open();
    for (const order of [{}, { descending: true }, { nan: 'first' }] as const) {
      const [a, b] = [await sorter.sort(A, order), await sorter.sort(B, order)];
      const sorts: unknown[] = [];
      const onReport = (report: unknown) => sorts.push(report);
      const options: SetOptions = { ...order, assumeSorted: true, verify: true, onReport };
      t.deepEqual(await sorter.isIn(a, b, options), await sorter.isIn(a, b, order));
      for (const name of NAMES) {
        t.deepEqual(await sorter[name](a, b, options), await sorter[name](a, b, order), name);
      }
      t.deepEqual(sorts, []);
    }
    await t.throwsAsync(sorter.union(A, B, { assumeSorted: 1 as never }), { instanceOf: UsageError });
  });

  test.serial(title('sets of device arrays are device arrays'), async (t) => {
    const sorter = await open();
    using a = await sorter.upload(Uint32Array.from({ length: 5000 }, (_, i) => (i * 7919) % 3000));
    using b = await sorter.upload(Uint32Array.from({ length: 2000 }, (_, i) => 2 * i));
    using mask = await sorter.isIn(a, b);
    using members = await sorter.filter(a, mask);
    using found = await sorter.intersect(a, b);
    using distinct = (await sorter.unique(members, { counts: false })).keys;
    t.deepEqual(await found.read(), await distinct.read());
    t.deepEqual(
      await found.read(),
      Uint32Array.from({ length: 1500 }, (_, i) => 2 * i),
    );
  });

  test.serial(title('a call with two sorts makes one report'), async (t) => {
    const sorter = await open();
    const reports: number[] = [];
    const onReport = ({ n }: { readonly n: number }) => reports.push(n);
    await sorter.union(A, B, { onReport });
    await sorter.unique(A, { inverse: true, onReport });
    t.deepEqual(reports, [A.length, A.length]);
  });

  for (const dtype of dtypesOn(small)) {
    test.serial(title(`sets of many keys of ${dtype}`), async (t) => {
      const sorter = await open();
      const distributions = ['uniform', 'special', 'constant', 'and9'] as const;
      await passInTwoOrders(t, sorter, setCases, [dtype, distributions, small ? 900 : 20_011]);
    });
  }
});
