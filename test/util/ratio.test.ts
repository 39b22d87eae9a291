import test from 'ava';
import { Random } from '../../src/util/random.js';
import { DOUBLE_SCALE, nearestDouble, nearestInteger, scaledDouble } from '../../src/util/ratio.js';

const scale = 2n ** BigInt(DOUBLE_SCALE);

test('nearestInteger rounds to nearest, and halves to even', (t) => {
  for (const [numerator, denominator, expected] of [
    [0n, 7n, 0n],
    [1n, 2n, 0n],
    [3n, 2n, 2n],
    [-1n, 2n, 0n],
    [-3n, 2n, -2n],
    [-5n, 3n, -2n],
    [2n ** 70n + 1n, 2n, 2n ** 69n],
  ] as const) {
    t.is(nearestInteger({ numerator, denominator }), expected);
  }
});

test('scaledDouble and nearestDouble are inverse for every kind of double', (t) => {
  const random = new Random(7);
  const numbers = [0, 1, -1, 0.1, 2 ** -1074, 2 ** -1022, Number.MAX_VALUE, -Number.MAX_VALUE, 2 ** 53 + 2];
  const view = new DataView(new ArrayBuffer(8));
  while (numbers.length < 2000) {
    view.setUint32(0, random.u32());
    view.setUint32(4, random.u32());
    if (Number.isFinite(view.getFloat64(0))) numbers.push(view.getFloat64(0));
  }
  for (const number of numbers) {
    t.is(nearestDouble({ numerator: scaledDouble(number), denominator: scale }), number);
  }
});

test('nearestDouble rounds once: as the division of two doubles, between neighbours, and at both ends', (t) => {
  const random = new Random(8);
  for (let i = 0; i < 2000; i++) {
    const [a, b] = [random.u32() * 2 ** 20 + random.below(2 ** 20), random.u32() + 1];
    t.is(nearestDouble({ numerator: BigInt(a), denominator: BigInt(b) }), a / b);
    t.is(nearestDouble({ numerator: -BigInt(b), denominator: BigInt(a + 1) }), -b / (a + 1));
  }
  const half = { numerator: 1n, denominator: 2n * scale };
  t.is(nearestDouble(half), 0); // half of the smallest double is a tie
  t.is(nearestDouble({ ...half, numerator: 3n }), 2 * 2 ** -1074);
  t.is(nearestDouble({ numerator: 2n ** 53n + 1n, denominator: 1n }), 2 ** 53);
  t.is(nearestDouble({ numerator: 2n ** 54n + 3n, denominator: 2n }), 2 ** 53 + 2);
  t.is(nearestDouble({ numerator: 2n ** 1024n - 2n ** 970n, denominator: 1n }), Number.POSITIVE_INFINITY);
  t.is(nearestDouble({ numerator: 2n ** 1024n - 2n ** 970n - 1n, denominator: 1n }), Number.MAX_VALUE);
  t.is(nearestDouble({ numerator: -(2n ** 3000n), denominator: 1n }), Number.NEGATIVE_INFINITY);
});
