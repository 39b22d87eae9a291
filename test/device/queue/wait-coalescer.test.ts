import test from 'ava';
import { WaitCoalescer } from '../../../src/device/queue/completion-poller.js';

/** Waits for the driver that the test completes one by one. */
function createCoalescer() {
  const started: { resolve(): void; reject(error: Error): void }[] = [];
  const coalescer = new WaitCoalescer(
    () => new Promise<void>((resolve, reject) => started.push({ resolve: () => resolve(), reject })),
  );
  return { asked: started, coalescer };
}

const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('waits that begin before the driver wait starts share it, and later waits share the next one', async (t) => {
  const { asked: started, coalescer } = createCoalescer();
  const settled: string[] = [];
  const wait = (name: string) => coalescer.wait().then(() => settled.push(name));
  const first = Array.from({ length: 50 }, () => wait('first'));
  await Promise.resolve();
  first.push(wait('first')); // started in a microtask
  t.is(started.length, 0, 'more waits may begin in this turn');
  await idle();
  t.is(started.length, 1);
  const second = [wait('second')];
  await idle();
  second.push(wait('second'));
  t.is(started.length, 1, 'one driver wait at a time');
  started[0]?.resolve();
  await Promise.all(first);
  t.deepEqual(new Set(settled), new Set(['first']));
  second.push(wait('second'));
  await idle();
  t.is(started.length, 2);
  started[1]?.resolve();
  await Promise.all(second);
  t.is(settled.length, 54);
  const again = coalescer.wait();
  await idle();
  t.is(started.length, 3);
  started[2]?.resolve();
  await again;
});

test('a failed driver wait rejects only the waits that share it', async (t) => {
  const { asked: started, coalescer } = createCoalescer();
  const first = coalescer.wait();
  await idle();
  const second = coalescer.wait();
  started[0]?.reject(new Error('lost'));
  await t.throwsAsync(first, { message: 'lost' });
  await idle();
  started[1]?.resolve();
  await t.notThrowsAsync(second);
});

test('ended resolves after all pending waits, including failed ones and those not yet started', async (t) => {
  const { asked: started, coalescer } = createCoalescer();
  await coalescer.settled();
  const first = coalescer.wait();
  await idle();
  const second = coalescer.wait();
  let over = false;
  const allSettled = coalescer.settled().then(() => {
    over = true;
  });
  started[0]?.reject(new Error('lost'));
  await t.throwsAsync(first);
  await idle();
  t.false(over);
  started[1]?.resolve();
  await Promise.all([second, allSettled]);
  t.true(over);
});
