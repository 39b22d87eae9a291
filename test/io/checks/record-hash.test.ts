import test from 'ava';
import { Multiset, randomPoints } from '../../../src/io/checks/multiset.js';
import { Random } from '../../../src/util/random.js';
import { pick } from '../../reference.js';

/** Whether two arrays have equal multisets. */
async function same(recordBytes: number, a: Uint8Array, b: Uint8Array): Promise<boolean> {
  const points = randomPoints();
  const [x, y] = [new Multiset(recordBytes, points), new Multiset(recordBytes, points)];
  const half = Math.floor(a.length / recordBytes / 2) * recordBytes;
  await x.add(a.subarray(half));
  await x.add(a.subarray(0, half)); // in any pieces, in any order
  await y.add(b);
  return x.equals(y);
}

for (const recordBytes of [1, 2, 3, 4, 7, 8, 10, 100, 127, 128, 129, 1000, 1001]) {
  test(`records of ${recordBytes} bytes: order is ignored, and a changed record is detected`, async (t) => {
    const random = new Random(recordBytes);
    const n = 50;
    const bytes = random.bytes(n * recordBytes);
    const shuffled = Array.from({ length: n }, (_, i) => (i * 7) % n);
    const others = pick(bytes, recordBytes, shuffled);
    t.true(await same(recordBytes, bytes, others));
    t.true(await same(recordBytes, new Uint8Array(0), new Uint8Array(0)));
    t.false(await same(recordBytes, bytes, others.subarray(recordBytes)), 'one less');
    for (const bit of [0, 7]) {
      for (const at of new Set([0, Math.floor(recordBytes / 2), recordBytes - 1])) {
        const changed = others.slice();
        const byte = 20 * recordBytes + at;
        changed[byte] = (changed[byte] as number) ^ (1 << bit);
        t.false(await same(recordBytes, bytes, changed), `bit ${bit} of byte ${at}`);
      }
    }
    const twice = others.slice();
    twice.set(others.subarray(0, recordBytes), recordBytes);
    if (recordBytes > 1) t.false(await same(recordBytes, bytes, twice), 'one in place of another');
    if (recordBytes < 4) return;
    const swapped = others.slice();
    swapped.set(others.subarray(recordBytes, recordBytes + 2), 0);
    swapped.set(others.subarray(0, 2), recordBytes);
    t.false(await same(recordBytes, bytes, swapped), 'parts of two units, swapped');
    const turned = others.slice();
    turned.subarray(0, recordBytes).reverse();
    t.false(await same(recordBytes, bytes, turned), 'the bytes of a unit, in another order');
  });
}

test('the position of a byte and the number of zero records count', async (t) => {
  const unit = (at: number) => new Uint8Array(100).fill(1, at, at + 1);
  t.false(await same(100, unit(3), unit(5)));
  t.false(await same(100, new Uint8Array(100), new Uint8Array(200)));
});

for (const recordBytes of [1, 2, 3, 4, 8, 12, 100]) {
  test(`records of ${recordBytes} bytes: a stored checksum ignores order and pieces, and detects a change`, async (t) => {
    const points = randomPoints();
    const bytes = new Random(2).bytes(recordBytes * 600);
    const of = async (...pieces: Uint8Array[]): Promise<Multiset> => {
      const checksum = new Multiset(recordBytes, points);
      for (const piece of pieces) await checksum.add(piece);
      return checksum;
    };
    const whole = await of(bytes);
    const [front, back] = [bytes.slice(0, recordBytes * 250), bytes.slice(recordBytes * 250)];
    t.true(whole.equals(await of(back, front)));
    t.false(whole.equals(await of(front)));
    const stored = await of();
    stored.include(JSON.parse(JSON.stringify((await of(back)).stored)));
    stored.include((await of(front)).stored);
    t.true(whole.equals(stored));
    for (const at of [0, recordBytes * 600 - 1]) {
      const changed = bytes.slice();
      changed[at] = (changed[at] ?? 0) ^ 128;
      t.false(whole.equals(await of(changed)));
    }
  });
}
