import test from 'ava';
import { Turns } from '../../../src/sort/calls/turns.js';
import { UsageError } from '../../../src/util/errors.js';

/** Calls that note when their halves begin, and end when the test says so. */
function noted(turns: Turns) {
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const end = (name: string) => new Promise<void>((resolve) => ends.set(name, resolve));
  const alone = (name: string) =>
    turns.alone(async () => {
      log.push(name);
      await end(name);
      log.push(`${name} done`);
    });
  const inOrder = (name: string) =>
    turns.inOrder(async () => {
      log.push(name);
      return async () => {
        await end(name);
        log.push(`${name} done`);
      };
    });
  const finish = async (name: string) => {
    ends.get(name)?.();
    await idle();
  };
  return { log, alone, inOrder, finish };
}

const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('calls in two halves begin one after the other, and need not wait for the ends', async (t) => {
  const turns = new Turns();
  t.true(turns.idle);
  const { log, inOrder, alone, finish } = noted(turns);
  const calls = [inOrder('a'), inOrder('b'), alone('c'), inOrder('d')];
  await idle();
  t.deepEqual(log, ['a', 'b'], 'who is alone waits for both, and whoever comes later for that');
  await finish('b');
  t.deepEqual(log, ['a', 'b', 'b done']);
  await finish('a');
  t.deepEqual(log.slice(3), ['a done', 'c']);
  t.false(turns.idle);
  await finish('c');
  await finish('d');
  await Promise.all(calls);
  t.deepEqual(log.slice(5), ['c done', 'd', 'd done']);
  await turns.settled();
  t.true(turns.idle);
});

test('a call that fails, in either half, keeps nobody from their turn', async (t) => {
  const turns = new Turns();
  const fail = async (): Promise<never> => {
    throw new Error('no');
  };
  const calls = [turns.inOrder(fail), turns.inOrder(async () => fail), turns.alone(fail)];
  const last = turns.alone(async () => 'yes');
  for (const call of calls) await t.throwsAsync(call, { message: 'no' });
  t.is(await last, 'yes');
});

test('closing waits for what is under way, and lets nothing more in', async (t) => {
  const turns = new Turns();
  const { log, inOrder, finish } = noted(turns);
  const call = inOrder('a');
  const closed = turns.close().then(() => log.push('closed'));
  await t.throwsAsync(
    turns.alone(async () => undefined),
    { instanceOf: UsageError },
  );
  await t.throwsAsync(inOrder('b'), { instanceOf: UsageError });
  await idle();
  await finish('a');
  await Promise.all([call, closed]);
  t.deepEqual(log, ['a', 'a done', 'closed']);
});
