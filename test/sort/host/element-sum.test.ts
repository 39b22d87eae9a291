import test from 'ava';
import { ElementSum, randomSeeds } from '../../../src/sort/host/element-sum.js';
import { runSync } from '../../../src/sort/host/steps.js';

const seeds = randomSeeds();
const sumOf = (...elements: string[]): ElementSum => {
  const sum = new ElementSum(seeds);
  for (const element of elements) {
    const memory = Buffer.from(`before${element}after`);
    sum.addBytes(memory, 6, memory.length - 5);
  }
  return sum;
};

test('a sum ignores the order of elements and includes their lengths', (t) => {
  t.true(sumOf('abc', 'd').equals(sumOf('d', 'abc')));
  t.false(sumOf('abc').equals(sumOf('abc', 'abc')));
  t.false(sumOf('abcd').equals(sumOf('abcd\0')));
  t.false(sumOf('').equals(sumOf()));
  const [one, other] = [sumOf('abc'), sumOf('d')];
  one.include(other);
  t.true(one.equals(sumOf('d', 'abc')));
});

test('a changed element, and elements with the same total, have other sums', (t) => {
  t.false(sumOf('abcdefgh', 'd').equals(sumOf('abcdefgi', 'd')));
  t.false(sumOf('ad', 'cb').equals(sumOf('ab', 'cd')));
  for (const keys of [Uint8Array, Uint16Array, Uint32Array]) {
    const of = (...numbers: number[]): ElementSum => {
      const sum = new ElementSum();
      runSync(sum.addKeys(keys.from(numbers), {}));
      return sum;
    };
    t.true(of(5, 9, 2).equals(of(2, 5, 9)));
    t.false(of(5, 9, 2).equals(of(5, 8, 2)));
    t.false(of(5, 9, 2).equals(of(6, 8, 2)), 'the total is the same');
  }
});
