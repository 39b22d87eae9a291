import test from 'ava';
import { Progress } from '../../src/device/progress.js';

test('the timeline passes a position when its mark completes, and rests while commands are not flushed', (t) => {
  const progress = new Progress();
  t.true(progress.isIdle && !progress.rests && progress.hasPassed(0));
  progress.enqueue(3);
  progress.hand();
  progress.enqueue();
  t.true(progress.rests && progress.isIdle);
  progress.start();
  t.false(progress.rests || progress.isIdle);
  const passed = progress.mark();
  const early = progress.enqueued;
  progress.enqueue(2);
  const later = progress.mark();
  t.false(progress.hasPassed(1));
  passed();
  t.true(progress.hasPassed(early));
  t.false(progress.isIdle || progress.hasPassed(progress.enqueued));
  later();
  passed();
  t.true(progress.isIdle && progress.hasPassed(6));
  t.false(progress.hasPassed(7));
});
