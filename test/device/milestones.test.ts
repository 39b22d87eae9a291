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

test('many waits at once take two points: that of the first, and one behind all others', async (t) => {
  const { asked, milestones } = points();
  const reached: number[] = [];
  const waits = Array.from({ length: 50 }, (_, i) => milestones.reached().then(() => reached.push(i)));
  t.is(asked.length, 1);
  asked[0]?.resolve();
  await waits[0];
  t.deepEqual(reached, [0]);
  await new Promise(setImmediate);
  t.is(asked.length, 2);
  asked[1]?.resolve();
  await Promise.all(waits);
  t.is(asked.length, 2);
  const again = milestones.reached();
  t.is(asked.length, 3);
  asked[2]?.resolve();
  await again;
});

test('a point that fails fails its own waits only', async (t) => {
  const { asked, milestones } = points();
  const [first, second] = [milestones.reached(), milestones.reached()];
  asked[0]?.reject(new Error('lost'));
  await t.throwsAsync(first, { message: 'lost' });
  await new Promise(setImmediate);
  asked[1]?.resolve();
  await t.notThrowsAsync(second);
});
