import test from 'ava';
import type { Berth } from '../../src/device/ferry.js';
import { Lookout, type Watched } from '../../src/device/lookout.js';
import { Progress } from '../../src/device/progress.js';

test('who waits later for what did not arrive is told of it', async (t) => {
  const progress = new Progress();
  const lost: [from: number, to: number, why: unknown][] = [];
  const queue: Watched = {
    handle: undefined as never,
    submitForLater: () => undefined,
    lose: (...what) => {
      lost.push(what);
    },
  };
  let crossings = 0;
  const ferry = {
    board: () => progress.enqueue(),
    depart: () => {
      crossings++;
      throw new Error('does not cross');
    },
  };
  const capabilities = { version: 3, quirks: { polls: 0, finishTells: true } };
  const lookout = new Lookout(queue, capabilities as never, progress, {
    tray: undefined,
    ferry: ferry as never,
  });
  progress.enqueue(4);
  await t.throwsAsync(lookout.reached(Number.POSITIVE_INFINITY), { message: 'does not cross' });
  t.deepEqual(lost, [], 'nothing was to arrive');
  progress.enqueue();
  const to = new Uint8Array(2);
  lookout.bring({ memory: new Uint8Array([1, 2]) } as Berth, to);
  t.false(lookout.hasNothing);
  await t.throwsAsync(lookout.reached(Number.POSITIVE_INFINITY), { message: 'does not cross' });
  t.true(lookout.hasNothing);
  t.is(crossings, 2);
  t.deepEqual(
    lost.map(([from, until]) => [from, until]),
    [[4, 6]],
  );
  t.deepEqual([...to], [0, 0]);
});
