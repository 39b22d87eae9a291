import test from 'ava';
import { type Access, bankTurns, sectorsOf } from '../../src/lab/memory-model.js';

const sideBySide = (items: number): Access => Array.from({ length: items }, (_, i) => i);
const strided = (items: number, stride: number): Access =>
  Array.from({ length: items }, (_, i) => i * stride);

test('adjacent words lie in different banks, and words at a stride of the bank count lie in one', (t) => {
  for (const banks of [16, 32]) {
    t.is(bankTurns(sideBySide(64), 4, banks, false), 1);
    t.is(bankTurns(strided(32, 2), 4, banks, false), 2);
    t.is(bankTurns(strided(32, banks), 4, banks, false), banks);
    t.is(
      bankTurns(strided(32, banks), 4, banks, true),
      1,
      'a padding word after each row of banks separates them',
    );
  }
});

test('work-items that read the same word, or bytes of it, cause no bank conflict', (t) => {
  t.is(bankTurns(new Array<number>(32).fill(7), 4, 32, false), 1);
  t.is(bankTurns(sideBySide(32), 1, 32, false), 1);
  t.is(bankTurns(strided(32, 64), 1, 32, false), 16, 'every 64th byte lies in one of two banks');
});

test('8-byte words are served half as many at once as 4-byte words', (t) => {
  t.is(bankTurns(sideBySide(32), 8, 32, false), 1);
  t.is(bankTurns(strided(32, 16), 8, 32, false), 16);
});

test('sectors are counted for each row of 32 work-items', (t) => {
  t.is(sectorsOf(sideBySide(32), 4), 4);
  t.is(sectorsOf(strided(32, 8), 4), 32);
  t.is(sectorsOf(new Array<number>(64).fill(0), 4), 2);
  t.is(sectorsOf([undefined, 3], 8), 1);
});
