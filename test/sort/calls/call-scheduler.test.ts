import test from 'ava';
import { CallScheduler } from '../../../src/sort/calls/call-scheduler.js';
import { UsageError } from '../../../src/util/errors.js';

/** Calls that record when their halves begin, and end when the test says so. */
function loggedCalls(scheduler: CallScheduler) {
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const end = (name: string) => new Promise<void>((resolve) => ends.set(name, resolve));
  const alone = (name: string) =>
    scheduler.runExclusive(async () => {
      log.push(name);
      await end(name);
      log.push(`${name} done`);
    });
  const inOrder = (name: string) =>
    scheduler.runInOrder(
      async () => {
        log.push(name);
      },
      async () => {
        await end(name);
        log.push(`${name} done`);
      },
    );
  const finish = async (name: string) => {
    ends.get(name)?.();
    await nextTurn();
  };
  return { log, alone, inOrder, finish };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('calls in two halves start in order and do not wait for the second halves', async (t) => {
  const scheduler = new CallScheduler();
  t.true(scheduler.isIdle);
  const { log, inOrder, alone, finish } = loggedCalls(scheduler);
  const calls = [inOrder('a'), inOrder('b'), alone('c'), inOrder('d')];
  await nextTurn();
  t.deepEqual(log, ['a', 'b'], 'an exclusive call waits for both, and later calls wait for it');
  await finish('b');
  t.deepEqual(log, ['a', 'b', 'b done']);
  await finish('a');
  t.deepEqual(log.slice(3), ['a done', 'c']);
  t.false(scheduler.isIdle);
  await finish('c');
  await finish('d');
  await Promise.all(calls);
  t.deepEqual(log.slice(5), ['c done', 'd', 'd done']);
  await scheduler.waitForAll();
  t.true(scheduler.isIdle);
});

test('a call that fails in either half does not block later calls', async (t) => {
  const scheduler = new CallScheduler();
  const fail = async (): Promise<never> => {
    throw new Error('no');
  };
  const calls = [
    scheduler.runInOrder(fail, async () => undefined),
    scheduler.runInOrder(() => undefined, fail),
    scheduler.runInOrder(async () => undefined, fail),
    scheduler.runExclusive(fail),
  ];
  const last = scheduler.runExclusive(async () => 'yes');
  for (const call of calls) await t.throwsAsync(call, { message: 'no' });
  t.is(await last, 'yes');
});

test('close waits for running calls and rejects new ones', async (t) => {
  const scheduler = new CallScheduler();
  const { log, inOrder, finish } = loggedCalls(scheduler);
  const call = inOrder('a');
  const closed = scheduler.close().then(() => log.push('closed'));
  await t.throwsAsync(
    scheduler.runExclusive(async () => undefined),
    { instanceOf: UsageError },
  );
  await t.throwsAsync(inOrder('b'), { instanceOf: UsageError });
  await nextTurn();
  await finish('a');
  await Promise.all([call, closed]);
  t.deepEqual(log, ['a', 'a done', 'closed']);
});

test('each of several exclusive calls waits for all calls before it, and close waits for all', async (t) => {
  const scheduler = new CallScheduler();
  const { log, inOrder, alone, finish } = loggedCalls(scheduler);
  const calls = [inOrder('a'), alone('b'), alone('c'), inOrder('d'), alone('e')];
  const closed = scheduler.close().then(() => log.push('closed'));
  await nextTurn();
  t.deepEqual(log, ['a']);
  for (const name of ['a', 'b', 'c', 'd', 'e']) await finish(name);
  await Promise.all([...calls, closed]);
  t.deepEqual(log, ['a', 'a done', 'b', 'b done', 'c', 'c done', 'd', 'd done', 'e', 'e done', 'closed']);
});

test('concurrent calls wait for exclusive calls, and only exclusive calls wait for them', async (t) => {
  const scheduler = new CallScheduler();
  const { log, alone, inOrder, finish } = loggedCalls(scheduler);
  const beside = (name: string, n = 1) => {
    let end = (): void => undefined;
    const call = scheduler.runConcurrently(n, async () => {
      log.push(name);
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      log.push(`${name} done`);
    });
    return {
      call,
      end: () => {
        end();
        return nextTurn();
      },
    };
  };
  const first = alone('alone');
  const [a, b] = [beside('a'), beside('b')];
  const ordered = inOrder('in order');
  await nextTurn();
  t.deepEqual(log, ['alone']);
  await finish('alone');
  t.deepEqual(log.slice(2).toSorted(), ['a', 'b', 'in order']);
  const last = alone('last');
  await b.end();
  await finish('in order');
  t.deepEqual(log.slice(5), ['b done', 'in order done'], 'an exclusive call waits for all');
  await a.end();
  t.deepEqual(log.slice(7), ['a done', 'last']);
  await finish('last');
  await Promise.all([first, a.call, b.call, ordered, last]);
});

test('an independent call starts at once, and only close waits for it', async (t) => {
  const scheduler = new CallScheduler();
  const { log, alone, inOrder, finish } = loggedCalls(scheduler);
  const calls = [inOrder('a')];
  let end: () => void = () => undefined;
  const independent = scheduler.runIndependently(async () => {
    log.push('apart');
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    return 7;
  });
  calls.push(alone('b'));
  await nextTurn();
  t.deepEqual(log.toSorted(), ['a', 'apart']);
  await finish('a');
  await finish('b');
  await Promise.all(calls);
  t.deepEqual(log.slice(2), ['a done', 'b', 'b done'], 'no call waits for it');
  t.false(scheduler.isIdle);
  let closed = false;
  const closing = scheduler.close().then(() => {
    closed = true;
  });
  await nextTurn();
  t.false(closed);
  end();
  t.is(await independent, 7);
  await closing;
  t.true(scheduler.isIdle);
  await t.throwsAsync(
    scheduler.runIndependently(async () => 1),
    { instanceOf: UsageError },
  );
});

test('concurrent calls start in order, limited by their number and their total keys', async (t) => {
  const scheduler = new CallScheduler();
  const max = { calls: 0, keys: 0 };
  const now = { calls: 0, keys: 0 };
  const order: number[] = [];
  const sizes = Array.from({ length: 400 }, (_, i) =>
    i % 40 === 7 ? 2 ** 26 : i % 7 === 0 ? 2 ** 23 : 1000,
  );
  const calls = sizes.map((n, i) =>
    scheduler.runConcurrently(n, async () => {
      order.push(i);
      now.calls++;
      now.keys += n;
      max.calls = Math.max(max.calls, now.calls);
      if (now.calls > 1) max.keys = Math.max(max.keys, now.keys);
      await nextTurn();
      now.calls--;
      now.keys -= n;
      if (i % 50 === 3) throw new Error('no');
    }),
  );
  const settled = await Promise.allSettled(calls);
  t.is(settled.filter(({ status }) => status === 'rejected').length, 8);
  t.deepEqual(
    order,
    sizes.map((_, i) => i),
  );
  t.true(max.calls > 1 && max.calls <= 100, String(max.calls));
  t.true(max.keys <= 2 ** 24, String(max.keys));
  t.true(scheduler.isIdle);
});
