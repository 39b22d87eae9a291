import test from 'ava';
import { after, ended, promised, rescued, type Soon } from '../../src/util/soon.js';

const wrong = new Error('no');
const fails = (): never => {
  throw wrong;
};

test('what is there goes on at once, and what is to come when it is there', async (t) => {
  t.is(
    after(3, (value) => value + 1),
    4,
  );
  const later = after(Promise.resolve(3), (value) => value + 1);
  t.true(later instanceof Promise);
  t.is(await later, 4);
});

test('what is thrown and what a promise is rejected with are rescued alike', async (t) => {
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

test('the promise of a value that is there, of one that is to come, and of none', async (t) => {
  t.is(await promised(() => 3), 3);
  t.is(await promised(async () => 3), 3);
  await t.throwsAsync(promised(fails), { is: wrong });
  await t.throwsAsync(
    promised(async () => fails()),
    { is: wrong },
  );
});

test('what is to be done at the end is done once, however it went, and when it has', async (t) => {
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
