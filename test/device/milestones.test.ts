import test from 'ava';
import { Milestones } from '../../src/device/milestones.js';

/** Points that are reached one after the other, when the test says so. */
function points() {
  const asked: { resolve(): void; reject(error: Error): void }[] = [];
  const milestones = new Milestones(
    () => new Promise<void>((resolve, reject) => asked.push({ resolve: () => resolve(), reject })),
  );
  return { asked, milestones };
}

const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('waits that begin before the driver is asked share a point, and those that begin until it is asked again share the next', async (t) => {
  const { asked, milestones } = points();
  const reached: string[] = [];
  const wait = (name: string) => milestones.reached().then(() => reached.push(name));
  const first = Array.from({ length: 50 }, () => wait('first'));
  await Promise.resolve();
  first.push(wait('first')); // whose code went on meanwhile
  t.is(asked.length, 0, 'there may be more to come');
  await idle();
  t.is(asked.length, 1);
  const second = [wait('second')];
  await idle();
  second.push(wait('second'));
  t.is(asked.length, 1, 'one point at a time');
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

test('a point that fails fails its own waits only', async (t) => {
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

test('the end of all waits comes behind those that nobody was asked for yet, and behind failures', async (t) => {
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

test('who asks long after a wait began has its point asked for at once, also while one is under way', async (t) => {
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
  t.is(asked.length, 1, 'those at 1 to 11 have one, those behind not yet');
  t.is(asked[0]?.before, undefined);
  await idle();
  t.is(asked.length, 1, 'nobody asks while the point is under way');
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
