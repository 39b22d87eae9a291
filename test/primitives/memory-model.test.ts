import test from 'ava';
import { type Access, bankTurns, sectorsOf } from '../../src/primitives/memory-model.js';

const sideBySide = (items: number): Access => Array.from({ length: items }, (_, i) => i);
const strided = (items: number, stride: number): Access =>
  Array.from({ length: items }, (_, i) => i * stride);

test('neighbouring words lie in banks of their own, and a stride of the banks in one', (t) => {
  for (const banks of [16, 32]) {
    t.is(bankTurns(sideBySide(64), 4, banks, false), 1);
    t.is(bankTurns(strided(32, 2), 4, banks, false), 2);
    t.is(bankTurns(strided(32, banks), 4, banks, false), banks);
    t.is(bankTurns(strided(32, banks), 4, banks, true), 1, 'a word behind each row of banks parts them');
  }
});

test('one word serves all who ask for it, and so do bytes of one word', (t) => {
  t.is(bankTurns(new Array<number>(32).fill(7), 4, 32, false), 1);
  t.is(bankTurns(sideBySide(32), 1, 32, false), 1);
  t.is(bankTurns(strided(32, 64), 1, 32, false), 16, 'every 64th byte lies in one of two banks');
});

test('of words of 8 bytes half as many have a turn together', (t) => {
  t.is(bankTurns(sideBySide(32), 8, 32, false), 1);
  t.is(bankTurns(strided(32, 16), 8, 32, false), 16);
});

test('sectors are counted for each row of 32 work-items', (t) => {
  t.is(sectorsOf(sideBySide(32), 4), 4);
  t.is(sectorsOf(strided(32, 8), 4), 32);
  t.is(sectorsOf(new Array<number>(64).fill(0), 4), 2);
  t.is(sectorsOf([undefined, 3], 8), 1);
});
