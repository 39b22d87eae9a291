import test from 'ava';
import { Lookout, type Watched } from '../../src/device/lookout.js';
import { Progress } from '../../src/device/progress.js';
import type { Berth } from '../../src/device/quay.js';
import { Tray } from '../../src/device/tray.js';
import { forEachDevice } from '../each-device.js';

test('a later waiter rejects when the transfer failed', async (t) => {
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
  t.deepEqual(lost, [], 'no transfer was pending');
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

  test.serial(
    title('waits of a long synchronous section resolve in order, each with its own words'),
    async (t) => {
      const device = await open();
      const { handle } = device.queue;
      const queue: Watched = { handle, submitForLater: () => undefined, lose: () => undefined };
      const capabilities = { version: device.capabilities.version, quirks: { polls: 1, finishTells: true } };
      // Memory for the words of one wait, which the next wait reuses.
      const tray = new Tray(() => new ArrayBuffer(256));
      const progress = new Progress();
      const lookout = new Lookout(queue, capabilities as never, progress, { tray, ferry: undefined });
      const calls = 60;
      const buffer = device.buffer(4 * calls);
      const told: number[] = [];
      let waits = 0;
      const mark = progress.mark.bind(progress);
      progress.mark = () => {
        waits++;
        return mark();
      };
      const before = device.queue.position;
      const all = Array.from({ length: calls }, (_, i) => {
        device.queue.fill(buffer, i + 1, { offset: 4 * i, bytes: 4 });
        progress.enqueue(device.queue.position - before);
        const words = lookout.readAtWait(buffer, 4 * i, 1);
        const begun = performance.now();
        while (performance.now() - begun < 0.2);
        return lookout.reached(60).then(() => {
          told.push(i);
          return words.word(0);
        });
      });
      t.deepEqual(
        await Promise.all(all),
        all.map((_, i) => i + 1),
      );
      t.deepEqual(
        told,
        all.map((_, i) => i),
      );
      t.true(waits > 1, `${waits} waits`);
      await device.queue.finish();
      buffer.release();
    },
  );

  test.serial(title('a deadline beyond the maximum of a timer does not expire at once'), async (t) => {
    const lookout = await looking();
    const warnings: string[] = [];
    const listen = ({ name }: Error): unknown => warnings.push(name);
    process.on('warning', listen);
    for (const seconds of [2_147_483.647, 2_147_483.648, 1e7]) await lookout.reached(seconds);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', listen);
    t.deepEqual(warnings, []);
  });

  test.serial(title('repeated polling waits do not block the event loop'), async (t) => {
    const lookout = await looking();
    let [isOver, turns, without] = [false, 0, 0];
    const others = (): void => {
      turns++;
      if (!isOver) setImmediate(others);
    };
    setImmediate(others);
    for (let waits = 0; waits < 30; waits++) {
      const [before, begun] = [turns, performance.now()];
      while (performance.now() - begun < 2); // the event loop is blocked for so many milliseconds
      await lookout.reached(Number.POSITIVE_INFINITY);
      if (turns === before) without++;
    }
    isOver = true;
    t.is(without, 0);
  });
});
