import { readFileSync, writeFileSync } from 'node:fs';
import test from 'ava';
import { recordsOf } from '../engines/parts.js';
import { clsort, scratchFolder } from './cli.js';

const CLUSTER = ['--nodes', '100', '--gpus', '8', '--network', '400G', '--disk', '20G/s'];

test('a plan for 100 TB on 800 GPUs prints time, node hours, bottlenecks, partitions, memory and assumptions', async (t) => {
  const ran = await clsort(['plan', '--engine', 'bullmq', '--size', '100T', ...CLUSTER]);
  t.is(ran.code, 0, ran.err);
  t.regex(ran.out, /^100 TB of records of 100 bytes\n/);
  for (const stage of ['sample', 'splitters', 'partition', 'sort', 'verify']) {
    t.regex(ran.out, new RegExp(`\n${stage} +[\\d,]+ +\\d+ +[\\d.]+ (s|min|h) +\\S`));
  }
  t.regex(ran.out, /total: [\d.]+ (s|min|h), [\d.]+ node hours; limited mostly by /);
  t.regex(ran.out, /\d+ partitions of [\d.]+ GB, 1,024 shards; [\d.]+ [GT]B of memory per node/);
  t.regex(
    ran.out,
    /128 cores \(assumed; see --cores\) per node, network 400 Gbit\/s each way, disks 20 GB\/s per node/,
  );
  t.regex(ran.out, /device: NVIDIA H200, driver 580\.159\.04, 2026-11-21/);
});

test('plan prints tables of sizes and nodes, the size that fits a time, and JSON', async (t) => {
  const table = await clsort(['plan', '--size', 'benchmark', '--nodes', '1,10,100', '--gpus', '8']);
  t.is(table.code, 0, table.err);
  t.is(table.out.split('\n').filter((line) => /^ *(10 GB|100 GB|1 TB|100 TB) /.test(line)).length, 12);
  const within = await clsort(['plan', '--within', '60', ...CLUSTER, '--json']);
  t.is(within.code, 0, within.err);
  const { schema, plans, rates, cluster } = JSON.parse(within.out);
  t.is(schema, 'clsort.plan/1');
  t.true(plans[0].seconds <= 60 && plans[0].seconds > 50 && plans[0].bytes % 100 === 0);
  t.like(cluster, { gpus: 8, cores: 128, network: 50e9, disk: 20e9 });
  t.is(rates.device.name, 'NVIDIA H200');
  // A requested number of partitions is kept, and the best number is printed.
  const one = await clsort(['plan', '--size', '1T', ...CLUSTER, '--partitions', '100', '--dtype', 'u64']);
  t.regex(one.out, /\n100 partitions of 10 GB.*\nbest: --partitions \d+/s);
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

test('the rates of the nearest measured record size are used, which a note says', async (t) => {
  const ran = await clsort(['plan', '--size', '1T', '--record', '16', '--key', '0:4', '--device', 'pthread']);
  t.is(ran.code, 0, ran.err);
  t.regex(ran.out, /device: pthread-skylake/);
  t.regex(ran.out, /The rates are those of records of 100 bytes, the nearest measured size\./);
});

test('an invalid figure is refused with the name of its option', async (t) => {
  for (const [args, message] of [
    [[], /cannot estimate a sort: --size is missing/],
    [['--size', '1T', '--within', '60'], /cannot combine --size and --within/],
    [['--size', '5Q'], /expected a size such as 100T .* for --size but got "5Q"/],
    [['--size', '1T', '--disk', '20G'], /expected bytes per second .* for --disk but got "20G"/],
    [['--size', '1T', '--network', '400G/s'], /expected bits per second .* for --network but got "400G\/s"/],
    [['--size', '1T', '--nodes', '1,x'], /expected a whole number from 1 to 1000000 for --nodes but got "x"/],
    [['--size', '1T', '--gpus', '0'], /for --gpus but got 0/],
    [['--size', '1T', '--cores', '1.5'], /for --cores but got 1\.5/],
    [
      ['--size', '1T', '--partitions', '513'],
      /expected a whole number from 1 to 512 for --partitions but got 513/,
    ],
    [['--size', '1T', '--disk', '1G/s', '--storage', '1G/s'], /cannot combine --disk and --storage/],
    [['--size', '1T', '--memory', 'much'], /for --memory but got "much"/],
    [
      ['--size', '1T', '--device', 'radeon'],
      /cannot estimate sorts on 'radeon': it was not measured, unlike NVIDIA H200/,
    ],
    [['--size', '1T', '--dtype', 'u33'], /u33/],
    [['--size', '1T', '--device', 'gpu,cpu'], /expected one kind of device for all nodes for --device/],
    [['--within', '0.001'], /cannot sort anything within 0\.001 s/],
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
