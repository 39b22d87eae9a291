import test from 'ava';
import { hunt } from './hunt.js';

/** For how long rounds are begun; `scripts/fuzz-spread.mjs` goes on for longer. */
const SECONDS = 15;

test('random calls on several devices match the host engine despite failures, aborts and disposals', async (t) => {
  const seed = Number(process.env.CLSORT_FUZZ_SEED ?? 1);
  const { played, failures, tally } = await hunt({
    seed,
    seconds: SECONDS,
    rounds: Number.POSITIVE_INFINITY,
  });
  t.deepEqual(failures, []);
  t.log(played, tally);
  t.true((tally.right ?? 0) > 0);
});
