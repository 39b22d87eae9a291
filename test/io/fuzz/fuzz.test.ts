import test from 'ava';
import { scratchFolder } from '../../cli/cli.js';
import { attempt } from './hunt.js';
import { foreignSubjects, subjects } from './subjects.js';

const { folder, remove } = scratchFolder();
test.after.always(remove);

/** Seconds of a CPU, about; `scripts/fuzz-files.mjs` goes on for longer. */
const SECONDS = 4;

test('changed files are read right or refused with an error of ours', async (t) => {
  const all = await subjects();
  const tally = { cases: 0, read: 0, refused: 0 };
  const first = Number(process.env.CLSORT_FUZZ_SEED ?? 1);
  const end = performance.now() + SECONDS * 1000;
  for (let seed = first; performance.now() < end; seed++) await attempt(all, seed, folder, tally);
  t.log(tally);
  // Neither is all of it refused, nor is all of it taken.
  t.true(tally.read > 20 && tally.refused > 20);
});

test('changed files of foreign formats are read right, alike from a file and from a pipe, or refused', async (t) => {
  const tally = { cases: 0, read: 0, refused: 0 };
  const first = Number(process.env.CLSORT_FUZZ_SEED ?? 1);
  const all = await foreignSubjects();
  // One change each: `foreign/hostile.test.ts` tries hundreds within one process.
  for (const [i, subject] of all.entries()) await attempt([subject], first + i, folder, tally);
  t.log(tally);
  t.is(tally.cases, all.length);
});
