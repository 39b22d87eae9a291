import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import ava from 'ava';
import { clsort, scratchFolder } from '../cli/cli.js';
import { journalOf, leftovers, makeStressBatch, runWithKills } from './stress.js';

/** `CLSORT_TEST_STRESS=1000` is the size for a release. */
const FILES = Number(process.env.CLSORT_TEST_STRESS ?? 120);
const BAD = Math.max(14, Math.floor(FILES * 0.03));

/**
 * Timeout of a job: far longer than a valid job needs to compile its programs on a slow, busy machine. Some jobs never
 * end.
 */
const SECONDS = '10';

const { folder, path, remove } = scratchFolder();

ava('a batch with broken files that is killed three times completes or fails each job once', async (t) => {
  const batch = makeStressBatch(folder, { good: FILES - BAD, bad: BAD });
  t.teardown(() => {
    batch.remove();
    remove();
  });
  const kills = [1, 2, 3].map(() => Math.floor(Math.random() * (FILES / 5)));
  const reports = ['json', 'md', 'xml', 'html'].flatMap((extension) => [
    '--report',
    path(`report.${extension}`),
  ]);
  const args = ['--timeout', SECONDS, '--parallel', '3', ...reports];
  const { ran, kills: killed, before } = await runWithKills(folder, batch, kills, args);
  t.log(`killed ${killed} times, ${before.size} done by then; ${ran.err.split('\n')[0]}`);
  t.true([3, 4, 5].includes(ran.code), `${ran.code}: ${ran.err}`);

  const rows = ran.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const summary = rows.pop();
  t.like(summary, { jobs: FILES, failed: BAD, skipped: 0 });
  t.is(summary.ok + summary.done, FILES - BAD);
  t.true(summary.done >= before.size, 'what was done before is not done again');
  for (const [out, time] of before) t.is(statSync(join(folder, out)).mtimeMs, time, out);

  for (const { out, expected } of batch.good) t.true(readFileSync(path(out)).equals(expected()), out);
  const failed = rows.filter(({ outcome }) => outcome === 'error');
  const names = (list: readonly { out: string }[]) => list.map(({ out }) => out).toSorted();
  t.deepEqual(
    names(failed),
    names(batch.bad.map(({ out }) => ({ out: out.startsWith('/') ? out : path(out) }))),
  );
  for (const { error } of failed) t.regex(error.code, /^ERR_CLSORT_(?!INTERNAL)/, error.message);
  t.deepEqual(leftovers(folder), []);

  const report = JSON.parse(readFileSync(path('report.json'), 'utf8'));
  t.deepEqual(report.summary, { ...report.summary, jobs: FILES, failed: BAD });
  t.is(readFileSync(path('report.xml'), 'utf8').match(/<failure /g)?.length, BAD);
  const journal = journalOf(folder);
  t.is(journal.filter(({ outcome }) => outcome === 'ok').length, FILES - BAD);
  t.is(journal.filter(({ outcome }) => outcome === 'error').length, BAD);

  const times = batch.good.map(({ out }) => statSync(path(out)).mtimeMs);
  const again = await clsort(
    ['batch', path('jobs.json'), '--json', '--timeout', SECONDS, '--parallel', '3'],
    {
      env: batch.env,
    },
  );
  t.is(again.code, ran.code);
  t.like(JSON.parse(again.out.trim().split('\n').at(-1) ?? ''), { ok: 0, done: FILES - BAD, failed: BAD });
  t.deepEqual(
    batch.good.map(({ out }) => statSync(path(out)).mtimeMs),
    times,
  );
});
