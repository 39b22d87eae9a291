#!/usr/bin/env node
// Measures the overhead of a batch: sorts files in one batch, sorts the same keys in memory with one Sorter, and copies
// the files with `cp`, with as many copies at a time as the batch has jobs. The three alternate. The time of a batch
// runs from its first read to its last rename; startup time and total time are listed separately. All results are
// compared. Statistics of jobs and I/O threads come from the last batch.
//
//   node scripts/bench-batch.mjs [--device cpu] [--files 24] [--inputs N] [--keys 32Mi] [--repeats 3] [--parallel N]
//     [--no-pure] [--until SECONDS] [--folder DIR] [--report FILE] [--json FILE]
//
//   --device   repeatable, each with one or several comma-separated devices; one batch per set of devices, in turns
//   --inputs   number of different files; further jobs reuse them. Default: as many as --files
//   --no-pure  skips the sorts in memory
//   --until    starts no further round after this many seconds
//   --report   writes the report of the last batch, as `clsort batch` does
//
// The folder should be on a memory disk with room for three times the keys. Before each batch and each copy, the files
// are copied once: a virtual machine may have to map the pages first, which takes as long as the work. Needs `npm run
// build`.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { defaultParallel } from '../dist/src/batch/runner.js';
import { Sorter } from '../dist/src/index.js';
import { Random } from '../dist/src/util/random.js';

const { values } = parseArgs({
  options: {
    device: { type: 'string', multiple: true, default: ['cpu'] },
    files: { type: 'string', default: '24' },
    inputs: { type: 'string' },
    keys: { type: 'string', default: '32Mi' },
    repeats: { type: 'string', default: '3' },
    parallel: { type: 'string' },
    'no-pure': { type: 'boolean', default: false },
    until: { type: 'string' },
    folder: { type: 'string', default: tmpdir() },
    report: { type: 'string' },
    json: { type: 'string' },
  },
});
const [files, repeats, inputs] = [values.files, values.repeats, values.inputs ?? values.files].map(Number);
const n = Number(values.keys.replace(/Mi$/, '')) * (values.keys.endsWith('Mi') ? 2 ** 20 : 1);
if (![files, repeats, inputs, n].every((each) => Number.isSafeInteger(each) && each > 0)) {
  console.error('expected positive numbers');
  process.exit(2);
}

const MAIN = fileURLToPath(new URL('../dist/src/cli/main.js', import.meta.url));
const folder = mkdtempSync(join(values.folder, 'bench-batch-'));
const path = (...names) => join(folder, ...names);
const names = Array.from({ length: inputs }, (_, i) => `${i}.u32`);
const jobs = Array.from({ length: files }, (_, i) => ({ from: names[i % inputs], to: `${i}.u32` }));
const began = performance.now();
const isLate = () => (performance.now() - began) / 1000 > Number(values.until ?? Number.POSITIVE_INFINITY);

const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);

/**
 * Runs a batch of all files on a set of devices. Returns the seconds from the first read to the last rename, the
 * seconds of the whole process, and the algorithms.
 */
