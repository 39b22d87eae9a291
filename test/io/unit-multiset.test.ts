import test from 'ava';
import { randomPoints } from '../../src/io/multiset.js';
import { UnitMultiset } from '../../src/io/unit-multiset.js';
import { Random } from '../../src/util/random.js';
import { pick } from '../reference.js';

/** Whether two arrays have equal multisets. */
async function same(unit: number, a: Uint8Array, b: Uint8Array): Promise<boolean> {
  const points = randomPoints();
  const [x, y] = [new UnitMultiset(unit, points), new UnitMultiset(unit, points)];
  const half = Math.floor(a.length / unit / 2) * unit;
  await x.add(a.subarray(half));
  await x.add(a.subarray(0, half)); // in any pieces, in any order
  await y.add(b);
  return x.equals(y);
}

for (const unit of [1, 2, 3, 4, 7, 8, 10, 100, 127, 128, 129, 1000, 1001]) {
  test(`units of ${unit} bytes: order is ignored, and a changed unit is detected`, async (t) => {
    const random = new Random(unit);
    const n = 50;
    const bytes = random.bytes(n * unit);
    const shuffled = Array.from({ length: n }, (_, i) => (i * 7) % n);
    const others = pick(bytes, unit, shuffled);
    t.true(await same(unit, bytes, others));
    t.true(await same(unit, new Uint8Array(0), new Uint8Array(0)));
    t.false(await same(unit, bytes, others.subarray(unit)), 'one less');
    for (const bit of [0, 7]) {
      for (const at of new Set([0, Math.floor(unit / 2), unit - 1])) {
        const changed = others.slice();
        const byte = 20 * unit + at;
        changed[byte] = (changed[byte] as number) ^ (1 << bit);
        t.false(await same(unit, bytes, changed), `bit ${bit} of byte ${at}`);
      }
    }
    const twice = others.slice();
    twice.set(others.subarray(0, unit), unit);
    if (unit > 1) t.false(await same(unit, bytes, twice), 'one in place of another');
    if (unit < 4) return;
    const swapped = others.slice();
    swapped.set(others.subarray(unit, unit + 2), 0);
    swapped.set(others.subarray(0, 2), unit);
    t.false(await same(unit, bytes, swapped), 'parts of two units, swapped');
    const turned = others.slice();
    turned.subarray(0, unit).reverse();
    t.false(await same(unit, bytes, turned), 'the bytes of a unit, in another order');
  });
}

test('the position of a byte and the number of zero units count', async (t) => {
  const unit = (at: number) => new Uint8Array(100).fill(1, at, at + 1);
  t.false(await same(100, unit(3), unit(5)));
  t.false(await same(100, new Uint8Array(100), new Uint8Array(200)));
});

for (const unit of [1, 2, 3, 4, 8, 12, 100]) {
  test(`units of ${unit} bytes: a stored checksum ignores order and pieces, and detects a change`, async (t) => {
    const points = randomPoints();
    const bytes = new Random(2).bytes(unit * 600);
    const of = async (...pieces: Uint8Array[]): Promise<UnitMultiset> => {
      const checksum = new UnitMultiset(unit, points);
      for (const piece of pieces) await checksum.add(piece);
      return checksum;
    };
    const whole = await of(bytes);
    const [front, back] = [bytes.slice(0, unit * 250), bytes.slice(unit * 250)];
    t.true(whole.equals(await of(back, front)));
    t.false(whole.equals(await of(front)));
    const stored = await of();
    stored.include(JSON.parse(JSON.stringify((await of(back)).stored)));
    stored.include((await of(front)).stored);
    t.true(whole.equals(stored));
    for (const at of [0, unit * 600 - 1]) {
      const changed = bytes.slice();
      changed[at] = (changed[at] ?? 0) ^ 128;
      t.false(whole.equals(await of(changed)));
    }
  });
}
