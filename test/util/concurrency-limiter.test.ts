import test from 'ava';
import { ConcurrencyLimiter } from '../../src/util/concurrency-limiter.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('work starts in order within the load limit, and work above the limit runs alone', async (t) => {
  const limiter = new ConcurrencyLimiter(4);
  const order: number[] = [];
  let [running, load, maxRunning] = [0, 0, 0];
  const loads = [1, 1, 4, 1, 9, 2, 2, 1, 1];
  const work = loads.map((own, i) =>
    limiter.run(own, async () => {
      order.push(i);
      running++;
      load += own;
      if (running > 1) maxRunning = Math.max(maxRunning, load);
      if (own > 4) t.is(running, 1);
      await turn();
      running--;
      load -= own;
      if (i === 3) throw new Error('no');
    }),
  );
  const settled = await Promise.allSettled(work);
  t.deepEqual(
    settled.map(({ status }) => status === 'fulfilled'),
    loads.map((_, i) => i !== 3),
  );
  t.deepEqual(order, [...loads.keys()]);
  t.is(maxRunning, 4);
});

test('work within the limit starts synchronously', async (t) => {
  const limiter = new ConcurrencyLimiter(2);
  t.is(await limiter.run(2, () => 5), 5);
  const fails = (): never => {
    throw new Error('no');
  };
  await t.throwsAsync(limiter.run(2, fails), { message: 'no' });
  let settle = (): void => undefined;
  const first = limiter.run(2, () => new Promise<void>((resolve) => (settle = resolve)));
  let ran = false;
  const second = limiter.run(1, () => {
    ran = true;
  });
  t.false(ran);
  settle();
  await first;
  await second;
  t.true(ran);
});