function batch(device) {
  rmSync(path('out'), { recursive: true, force: true });
  const args = [
    'batch',
    path('jobs.json'),
    '--force',
    '--json',
    ...device.split(',').flatMap((one) => ['--device', one]),
  ];
  if (values.parallel) args.push('--parallel', values.parallel);
  if (values.report) args.push('--report', values.report);
  args.push('--report', path('report.json'));
  const started = performance.now();
  execFileSync(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const whole = (performance.now() - started) / 1000;
  const { timeline } = JSON.parse(readFileSync(path('report.json'), 'utf8'));
  const spans = timeline.filter(({ name }) => name.startsWith('jobs on ')).flatMap(({ rows }) => rows.flat());
  const begins = spans.flatMap(({ kind, begin }) => (kind === 'read' ? [begin] : []));
  const ends = spans.flatMap(({ kind, begin, seconds }) => (kind === 'sync' ? [begin + seconds] : []));
  const kinds = {};
  const threads = {};
  for (const { kind, seconds, threads: did = {} } of spans) {
    kinds[kind] = (kinds[kind] ?? 0) + seconds;
    for (const [what, took] of Object.entries(did)) {
      threads[`${kind}: ${what}`] = (threads[`${kind}: ${what}`] ?? 0) + took;
    }
  }
  return { moving: Math.max(...ends) - Math.min(...begins), whole, kinds, threads };
}

/** Runs a command with two files of each job as arguments, several at a time. */
function forEachJob(workers, command, from, to) {
  const input = jobs.map((job) => `${from(job)}\n${to(job)}`).join('\n');
  execFileSync('xargs', ['-P', String(workers), '-d', '\\n', '-n', '2', command], {
    input,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
}

/** Returns the seconds to copy all files, `workers` at a time. */
function copySeconds(workers) {
  rmSync(path('copies'), { recursive: true, force: true });
  mkdirSync(path('copies'));
  const started = performance.now();
  forEachJob(
    workers,
    'cp',
    (job) => path('in', job.from),
    (job) => path('copies', job.to),
  );
  const seconds = (performance.now() - started) / 1000;
  rmSync(path('copies'), { recursive: true });
  return seconds;
}

/**
 * Sorts the same keys in sequence, each to a new array.
 *
 * @param use receives the sorted keys of each file
 */
async function sortAll(sorter, use = () => undefined) {
  let milliseconds = 0;
  for (const name of names) {
    const bytes = readFileSync(path('in', name));
    const keys = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
    const started = performance.now();
    const sorted = await sorter.sort(keys);
    milliseconds += performance.now() - started;
    use(name, sorted);
  }
  return (milliseconds / 1000) * (files / inputs);
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const secondsText = (seconds) =>
  Object.entries(seconds)
    .map(([what, took]) => `${what} ${took.toFixed(2)}`)
    .join(', ');

try {
  for (const name of ['in', 'right']) mkdirSync(path(name));
  const random = new Random(1);
  const keys = new Uint32Array(n);
  for (const name of names) {
    for (let i = 0; i < n; i++) keys[i] = random.u32();
    writeFileSync(path('in', name), keys);
  }
  const manifest = { jobs: jobs.map(({ from, to }) => ({ in: path('in', from), out: path('out', to) })) };
  writeFileSync(path('jobs.json'), JSON.stringify(manifest));
  const sorter = await Sorter.open({ device: values.device[0].split(',')[0] });
  const sets = values.device.map((device) => {
    const workers = Number(values.parallel ?? defaultParallel()) * device.split(',').length;
    return { device, workers, seconds: { batch: [], whole: [] }, last: undefined };
  });
  const copies = new Map(sets.map(({ workers }) => [workers, []]));
  const pure = [];
  try {
    await sorter.sort(keys); // compiles
    await sortAll(sorter, (name, sorted) => {
      if (sorted.some((key, i) => i > 0 && key < sorted[i - 1]))
        throw new Error(`${name} is not sorted right`);
      writeFileSync(path('right', name), sorted);
    });
    const most = Math.max(...copies.keys());
    for (let i = 0; i < repeats && (i === 0 || !isLate()); i++) {
      for (const set of sets) {
        copySeconds(most);
        const made = batch(set.device);
        forEachJob(
          most,
          'cmp',
          (job) => path('right', job.from),
          (job) => path('out', job.to),
        );
        set.seconds.batch.push(made.moving);
        set.seconds.whole.push(made.whole);
        set.last = made;
      }
      if (!values['no-pure']) pure.push(await sortAll(sorter));
      rmSync(path('out'), { recursive: true, force: true });
      for (const [workers, seconds] of copies) {
        copySeconds(most);
        seconds.push(copySeconds(workers));
      }
    }
  } finally {
    await sorter.close();
  }
  const [first] = sets;
  const machine = `${cpus()[0]?.model}, ${cpus().length} cores`;
  const load = loadavg().map((each) => Number(each.toFixed(2)));
  console.log(
    `${files} files of ${(n * 4) / 2 ** 20} MiB on ${machine}, medians of ${first.seconds.batch.length}, load ${load[0]}` +
      (pure.length > 0 ? `; sorting alone ${median(pure).toFixed(2)} s` : ''),
  );
  for (const { device, workers, seconds, last } of sets) {
    const [took, whole, copy] = [seconds.batch, seconds.whole, copies.get(workers)].map(median);
    const beside = [
      `${workers} cp at once ${copy.toFixed(2)} s: ${(took / copy).toFixed(2)} times`,
      ...(pure.length > 0 ? [`${(took / median(pure)).toFixed(2)} times the sorting`] : []),
      ...(device === first.device
        ? []
        : [`${(median(first.seconds.batch) / took).toFixed(2)} times as fast as ${first.device}`]),
    ];
    console.log(`${device}: batch ${took.toFixed(2)} s of ${whole.toFixed(2)} s; ${beside.join('; ')}`);
    console.log(`  seconds of all jobs: ${secondsText(last.kinds)}`);
    if (sum(Object.values(last.threads)) > 0)
      console.log(`  seconds of threads: ${secondsText(last.threads)}`);
  }
  if (values.json) {
    const all = {
      date: new Date().toISOString(),
      machine,
      load,
      ...{ files, inputs, keys: n },
      sets: sets.map(({ device, workers, seconds, last }) => {
        const { kinds, threads } = last;
        return {
          device,
          workers,
          seconds: { ...seconds, copy: copies.get(workers) },
          last: { kinds, threads },
        };
      }),
      ...(pure.length > 0 && { pure }),
    };
    writeFileSync(values.json, `${JSON.stringify(all, null, 2)}\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
