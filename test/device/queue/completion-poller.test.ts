import test from 'ava';
import { StagingArena, type StagingSlot } from '../../../src/device/memory/staging-arena.js';
import { CompletionPoller, type PolledQueue } from '../../../src/device/queue/completion-poller.js';
import { Timeline } from '../../../src/device/queue/timeline.js';
import { TimeoutError } from '../../../src/util/errors.js';
import { withDeadline } from '../../../src/util/timer.js';
import { forEachDevice } from '../../each-device.js';

test('a later waiter rejects when the transfer failed', async (t) => {
  const timeline = new Timeline();
  const failed: [from: number, to: number, why: unknown][] = [];
  const queue: PolledQueue = {
    handle: undefined as never,
    trySubmit: () => undefined,
    markFailed: (...what) => {
      failed.push(what);
    },
  };
  let transferCalls = 0;
  const transfers = {
    enqueueSlot: () => timeline.enqueue(),
    takePending: () => {
      transferCalls++;
      throw new Error('does not cross');
    },
  };
  const capabilities = { version: 3, quirks: { pollSeconds: 0, finishIsReliable: true } };
  const poller = new CompletionPoller(queue, capabilities as never, timeline, transfers as never);
  timeline.enqueue(4);
  await t.throwsAsync(poller.wait(Number.POSITIVE_INFINITY), { message: 'does not cross' });
  t.deepEqual(failed, [], 'no transfer was pending');
  timeline.enqueue();
  const to = new Uint8Array(2);
  poller.readSlot({ memory: new Uint8Array([1, 2]) } as StagingSlot, to);
  t.false(poller.hasNoReads);
  await t.throwsAsync(poller.wait(Number.POSITIVE_INFINITY), { message: 'does not cross' });
  t.true(poller.hasNoReads);
  t.is(transferCalls, 2);
  t.deepEqual(
    failed.map(([from, until]) => [from, until]),
    [[4, 6]],
  );
  t.deepEqual([...to], [0, 0]);
});

forEachDevice((title, open) => {
  const createPoller = async (): Promise<CompletionPoller> => {
    const device = await open();
    const queue: PolledQueue = {
      handle: device.queue.handle,
      trySubmit: () => device.queue.trySubmit(),
      markFailed: () => undefined,
    };
    const capabilities = {
      version: device.capabilities.version,
      quirks: { pollSeconds: 1, finishIsReliable: true },
    };
    return new CompletionPoller(queue, capabilities as never, new Timeline(), undefined);
  };

  test.serial(title('waits of a chain resolve in order, each with its own words'), async (t) => {
    const device = await open();
    const { handle } = device.queue;
    const queue: PolledQueue = { handle, trySubmit: () => undefined, markFailed: () => undefined };
    const capabilities = {
      version: device.capabilities.version,
      quirks: { pollSeconds: 1, finishIsReliable: true },
    };
    const timeline = new Timeline();
    // Memory for the words of one wait, which the next wait reuses.
    const staging = new StagingArena(timeline, () => ({
      host: new ArrayBuffer(4096),
      device: device.buffer(4096),
      beforeRelease: () => undefined,
    }));
    const poller = new CompletionPoller(queue, capabilities as never, timeline, staging);
    const calls = 60;
    const buffer = device.buffer(4 * calls);
    const settled: number[] = [];
    const before = device.queue.position;
    const all = Array.from({ length: calls }, (_, i) => {
      device.queue.fill(buffer, i + 1, { offset: 4 * i, bytes: 4 });
      timeline.enqueue(device.queue.position - before);
      const words = poller.readAtWait(buffer, 4 * i, 1);
      return poller.wait(60_000).then(() => {
        settled.push(i);
        return words.word(0);
      });
    });
    t.deepEqual(
      await Promise.all(all),
      all.map((_, i) => i + 1),
    );
    t.deepEqual(
      settled,
      all.map((_, i) => i),
    );
    await device.queue.finish();
    staging.release();
    buffer.release();
  });

  test.serial(title('a deadline beyond the maximum of a timer does not expire at once'), async (t) => {
    const poller = await createPoller();
    const warnings: string[] = [];
    const listen = ({ name }: Error): unknown => warnings.push(name);
    process.on('warning', listen);
    for (const milliseconds of [2_147_483_647, 2_147_483_648, 1e10]) await poller.wait(milliseconds);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', listen);
    t.deepEqual(warnings, []);
  });

  test.serial(title('repeated polling waits do not block the event loop'), async (t) => {
    const poller = await createPoller();
    let [isOver, turns, without] = [false, 0, 0];
    const others = (): void => {
      turns++;
      if (!isOver) setImmediate(others);
    };
    setImmediate(others);
    for (let waits = 0; waits < 30; waits++) {
      const [before, begun] = [turns, performance.now()];
      while (performance.now() - begun < 2); // the event loop is blocked for so many milliseconds
      await poller.wait(Number.POSITIVE_INFINITY);
      if (turns === before) without++;
    }
    isOver = true;
    t.is(without, 0);
  });
});

test('a deadline is in milliseconds, and the error names it with its unit', async (t) => {
  const started = performance.now();
  const error = await t.throwsAsync(withDeadline(new Promise(() => undefined), 30), {
    instanceOf: TimeoutError,
    message: /within 30 ms/,
  });
  t.deepEqual(error?.details, { timeout: 30 });
  t.true(performance.now() - started >= 25);
});
