import test from 'ava';
import { chain } from '../../src/util/maybe-promise.js';

test('chain continues synchronously with a value and asynchronously with a promise', async (t) => {
  t.is(
    chain(3, (value) => value + 1),
    4,
  );
  const later = chain(Promise.resolve(3), (value) => value + 1);
  t.true(later instanceof Promise);
  t.is(await later, 4);
});
