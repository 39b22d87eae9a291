import test from 'ava';
import { Losses } from '../../src/device/losses.js';

test('between returns the failure within a range of commands, and none outside it', (t) => {
  const losses = new Losses();
  const [first, second] = [new Error('first'), new Error('second')];
  t.is(losses.between(0, 100), undefined);
  losses.add(10, 20, first);
  losses.add(30, 31, second);
  t.is(losses.between(0, 10), undefined);
  t.is(losses.between(0, 11), first);
  t.is(losses.between(19, 25), first);
  t.is(losses.between(20, 30), undefined);
  t.is(losses.between(30, 40), second);
  t.is(losses.between(31, 40), undefined);
  t.is(losses.between(0, 100), second);
  t.true(losses.has(first));
  t.false(losses.has(new Error('first')));
});

test('only the latest failures are kept', (t) => {
  const losses = new Losses();
  for (let i = 0; i < 1000; i++) losses.add(i, i + 1, i);
  t.is(losses.between(999, 1000), 999);
  t.is(losses.between(0, 1), undefined);
});
