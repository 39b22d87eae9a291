import test from 'ava';
import { Lookout, type Watched } from '../../src/device/lookout.js';
import { Progress } from '../../src/device/progress.js';
import type { Berth } from '../../src/device/quay.js';
import { forEachDevice } from '../each-device.js';

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

forEachDevice((title, open) => {
  const looking = async (): Promise<Lookout> => {
    const device = await open();
    const queue: Watched = {
      handle: device.queue.handle,
      submitForLater: () => device.queue.submitForLater(),
      lose: () => undefined,
    };
    const capabilities = { version: device.capabilities.version, quirks: { polls: 1, finishTells: true } };
    return new Lookout(queue, capabilities as never, new Progress(), { tray: undefined, ferry: undefined });
  };

  test.serial(title('a deadline beyond what a timer can run is not one that has passed'), async (t) => {
    const lookout = await looking();
    const warnings: string[] = [];
    const listen = ({ name }: Error): unknown => warnings.push(name);
    process.on('warning', listen);
    for (const seconds of [2_147_483.647, 2_147_483.648, 1e7]) await lookout.reached(seconds);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', listen);
    t.deepEqual(warnings, []);
  });

  test.serial(title('who waits for end after end by looking leaves the loop to others'), async (t) => {
    const lookout = await looking();
    let [isOver, turns, without] = [false, 0, 0];
    const others = (): void => {
      turns++;
      if (!isOver) setImmediate(others);
    };
    setImmediate(others);
    for (let waits = 0; waits < 30; waits++) {
      const [before, begun] = [turns, performance.now()];
      while (performance.now() - begun < 2); // nobody else has had a turn for so many milliseconds
      await lookout.reached(Number.POSITIVE_INFINITY);
      if (turns === before) without++;
    }
    isOver = true;
    t.is(without, 0);
  });
});
