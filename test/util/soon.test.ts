import test from 'ava';
import { after, promised, rescued, type Soon } from '../../src/util/soon.js';

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
