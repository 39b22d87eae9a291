import test from 'ava';
import { Milestones } from '../../src/device/milestones.js';

/** Waits for the driver that the test completes one after the other. */
function points() {
  const asked: { resolve(): void; reject(error: Error): void }[] = [];
  const milestones = new Milestones(
    () => new Promise<void>((resolve, reject) => asked.push({ resolve: () => resolve(), reject })),
  );
  return { asked, milestones };
}

const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('waits that begin before the driver wait starts share it, and later waits share the next one', async (t) => {
  const { asked, milestones } = points();
  const reached: string[] = [];
  const wait = (name: string) => milestones.reached().then(() => reached.push(name));
  const first = Array.from({ length: 50 }, () => wait('first'));
  await Promise.resolve();
  first.push(wait('first')); // begun in a microtask
  t.is(asked.length, 0, 'more waits may begin in this turn');
  await idle();
  t.is(asked.length, 1);
  const second = [wait('second')];
  await idle();
  second.push(wait('second'));
  t.is(asked.length, 1, 'one driver wait at a time');
  asked[0]?.resolve();
  await Promise.all(first);
  t.deepEqual(new Set(reached), new Set(['first']));
  second.push(wait('second'));
  await idle();
  t.is(asked.length, 2);
  asked[1]?.resolve();
  await Promise.all(second);
  t.is(reached.length, 54);
  const again = milestones.reached();
  await idle();
  t.is(asked.length, 3);
  asked[2]?.resolve();
  await again;
});

test('a failed driver wait rejects only the waits that share it', async (t) => {
  const { asked, milestones } = points();
  const first = milestones.reached();
  await idle();
  const second = milestones.reached();
  asked[0]?.reject(new Error('lost'));
  await t.throwsAsync(first, { message: 'lost' });
  await idle();
  asked[1]?.resolve();
  await t.notThrowsAsync(second);
});

test('ended resolves after all pending waits, including failed ones and those not yet started', async (t) => {
  const { asked, milestones } = points();
  await milestones.ended();
  const first = milestones.reached();
  await idle();
  const second = milestones.reached();
  let over = false;
  const ended = milestones.ended().then(() => {
    over = true;
  });
  asked[0]?.reject(new Error('lost'));
  await t.throwsAsync(first);
  await idle();
  t.false(over);
  asked[1]?.resolve();
  await Promise.all([second, ended]);
  t.true(over);
});

test('a wait that begins long after another one starts its driver wait at once, even while one is pending', async (t) => {
  let now = 0;
  const asked: { before: Promise<void> | undefined; resolve(): void }[] = [];
  const reach = (before: Promise<void> | undefined): Promise<void> =>
    new Promise((resolve) => asked.push({ before, resolve: () => resolve() }));
  const milestones = new Milestones(reach, 10, () => now);
  const told: number[] = [];
  const wait = (at: number): Promise<unknown> => {
    now = at;
    return milestones.reached().then(() => told.push(at));
  };
  const waits = [1, 4, 10, 11, 12, 20, 21].map(wait);
  t.is(asked.length, 1, 'those at 1 to 11 share one, the later ones do not have one yet');
  t.is(asked[0]?.before, undefined);
  await idle();
  t.is(asked.length, 1, 'no other driver wait starts while one is pending');
  waits.push(wait(22));
  t.is(asked.length, 2, 'but long after the wait began');
  t.not(asked[1]?.before, undefined);
  asked[0]?.resolve();
  await Promise.all(waits.slice(0, 4));
  t.deepEqual(told, [1, 4, 10, 11]);
  let over = false;
  const ended = milestones.ended().then(() => {
    over = true;
  });
  await idle();
  t.false(over);
  asked[1]?.resolve();
  await Promise.all([...waits, ended]);
  t.is(told.length, 8);
  t.is(asked.length, 2);
});
