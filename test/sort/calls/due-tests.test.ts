/** Deferred tests of variants, which run while no call runs. */
import test from 'ava';
import { MismatchError } from '../../../src/index.js';
import { fakeSorter } from '../fake-backend.js';

const KEYS = Uint32Array.from({ length: 900 }, (_, i) => Math.imul(i, 2654435761) >>> 3);

/** Waits until a condition holds. The timer of deferred tests does not keep the process alive, this one does. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('deferred tests run round by round between calls; a failure is a warning, and the others go on', async (t) => {
  const { sorter, session, warnings } = fakeSorter();
  const { dueTests } = session.backend;
  dueTests.push(undefined, new MismatchError('failed under stress'), undefined);
  session.makeTestsDue();
  const sorted = KEYS.toSorted();
  while (dueTests.length > 0) {
    t.deepEqual(await sorter.sort(KEYS), sorted);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await until(() => warnings.length > 0);
  t.deepEqual(
    warnings.map(({ message }) => message),
    ['failed under stress'],
  );
  t.deepEqual(await sorter.sort(KEYS), sorted);
  await sorter.close();
});

test('no deferred test runs after close()', async (t) => {
  const { sorter, session } = fakeSorter();
  session.backend.dueTests.push(undefined);
  session.makeTestsDue();
  await sorter.close();
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.is(session.backend.dueTests.length, 1);
});
