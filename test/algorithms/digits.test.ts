import test from 'ava';
import { digitsOf } from '../../src/algorithms/digits.js';

test('the digits of a window cover it once, in order', (t) => {
  for (const radixBits of [1, 3, 4, 8, 11]) {
    for (const [begin, end] of [
      [0, 32],
      [0, 64],
      [3, 14],
      [29, 43],
      [31, 33],
    ] as const) {
      let shift: number = begin;
      for (const digit of digitsOf([begin, end], radixBits)) {
        t.is(digit.shift, shift);
        t.true(digit.bits > 0 && digit.bits <= radixBits);
        shift += digit.bits;
      }
      t.is(shift, end);
    }
  }
});

test('no digit crosses the middle of a 64-bit code', (t) => {
  for (let begin = 0; begin < 64; begin++) {
    for (const { shift, bits } of digitsOf([begin, 64], 8)) t.true(shift >= 32 || shift + bits <= 32);
    t.true(digitsOf([begin, 64], 8).length <= 8);
  }
});

test('digits cross the middle of a 64-bit code if the kernel reads 64-bit words', (t) => {
  t.deepEqual(digitsOf([28, 44], 8, 64), [
    { shift: 28, bits: 8 },
    { shift: 36, bits: 8 },
  ]);
  t.deepEqual(digitsOf([64, 64], 8, 64), [{ shift: 64, bits: 0 }]);
});

test('an empty window has one digit of zero bits', (t) => {
  t.deepEqual(digitsOf([5, 5], 8), [{ shift: 5, bits: 0 }]);
});
