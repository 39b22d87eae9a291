import test from 'ava';
import { factsOfName } from '../../../src/io/formats/file-name.js';
import { READABLE } from '../../../src/io/formats/readable.js';
import { scratchFolder } from '../../cli/cli.js';
import { attempt } from './hunt.js';
import { subjects, subprocessSubjects } from './subjects.js';

const { folder, remove } = scratchFolder();
test.after.always(remove);

/** Approximate CPU seconds; `scripts/fuzz-files.mjs` runs longer. */
const SECONDS = 4;
/** Cases after which files of both kinds must have been seen. */
const MAX_CASES = 2000;

test('mutated files are read correctly or refused with a ClsortError', async (t) => {
  const all = await subjects();
  const tally = { cases: 0, read: 0, refused: 0 };
  const first = Number(process.env.CLSORT_FUZZ_SEED ?? 1);
  const end = performance.now() + SECONDS * 1000;
  // Some mutants are read and some are rejected. A busy machine takes longer to try enough of both.
  const isEnough = () => tally.read > 20 && tally.refused > 20;
  for (let seed = first; performance.now() < end || !isEnough(); seed++) {
    if (tally.cases === MAX_CASES) break;
    await attempt(all, seed, folder, tally);
  }
  t.log(tally);
  t.true(isEnough());
});

test('mutated files of subprocess formats are read alike from a file and a pipe, or refused', async (t) => {
  const tally = { cases: 0, read: 0, refused: 0 };
  const first = Number(process.env.CLSORT_FUZZ_SEED ?? 1);
  const all = await subprocessSubjects();
  const formats = [...(await subjects()), ...all].map(({ name }) => factsOfName(name).format);
  for (const format of READABLE) t.true(formats.includes(format), `a file of ${format.name} to change`);
  // One change each: `subprocess/hostile.test.ts` tries hundreds within one process.
  for (const [i, subject] of all.entries()) await attempt([subject], first + i, folder, tally);
  t.log(tally);
  t.is(tally.cases, all.length);
});
