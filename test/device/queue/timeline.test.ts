import test from 'ava';
import { Timeline } from '../../../src/device/queue/timeline.js';

test('the timeline passes a position when its mark completes, and rests while commands are not flushed', (t) => {
  const timeline = new Timeline();
  t.true(timeline.isIdle && !timeline.hasUnflushed && timeline.hasPassed(0));
  timeline.enqueue(3);
  timeline.submit();
  timeline.enqueue();
  t.true(timeline.hasUnflushed && timeline.isIdle);
  timeline.flush();
  t.false(timeline.hasUnflushed || timeline.isIdle);
  const complete = timeline.mark();
  const early = timeline.enqueued;
  timeline.enqueue(2);
  const completeLater = timeline.mark();
  t.false(timeline.hasPassed(1));
  complete();
  t.true(timeline.hasPassed(early));
  t.false(timeline.isIdle || timeline.hasPassed(timeline.enqueued));
  completeLater();
  complete();
  t.true(timeline.isIdle && timeline.hasPassed(6));
  t.false(timeline.hasPassed(7));
});
