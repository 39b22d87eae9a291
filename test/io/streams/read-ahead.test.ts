import test from 'ava';
import { readAhead } from '../../../src/io/streams/read-ahead.js';

test('each item is requested while the previous one is processed, and the order is kept', async (t) => {
  const asked: number[] = [];
  async function* numbers(): AsyncGenerator<number> {
    for (let i = 0; i < 4; i++) {
      asked.push(i);
      yield i;
    }
  }
  const got: number[] = [];
  for await (const number of readAhead(numbers())) {
    await new Promise(setImmediate);
    t.is(asked.length, Math.min(4, number + 2));
    got.push(number);
  }
  t.deepEqual(got, [0, 1, 2, 3]);
});

test('a failure is thrown at its position, and an early break ends the generator', async (t) => {
  let ended = 0;
  async function* failing(): AsyncGenerator<string> {
    try {
      yield 'first';
      throw new Error('the second is broken');
    } finally {
      ended++;
    }
  }
  const got: string[] = [];
  await t.throwsAsync(
    async () => {
      for await (const one of readAhead(failing())) {
        await new Promise(setImmediate);
        got.push(one);
      }
    },
    { message: 'the second is broken' },
  );
  t.deepEqual(got, ['first']);
  for await (const one of readAhead(failing())) if (one) break;
  t.is(ended, 2);
});
