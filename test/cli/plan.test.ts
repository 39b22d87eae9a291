import { readFileSync, writeFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { recordsOf } from '../engines/parts.js';
import { clsort, scratchFolder } from './cli.js';

const CLUSTER = ['--nodes', '100', '--gpus', '8', '--network', '400G', '--disk', '20G/s'];

interface Plan {
  readonly seconds: number;
  readonly nodeHours: number;
  readonly partitions: number;
  readonly external: boolean;
  readonly memoryPerNode: number;
  readonly stages: readonly {
    readonly stage: string;
    readonly seconds: number;
    readonly limitedBy: string;
  }[];
}

/** Runs `clsort plan --json` and returns the plans. */
async function plansOf(t: ExecutionContext, args: readonly string[]): Promise<Plan[]> {
  const ran = await clsort(['plan', ...args, '--json']);
  t.is(ran.code, 0, ran.err);
  const { schema, plans } = JSON.parse(ran.out);
  t.is(schema, 'clsort.plan/2');
  return plans;
}

test('plan prints a row for each size and number of nodes', async (t) => {
  const { code, out, err } = await clsort([
    'plan',
    '--size',
    'benchmark',
    '--nodes',
    '1,10,100',
    '--gpus',
    '8',
  ]);
  t.is(code, 0, err);
  t.is(out.split('\n').filter((line) => /^ *(10 GB|100 GB|1 TB|100 TB) /.test(line)).length, 12);
});

test('the time of a plan is that of its stages and of the engine', async (t) => {
  const [plan] = await plansOf(t, ['--size', '100T', ...CLUSTER, '--engine', 'kubernetes']);
  const sum = plan?.stages.reduce((all, { seconds }) => all + seconds, 0) ?? 0;
  t.is(plan?.seconds, sum + 10);
  t.is(plan?.nodeHours, (100 * (sum + 10)) / 3600);
  t.deepEqual(
    plan?.stages.map(({ stage }) => stage),
    ['sample', 'splitters', 'partition', 'sort', 'verify'],
  );
});

test('a partial wave takes as long as a full one', async (t) => {
  const [plan] = await plansOf(t, [
    '--size',
    '1G',
    '--gpus',
    '2',
    '--cores',
    '1000',
    '--engine',
    'kubernetes',
  ]);
  const splitters = plan?.stages.find(({ stage }) => stage === 'splitters');
  t.true((splitters?.seconds ?? 0) >= 10 + 5, 'one task on two workers');
});

test('scarce hardware limits the stages', async (t) => {
  for (const [option, value, bound] of [
    ['--network', '1M', 'network'],
    ['--disk', '1M/s', 'disk'],
    ['--storage', '1M/s', 'storage'],
    ['--cores', '1', 'cores'],
  ] as const) {
    const [plan] = await plansOf(t, ['--size', '1T', '--nodes', '2', '--gpus', '8', option, value]);
    t.is(plan?.stages.find(({ stage }) => stage === 'sort')?.limitedBy, bound);
  }
  const [alone] = await plansOf(t, ['--size', '1T', '--gpus', '8', '--network', '1M']);
  t.not(
    alone?.stages.find(({ stage }) => stage === 'sort')?.limitedBy,
    'network',
    'all files are on the node',
  );
  // Each byte of a partition is read and written, by 10 nodes at 1 GB/s.
  const [slow] = await plansOf(t, ['--size', '1T', '--nodes', '10', '--disk', '1G/s', '--engine', 'local']);
  const partition = slow?.stages.find(({ stage }) => stage === 'partition');
  t.true((partition?.seconds ?? 0) >= 200);
});

test('parts that exceed memory are sorted through the disk', async (t) => {
  const [roomy] = await plansOf(t, ['--size', '1T', '--nodes', '10']);
  const [tight] = await plansOf(t, ['--size', '1T', '--nodes', '10', '--memory', '1G']);
  t.false(roomy?.external);
  t.true(tight?.external);
  t.true((tight?.memoryPerNode ?? 0) <= 1e9 && (tight?.seconds ?? 0) > (roomy?.seconds ?? 0));
});

test('the report of a sort with an engine has the times of its stages', async (t) => {
  const { path, remove } = scratchFolder();
  t.teardown(remove);
  writeFileSync(path('in.dat'), recordsOf(20_000));
  const options = ['--record', '16', '--key', '0:4', '--engine', 'local', '--device', 'host', '--json', '-q'];
  const ran = await clsort(['sort', path('in.dat'), '-o', path('out'), ...options]);
  t.is(ran.code, 0, ran.err);
  const { run } = JSON.parse(ran.out);
  t.like(run, { engine: 'local', of: 'records', unit: 16, n: 20_000, workers: 1, devices: ['host'] });
  t.true(run.stages.every(({ busySeconds }: { busySeconds: number }) => busySeconds > 0));
});

test('an invalid figure is refused with the name of its option', async (t) => {
  for (const [args, message] of [
    [[], /--size/],
    [['--size', '5Q'], /expected a size such as 100T .* for --size but got "5Q"/],
    [['--size', '1T', '--disk', '20G'], /expected bytes per second .* for --disk but got "20G"/],
    [['--size', '1T', '--network', '400G/s'], /expected bits per second .* for --network but got "400G\/s"/],
    [['--size', '1T', '--nodes', '1,x'], /expected a whole number from 1 to 1000000 for --nodes but got "x"/],
    [['--size', '1T', '--gpus', '0'], /for --gpus but got 0/],
    [['--size', '1T', '--cores', '1.5'], /for --cores but got 1\.5/],
    [['--size', '1T', '--disk', '1G/s', '--storage', '1G/s'], /cannot combine --disk and --storage/],
    [['--size', '1T', '--memory', 'much'], /for --memory but got "much"/],
    [['--size', '1T', '--dtype', 'u33'], /u33/],
  ] as const) {
    const ran = await clsort(['plan', ...args]);
    t.is(ran.code, 2, `${args.join(' ')}: ${ran.out}`);
    t.regex(ran.err, message);
  }
});

test('the documented figures match the model', async (t) => {
  const docs = readFileSync(new URL('../../../docs/many-machines.md', import.meta.url), 'utf8');
  const line = /^clsort (plan --size benchmark .*)$/m.exec(docs)?.[1] ?? '';
  const ran = await clsort(line.split(' '));
  t.is(ran.code, 0, ran.err);
  const rows = ran.out.split('\n').filter((row) => /^ *[\d.]+ [GT]B /.test(row));
  t.true(rows.length >= 12);
  for (const row of rows) t.true(docs.includes(row), row);
});
