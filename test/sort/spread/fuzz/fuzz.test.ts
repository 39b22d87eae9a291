import test from 'ava';
import { hunt } from './hunt.js';

/** Rounds, of a second or so; `scripts/fuzz-spread.mjs` plays more. */
const ROUNDS = 25;

test('random calls on several devices make what the host engine makes, whatever fails, is aborted or disposed of', async (t) => {
  const seed = Number(process.env.CLSORT_FUZZ_SEED ?? 1);
  const { played, failures, tally } = await hunt({ seed, seconds: 600, rounds: ROUNDS });
  t.deepEqual(failures, []);
  t.is(played, ROUNDS);
  t.log(tally);
  for (const name of ['sort', 'argsort', 'topK', 'reduce', 'sort on the host'])
    t.true((tally[name] ?? 0) > 0, name);
});
