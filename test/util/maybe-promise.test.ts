import test from 'ava';
import { chain, finallyDo, type MaybePromise, recover, toPromise } from '../../src/util/maybe-promise.js';

const wrong = new Error('no');
const fails = (): never => {
  throw wrong;
};

test('after continues synchronously with a value and asynchronously with a promise', async (t) => {
  t.is(
    chain(3, (value) => value + 1),
    4,
  );
  const later = chain(Promise.resolve(3), (value) => value + 1);
  t.true(later instanceof Promise);
  t.is(await later, 4);
});

test('rescued handles thrown errors and rejections alike', async (t) => {
  const recovered = (error: unknown): MaybePromise<string> => (error === wrong ? 'saved' : 'another');
  t.is(
    recover(() => 'well', recovered),
    'well',
  );
  t.is(recover(fails, recovered), 'saved');
  t.is(await recover(async () => 'well', recovered), 'well');
  t.is(await recover(async () => fails(), recovered), 'saved');
  await t.throwsAsync(async () => recover(async () => fails(), fails), { is: wrong });
});

test('promised returns a promise for a value, a promise or a thrown error', async (t) => {
  t.is(await toPromise(() => 3), 3);
  t.is(await toPromise(async () => 3), 3);
  await t.throwsAsync(toPromise(fails), { is: wrong });
  await t.throwsAsync(
    toPromise(async () => fails()),
    { is: wrong },
  );
});

test('ended runs its callback once, after a value, an error or a settled promise', async (t) => {
  let ends = 0;
  const end = () => {
    ends++;
  };
  t.is(
    finallyDo(() => 3, end),
    3,
  );
  t.is(ends, 1);
  t.throws(() => finallyDo(fails, end), { is: wrong });
  t.is(ends, 2);
  let settle = (_value: number): void => undefined;
  const later = finallyDo(() => new Promise<number>((resolve) => (settle = resolve)), end);
  t.is(ends, 2);
  settle(4);
  t.is(await later, 4);
  t.is(ends, 3);
  await t.throwsAsync(async () => finallyDo(async () => fails(), end), { is: wrong });
  t.is(ends, 4);
});
