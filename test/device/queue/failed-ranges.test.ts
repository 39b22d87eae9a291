import test from 'ava';
import { FailedRanges } from '../../../src/device/queue/timeline.js';

test('between returns the failure within a range of commands, and none outside it', (t) => {
  const failedRanges = new FailedRanges();
  const [first, second] = [new Error('first'), new Error('second')];
  t.is(failedRanges.causeBetween(0, 100), undefined);
  failedRanges.add(10, 20, first);
  failedRanges.add(30, 31, second);
  t.is(failedRanges.causeBetween(0, 10), undefined);
  t.is(failedRanges.causeBetween(0, 11), first);
  t.is(failedRanges.causeBetween(19, 25), first);
  t.is(failedRanges.causeBetween(20, 30), undefined);
  t.is(failedRanges.causeBetween(30, 40), second);
  t.is(failedRanges.causeBetween(31, 40), undefined);
  t.is(failedRanges.causeBetween(0, 100), second);
  t.true(failedRanges.hasCause(first));
  t.false(failedRanges.hasCause(new Error('first')));
});

test('only the latest failures are kept', (t) => {
  const failedRanges = new FailedRanges();
  for (let i = 0; i < 1000; i++) failedRanges.add(i, i + 1, i);
  t.is(failedRanges.causeBetween(999, 1000), 999);
  t.is(failedRanges.causeBetween(0, 1), undefined);
});
