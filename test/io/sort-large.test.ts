import test from 'ava';
import { fitsAsWhole, mostForWhole } from '../../src/io/sort-large.js';

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const [CPU, GPU] = [{ type: 'cpu' }, { type: 'gpu' }] as const;

test('small inputs are sorted as a whole, and larger ones only on a GPU with enough memory', (t) => {
  const limits = { memory: 8 * GIB, argsort: false, unit: 8 };
  for (const device of [undefined, CPU, GPU]) {
    t.true(fitsAsWhole(64 * MIB, limits, device));
    t.false(fitsAsWhole(64 * MIB, { ...limits, memory: 100 * MIB }, device));
    t.false(fitsAsWhole(undefined, limits, device), 'a pipe above the limit');
  }
  t.false(fitsAsWhole(GIB, limits, undefined));
  t.false(fitsAsWhole(GIB, limits, CPU));
  t.true(fitsAsWhole(GIB, limits, GPU));
  t.false(fitsAsWhole(4 * GIB, limits, GPU));
});

test('positions are computed as a whole while the memory also holds the positions', (t) => {
  const limits = { memory: 8 * GIB, argsort: true, unit: 8 };
  t.true(fitsAsWhole(GIB, limits, CPU));
  t.false(fitsAsWhole(2 * GIB, limits, CPU));
  t.true(fitsAsWhole(2 * GIB, limits, GPU));
  t.false(fitsAsWhole(GIB, { ...limits, unit: 1 }, CPU), 'positions take four bytes, keys one');
});

test('a pipe is buffered up to the size that is sorted as a whole', (t) => {
  const limits = { memory: 8 * GIB, argsort: false, unit: 4 };
  t.is(mostForWhole(limits, true), 64 * MIB);
  t.true(mostForWhole({ ...limits, memory: 100 * MIB }, true) < 25 * MIB);
  t.true(mostForWhole({ ...limits, memory: 100 * MIB, argsort: true }, true) < 13 * MIB);
});
