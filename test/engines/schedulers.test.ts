import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import test from 'ava';
import { parseAllDocuments } from 'yaml';
import { sortChain } from '../../src/engines/chain.js';
import { STAGES } from '../../src/engines/job-runner.js';
import { kubernetesManifest } from '../../src/engines/kubernetes.js';
import { openSortJob } from '../../src/engines/open-job.js';
import { openShares, runFinish, runShare, sharesOf } from '../../src/engines/shares.js';
import { commandLine, quoteWord } from '../../src/engines/shell.js';
import { arraySpec, slurmScript } from '../../src/engines/slurm.js';
import { scratchFolder } from '../cli/cli.js';
import { hostSorter } from '../io/host-sorter.js';
import { contextFor, joinedParts, recordRequest, recordsOf, sortedRecords } from './parts.js';

const sorter = hostSorter(test);
const { signal } = new AbortController();

test('arraySpec writes task numbers as Slurm array ranges', (t) => {
  t.is(arraySpec([0, 1, 2, 3, 7, 9, 10]), '0-3,7,9-10');
  t.is(arraySpec([5]), '5');
});

test('commandLine quotes words so that a shell passes them unchanged', (t) => {
  const words = ['a', "it's", 'two words', '$(id)', '`id`', '*', '', '"', '\\', '--x=1', 'é'];
  const ran = spawnSync('bash', ['-c', `printf '%s\\0' ${commandLine(words)}`], { encoding: 'utf8' });
  t.deepEqual(ran.stdout.split('\0').slice(0, -1), words);
  for (const word of ['a\nb', '\u0000', '\u001b[2J'])
    t.throws(() => quoteWord(word), { code: 'ERR_CLSORT_USAGE' });
});

test('a sort by shares is correct even if each share runs several times and concurrently', async (t) => {
  const { folder, path, remove } = scratchFolder();
  t.teardown(remove);
  const bytes = recordsOf(6000, 700);
  const open = await openSortJob(recordRequest(folder, bytes), { signal });
  const { job, folder: own } = open;
  const context = contextFor(sorter(), open);
  for (const stage of STAGES) {
    const shares = sharesOf(job, stage);
    t.is((await openShares(job, own, stage)).length, shares);
    for (let share = 0; share < shares; share++) {
      const once = () => runShare({ job, folder: own, stage, share }, context, () => undefined);
      await Promise.all([once(), once()]);
      await once();
    }
    t.deepEqual(await openShares(job, own, stage), []);
  }
  const report = await runFinish(job, own, context);
  t.is(report.n, 6000);
  t.true((await joinedParts(path('out'))).equals(sortedRecords(bytes)));
  await open.release();
});

test('Slurm scripts and Kubernetes manifests contain the remaining tasks and escape user text', async (t) => {
  const { folder: outer, remove } = scratchFolder();
  t.teardown(remove);
  const folder = `${outer}/it's $(touch hacked) %j "x"; echo`;
  mkdirSync(folder);
  const open = await openSortJob(recordRequest(folder, recordsOf(500)), { signal });
  t.teardown(() => open.release());
  const { job, folder: own, shared } = open;
  const node = {
    command: ['node', 'main.js'],
    root: shared.root,
    device: 'gpu',
    memory: '2G',
    tmp: undefined,
  };
  await runShare(
    { job, folder: own, stage: 'sample', share: 1 },
    contextFor(sorter(), open),
    () => undefined,
  );
  const script = slurmScript(await sortChain(job, own), own, node, ['--partition=a b']);
  t.true(script.includes('--array=0,2-3'));
  // Run with an sbatch that only records its arguments and input.
  mkdirSync(`${outer}/bin`);
  writeFileSync(
    `${outer}/bin/sbatch`,
    `#!/bin/bash\n{ printf '%s\\n' "$@"; cat; echo ======; } >> '${outer}/log'\necho 17`,
    { mode: 0o755 },
  );
  const ran = spawnSync('bash', ['-c', script], {
    cwd: outer,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${outer}/bin:${process.env.PATH}` },
  });
  t.is(ran.status, 0, ran.stderr);
  t.deepEqual(
    ran.stdout.trim().split('\n'),
    Array.from({ length: 7 }, () => '17'),
  );
  t.deepEqual(
    readdirSync(outer).filter((name) => name === 'hacked'),
    [],
  );
  const calls = readFileSync(`${outer}/log`, 'utf8').split('======\n').slice(0, -1);
  t.is(calls.length, 7);
  t.true(calls.every((call) => call.includes('\n--partition=a b\n')));
  t.true(calls.slice(1, 6).every((call) => call.includes('--dependency=afterok:17')));
  t.true(calls[6]?.includes('--dependency=afterany:17:17:17:17:17:17'));
  for (const line of script.split('\n')) {
    const name = /--job-name=(\S+)/.exec(line)?.[1];
    if (name !== undefined) t.regex(name, /^clsort-[0-9a-f]{12}-\w+$/);
  }
  const options = {
    ...node,
    command: ['clsort'],
    image: 'registry/"x": y',
    claim: 'c: {}',
    resource: 'a/b=2',
  };
  const manifest = kubernetesManifest(await sortChain(job, own), own, options);
  const documents = parseAllDocuments(manifest).map((document) => {
    t.deepEqual(document.errors, []);
    return document.toJS() as { metadata: { name: string } };
  });
  t.is(documents.length, 6);
  const names = documents.map(({ metadata }) => metadata.name);
  t.deepEqual(
    names,
    [...STAGES, 'finish'].map((step) => `clsort-${own.id}-${step}`),
  );
  const [first, , , sort] = documents as unknown as {
    spec: {
      suspend: boolean;
      completions: number;
      template: { spec: { containers: Record<string, unknown>[] } };
    };
  }[];
  t.like(first?.spec, { suspend: false, completions: 4 });
  t.like(sort?.spec, { suspend: true, completions: 5 });
  const [container] = sort?.spec.template.spec.containers ?? [];
  t.is(container?.image, options.image);
  t.deepEqual(container?.resources, { limits: { 'a/b': '2' } });
  const command = container?.command as string[];
  t.true(command.some((word) => word.includes('$$(touch')));
  t.is(command.at(-1), '$(JOB_COMPLETION_INDEX)');
});
