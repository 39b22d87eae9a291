import test from 'ava';
import { fitsAsWhole, maxWholeBytes } from '../../../src/io/file-sort/sort-large.js';

const MIB = 2 ** 20;
const GIB = 2 ** 30;

test('small inputs are sorted as a whole, and larger ones only on a GPU with enough memory', (t) => {
  const limits = { memory: 8 * GIB, argsort: false, keyBytes: 8 };
  for (const hasDedicatedMemory of [false, true]) {
    t.true(fitsAsWhole(64 * MIB, limits, hasDedicatedMemory));
    t.false(fitsAsWhole(64 * MIB, { ...limits, memory: 100 * MIB }, hasDedicatedMemory));
    t.false(fitsAsWhole(undefined, limits, hasDedicatedMemory), 'a pipe above the limit');
  }
  t.false(fitsAsWhole(GIB, limits, false));
  t.true(fitsAsWhole(GIB, limits, true));
  t.false(fitsAsWhole(4 * GIB, limits, true));
});

test('positions are computed as a whole while the memory also holds the positions', (t) => {
  const limits = { memory: 8 * GIB, argsort: true, keyBytes: 8 };
  t.true(fitsAsWhole(GIB, limits, false));
  t.false(fitsAsWhole(2 * GIB, limits, false));
  t.true(fitsAsWhole(2 * GIB, limits, true));
  t.false(fitsAsWhole(GIB, { ...limits, keyBytes: 1 }, false), 'positions of four bytes beside keys of one');
});

test('a pipe is buffered up to the size that is sorted as a whole', (t) => {
  const limits = { memory: 8 * GIB, argsort: false, keyBytes: 4 };
  t.is(maxWholeBytes(limits, true), 64 * MIB);
  t.true(maxWholeBytes({ ...limits, memory: 100 * MIB }, true) < 25 * MIB);
  t.true(maxWholeBytes({ ...limits, memory: 100 * MIB, argsort: true }, true) < 13 * MIB);
});
