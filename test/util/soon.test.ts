import test from 'ava';
import { after, ended, promised, rescued, type Soon } from '../../src/util/soon.js';

const wrong = new Error('no');
const fails = (): never => {
  throw wrong;
};

test('after continues synchronously with a value and asynchronously with a promise', async (t) => {
  t.is(
    after(3, (value) => value + 1),
    4,
  );
  const later = after(Promise.resolve(3), (value) => value + 1);
  t.true(later instanceof Promise);
  t.is(await later, 4);
});

test('rescued handles thrown errors and rejections alike', async (t) => {
  const saved = (error: unknown): Soon<string> => (error === wrong ? 'saved' : 'another');
  t.is(
    rescued(() => 'well', saved),
    'well',
  );
  t.is(rescued(fails, saved), 'saved');
  t.is(await rescued(async () => 'well', saved), 'well');
  t.is(await rescued(async () => fails(), saved), 'saved');
  await t.throwsAsync(async () => rescued(async () => fails(), fails), { is: wrong });
});

test('promised returns a promise for a value, a promise or a thrown error', async (t) => {
  t.is(await promised(() => 3), 3);
  t.is(await promised(async () => 3), 3);
  await t.throwsAsync(promised(fails), { is: wrong });
  await t.throwsAsync(
    promised(async () => fails()),
    { is: wrong },
  );
});

test('ended runs its callback once, after a value, an error or a settled promise', async (t) => {
  let ends = 0;
  const end = () => {
    ends++;
  };
  t.is(
    ended(() => 3, end),
    3,
  );
  t.is(ends, 1);
  t.throws(() => ended(fails, end), { is: wrong });
  t.is(ends, 2);
  let settle = (_value: number): void => undefined;
  const later = ended(() => new Promise<number>((resolve) => (settle = resolve)), end);
  t.is(ends, 2);
  settle(4);
  t.is(await later, 4);
  t.is(ends, 3);
  await t.throwsAsync(async () => ended(async () => fails(), end), { is: wrong });
  t.is(ends, 4);
});
