/** Joins, against a plain reference. */
import test from 'ava';
import { type JoinKind, type JoinOptions, UnsupportedError, UsageError } from '../../../src/index.js';
import { joinCases } from '../../../src/sort/operations/join/cases.js';
import { dtypesOn } from '../../distributions.js';
import { forEachSorter } from '../../each-sorter.js';
import { passInTwoOrders } from './in-two-orders.js';

const { NaN: NAN } = Number;
const A = Float32Array.of(3, -0, NAN, 5, 0, 3);
const B = Float32Array.of(7, NAN, 0, 3, -0);
const NONE = new Float32Array(0);
const ALONE = 0xffff_ffff;
const KINDS: readonly JoinKind[] = ['inner', 'left', 'semi', 'anti'];
const EXPECTED = {
  inner: { left: Uint32Array.of(0, 1, 1, 2, 4, 4, 5), right: Uint32Array.of(3, 2, 4, 1, 2, 4, 3) },
  left: {
    left: Uint32Array.of(0, 1, 1, 2, 3, 4, 4, 5),
    right: Uint32Array.of(3, 2, 4, 1, ALONE, 2, 4, 3),
  },
  semi: { left: Uint32Array.of(0, 1, 2, 4, 5) },
  anti: { left: Uint32Array.of(3) },
};

/** Compares every key with every other. */
function plainJoin(a: ArrayLike<unknown>, b: ArrayLike<unknown>, kind: JoinKind) {
  const isEqual = (x: unknown, y: unknown) => x === y || (Number.isNaN(x) && Number.isNaN(y));
  const pairs = Array.from(a).flatMap((key, i) => {
    const places = Array.from(b).flatMap((other, j) => (isEqual(key, other) ? [j] : []));
    if (kind === 'semi') return places.length > 0 ? [[i, 0]] : [];
    if (kind === 'anti') return places.length > 0 ? [] : [[i, 0]];
    return (kind === 'left' && places.length === 0 ? [ALONE] : places).map((j) => [i, j]);
  });
  const left = Uint32Array.from(pairs, ([i]) => i as number);
  return kind === 'semi' || kind === 'anti'
    ? { left }
    : { left, right: Uint32Array.from(pairs, ([, j]) => j as number) };
}

forEachSorter((title, open, small) => {
  test.serial(title('pairs are in order; NaNs are equal, and so are zeros'), async (t) => {
    const sorter = await open();
    for (const verify of [false, true]) {
      for (const order of [{}, { descending: true }, { nan: 'first' }] as const) {
        t.deepEqual(await sorter.join(A, B, { ...order, verify }), EXPECTED.inner);
        for (const kind of KINDS) {
          t.deepEqual(await sorter.join(A, B, { ...order, kind, verify }), EXPECTED[kind] as never, kind);
        }
      }
    }
  });

  test.serial(title('either array of a join, or both, can be empty'), async (t) => {
    const sorter = await open();
    for (const verify of [false, true]) {
      for (const kind of KINDS) {
        for (const [a, b] of [
          [A, NONE],
          [NONE, B],
          [NONE, NONE],
          [Float32Array.of(1), Float32Array.of(2)],
        ] as const) {
          const what = `${kind} ${a.length} ${b.length}`;
          t.deepEqual(await sorter.join(a, b, { kind, verify }), plainJoin(a, b, kind) as never, what);
        }
      }
    }
  });

  test.serial(title('a sorted second array is joined without a sort'), async (t) => {
    const sorter = await open();
    for (const order of [{}, { descending: true }, { nan: 'first' }] as const) {
      const b = await sorter.sort(B, order);
      const sorts: unknown[] = [];
      const onReport = (report: unknown) => sorts.push(report);
      for (const kind of KINDS) {
        const options: JoinOptions = { ...order, kind, assumeSorted: true, verify: true, onReport };
        t.deepEqual(await sorter.join(A, b, options), plainJoin(A, b, kind) as never, kind);
      }
      t.deepEqual(sorts, []);
    }
    await t.throwsAsync(sorter.join(A, B, { assumeSorted: 1 as never }), { instanceOf: UsageError });
    await t.throwsAsync(sorter.join(A, B, { kind: 'outer' as never }), {
      instanceOf: UsageError,
      message: /inner, left, semi, anti/,
    });
  });

  test.serial(title('positions of a join of device arrays gather further columns'), async (t) => {
    const sorter = await open();
    using a = await sorter.upload(Uint32Array.from({ length: 5000 }, (_, i) => (i * 7919) % 3000));
    using b = await sorter.upload(Uint32Array.from({ length: 2000 }, (_, i) => 2 * i));
    const { left, right } = await sorter.join(a, b);
    using ofA = await sorter.gather(a, left);
    using ofB = await sorter.gather(b, right);
    t.deepEqual(await ofA.read(), await ofB.read());
    t.is(left.length, (await a.read()).filter((key) => key % 2 === 0).length);
    for (const one of [left, right]) one.dispose();
  });

  test.serial(title('2^32 pairs are an error'), async (t) => {
    const sorter = await open();
    const keys = new Uint8Array(2 ** 16);
    for (const kind of ['inner', 'left'] as const) {
      const error = await t.throwsAsync(sorter.join(keys, keys, { kind }), { instanceOf: UnsupportedError });
      t.is(error.details.pairs, 2 ** 32);
    }
    t.is((await sorter.join(keys, keys, { kind: 'semi' })).left.length, keys.length);
  });

  for (const dtype of dtypesOn(small)) {
    test.serial(title(`joins of many keys of ${dtype}`), async (t) => {
      const sorter = await open();
      const distributions = ['uniform', 'special', 'constant', 'and9'] as const;
      await passInTwoOrders(t, sorter, joinCases, [dtype, distributions, small ? 900 : 20_011]);
    });
  }
});
