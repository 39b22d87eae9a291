import test from 'ava';
import { Checksum, firstFall } from '../../../src/io/external/verify.js';
import { randomPoints } from '../../../src/io/multiset.js';
import { bytesOf } from '../../../src/keys/array.js';
import { Random } from '../../../src/util/random.js';
import { keysOf } from '../../distributions.js';
import { referenceSort } from '../../reference.js';
import { orderOf, TEN_OF_TWELVE } from './small.js';

for (const unit of [1, 2, 3, 4, 8, 12, 100]) {
  test(`units of ${unit} bytes: a checksum tells other units, and not their order or pieces`, async (t) => {
    const points = randomPoints();
    const bytes = new Random(2).bytes(unit * 600);
    const of = async (...pieces: Uint8Array[]): Promise<Checksum> => {
      const checksum = new Checksum(unit, points);
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

test('the first unit that belongs before the one in front of it is found, wherever it is', async (t) => {
  for (const dtype of ['u8', 'f32', 'f64'] as const) {
    const order = orderOf(dtype, { descending: true });
    const sorted = referenceSort(bytesOf(keysOf(dtype, 'uniform', 900)), dtype, { descending: true });
    t.is(await firstFall(order, sorted), -1);
    t.is(await firstFall(order, sorted.subarray(0, order.unit)), -1);
    t.is(await firstFall(order, new Uint8Array(0)), -1);
    const wrong = sorted.slice();
    wrong.copyWithin(500 * order.unit, 0, order.unit);
    t.is(await firstFall(order, wrong), 500);
  }
  const many = new Uint8Array(2 ** 20).fill(1);
  for (const at of [2 ** 18 - 1, 2 ** 18, 2 ** 18 + 1, 2 ** 20 - 1]) {
    const wrong = many.slice();
    wrong[at] = 0;
    t.is(await firstFall(orderOf('u8'), wrong), at);
  }
});

test('units with equal prefixes are compared', async (t) => {
  const units = new Uint8Array(24).fill(9);
  t.is(await firstFall(TEN_OF_TWELVE, units), -1);
  units[21] = 8; // the last byte of the second key
  t.is(await firstFall(TEN_OF_TWELVE, units), 1);
});
