import test from 'ava';
import { oncePer } from '../../src/util/memo.js';

test('a value is computed once for each object, also if it is undefined', (t) => {
  const calls: object[] = [];
  const nameOf = oncePer((owner: { readonly name?: string }) => {
    calls.push(owner);
    return owner.name;
  });
  const [named, unnamed] = [{ name: 'a' }, {}];
  t.deepEqual([named, unnamed, named, unnamed].map(nameOf), ['a', undefined, 'a', undefined]);
  t.deepEqual(calls, [named, unnamed]);
});

test('a computation that throws is repeated', (t) => {
  let calls = 0;
  const failsOnce = oncePer((_owner: object) => {
    if (calls++ === 0) throw new Error('not yet');
    return calls;
  });
  const owner = {};
  t.throws(() => failsOnce(owner), { message: 'not yet' });
  t.is(failsOnce(owner), 2);
  t.is(failsOnce(owner), 2);
});
