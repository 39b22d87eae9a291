import test from 'ava';
import { hunt } from './hunt.js';

test('random calls on several devices match the host engine despite failures, aborts and disposals', async (t) => {
  // A round with most kinds of calls and errors; `scripts/fuzz-multi-device.mjs` runs others.
  const seed = Number(process.env.CLSORT_FUZZ_SEED ?? 5);
  const { played, failures, tally } = await hunt({
    seed,
    seconds: Number.POSITIVE_INFINITY,
    rounds: 1,
  });
  t.deepEqual(failures, []);
  t.log(played, tally);
  t.true((tally.right ?? 0) > 0);
});
