import test from 'ava';
import {
  halfToSingleBits,
  halvesToSingles,
  singleToHalfBits,
} from '../../../../src/io/formats/subprocess/half-float.js';
import { dtypeInfo } from '../../../../src/keys/dtype.js';
import { halfDecoder } from '../../../../src/keys/value.js';
import { Random } from '../../../../src/util/random.js';

const f16Value = halfDecoder(dtypeInfo('f16'));

const bits = new Uint32Array(1);
const value = new Float32Array(bits.buffer);

test('every f16 converts to f32 and back, including NaN payloads', (t) => {
  const halves = Uint16Array.from({ length: 65_536 }, (_, half) => half);
  const singles = halvesToSingles(halves);
  t.deepEqual(Uint16Array.from(singles, singleToHalfBits), halves);
  for (const half of halves) {
    bits[0] = singles[half] ?? 0;
    if (!Object.is(value[0], f16Value(half))) t.fail(`half ${half.toString(16)}`);
  }
  t.is(halfToSingleBits(0x3c00), 0x3f800000);
});

test('an f32 is rounded to the nearest f16, ties to even', (t) => {
  const random = new Random(5);
  for (let i = 0; i < 100_000; i++) {
    // Any mantissa, with exponents at the edges of half precision.
    bits[0] = (random.u32() & 0x807fffff) | ((100 + random.below(45)) << 23);
    const [single = 0, at = 0] = [value[0], bits[0]];
    const half = singleToHalfBits(at);
    const distance = (of: number): number => Math.abs(f16Value(of & 0xffff) - single);
    if ((half & 0x7fff) === 0x7c00) {
      if (Math.abs(single) < 65520) t.fail(`${single} is no infinity`);
      continue;
    }
    const [below, above] = [(half & 0x7fff) === 0 ? half ^ 0x8000 : half - 1, half + 1];
    const next = (half & 0x7fff) === 0x7bff ? below : distance(above) < distance(below) ? above : below;
    const isNearest =
      distance(half) < distance(next) || (distance(half) === distance(next) && half % 2 === 0);
    if (!isNearest && single !== 0) t.fail(`${single} became ${f16Value(half)}`);
  }
  for (const [single, half] of [
    [65519.996, 0x7bff],
    [65520, 0x7c00],
    [-1e9, 0xfc00],
    [2 ** -25, 0],
    [2 ** -24.9, 1],
  ] as const) {
    value[0] = single;
    t.is(singleToHalfBits(bits[0] ?? 0), half, `${single}`);
  }
});
