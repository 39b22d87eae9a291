import test from 'ava';
import { dtypeInfo } from '../../src/keys/dtype.js';
import { bf16Bits, halfDecoder, largestNumber } from '../../src/keys/value.js';
import { Random } from '../../src/util/random.js';
import { SEED } from '../distributions.js';

const value = halfDecoder(dtypeInfo('bf16'));

test('every bf16 decodes to a number that rounds to the same bits, NaNs to the usual one', (t) => {
  for (let bits = 0; bits < 2 ** 16; bits++) {
    const expected = Number.isNaN(value(bits)) ? 0x7fc0 : bits;
    if (bf16Bits(value(bits)) !== expected) t.fail(bits.toString(16));
  }
  t.is(value(0x3f80), 1);
  t.is(value(0xc040), -3);
});

test('a number is rounded to the nearest bf16, ties to even', (t) => {
  const random = new Random(Number(SEED));
  for (let i = 0; i < 100_000; i++) {
    const low = random.below(0x7f7f);
    const middle = (value(low) + value(low + 1)) / 2;
    // Doubles next to the middle, which an f32 does not distinguish from it.
    for (const [number, bits] of [
      [middle, low + (low % 2)],
      [middle * (1 - 2 ** -52), low],
      [middle * (1 + 2 ** -52), low + 1],
      [value(low) * 0.75 + value(low + 1) * 0.25, low],
    ] as const) {
      if (bf16Bits(number) !== bits) t.fail(`${number}: ${bf16Bits(number)}, not ${bits}`);
      if (bf16Bits(-number) !== (bits | 0x8000)) t.fail(`${-number}`);
    }
  }
  const largest = (2 - 2 ** -7) * 2 ** 127;
  t.is(bf16Bits(largest * (1 + 2 ** -9) * (1 - 2 ** -50)), 0x7f7f);
  t.is(bf16Bits(1e300), 0x7f80);
  t.is(bf16Bits(-1e300), 0xff80);
});

test('the largest numbers of the floating dtypes', (t) => {
  const largest = (['f16', 'bf16', 'f32', 'f64'] as const).map((dtype) => largestNumber(dtypeInfo(dtype)));
  t.deepEqual(largest, [65504, (2 - 2 ** -7) * 2 ** 127, 3.4028234663852886e38, Number.MAX_VALUE]);
});
