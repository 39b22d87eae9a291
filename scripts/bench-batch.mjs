#!/usr/bin/env node
// Sorts files by one batch, the same keys from array to array by one Sorter, and copies the files by `cp`, as many at once as
// the batch has jobs, in turns: what a batch takes beside its sorting, and beside the reading and writing of its files. A
// batch's time is that from its first read to its last rename; what it takes until then, and all of it, are told apart. Results
// are compared, all of them.
//
//   node scripts/bench-batch.mjs [--device cpu] [--files 24] [--keys 32Mi] [--repeats 3] [--parallel N]
//     [--folder DIR] [--report FILE] [--json FILE]
//
// The folder wants to be on a memory disk, with room for three times the keys. --report is that of the last batch, as of
// `clsort batch`. Needs `npm run build`.

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
    device: { type: 'string', default: 'cpu' },
    files: { type: 'string', default: '24' },
    keys: { type: 'string', default: '32Mi' },
    repeats: { type: 'string', default: '3' },
    parallel: { type: 'string' },
    folder: { type: 'string', default: tmpdir() },
    report: { type: 'string' },
    json: { type: 'string' },
  },
});
const [files, repeats] = [values.files, values.repeats].map(Number);
const n = Number(values.keys.replace(/Mi$/, '')) * (values.keys.endsWith('Mi') ? 2 ** 20 : 1);
if (![files, repeats, n].every((each) => Number.isSafeInteger(each) && each > 0)) {
  console.error('expected positive numbers');
  process.exit(2);
}

const MAIN = fileURLToPath(new URL('../dist/src/cli/main.js', import.meta.url));
const folder = mkdtempSync(join(values.folder, 'bench-batch-'));
const path = (...names) => join(folder, ...names);
const names = Array.from({ length: files }, (_, i) => `${i}.u32`);

/** Seconds of one batch of all files: from the first read to the last rename, and of the whole process. */
function batchSeconds() {
  rmSync(path('out'), { recursive: true, force: true });
  const args = ['batch', path('jobs.json'), '--device', values.device, '--force', '--json'];
  if (values.parallel) args.push('--parallel', values.parallel);
  if (values.report) args.push('--report', values.report);
  args.push('--report', path('report.json'));
  const started = performance.now();
  execFileSync(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const whole = (performance.now() - started) / 1000;
  const { timeline } = JSON.parse(readFileSync(path('report.json'), 'utf8'));
  const spans = timeline.flatMap(({ rows }) => rows.flat());
  const begins = spans.flatMap(({ kind, begin }) => (kind === 'read' ? [begin] : []));
  const ends = spans.flatMap(({ kind, begin, seconds }) => (kind === 'sync' ? [begin + seconds] : []));
  return { moving: Math.max(...ends) - Math.min(...begins), whole };
}

/** Copies at once: as many as a batch has jobs by default. */
const copies = values.parallel ?? String(defaultParallel());

/** Seconds of copying the files. */
function copySeconds() {
  rmSync(path('copies'), { recursive: true, force: true });
  mkdirSync(path('copies'));
  const started = performance.now();
  execFileSync('xargs', ['-P', copies, '-I', '{}', 'cp', path('in', '{}'), path('copies', '{}')], {
    input: names.join('\n'),
  });
  const seconds = (performance.now() - started) / 1000;
  rmSync(path('copies'), { recursive: true });
  return seconds;
}

/** Seconds of sorting the same keys one after the other, each to a new array; what is read and compared is not in it. */
async function pureSeconds(sorter) {
  let milliseconds = 0;
  for (const name of names) {
    const keys = keysOf(path('in', name));
    const started = performance.now();
    const sorted = await sorter.sort(keys);
    milliseconds += performance.now() - started;
    const wanted = Buffer.from(sorted.buffer, sorted.byteOffset, sorted.byteLength);
    if (!wanted.equals(readFileSync(path('out', name)))) throw new Error(`${name} is not sorted right`);
  }
  return milliseconds / 1000;
}

function keysOf(file) {
  const bytes = readFileSync(file);
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
}

try {
  mkdirSync(path('in'));
  const random = new Random(1);
  const keys = new Uint32Array(n);
  for (const name of names) {
    for (let i = 0; i < n; i++) keys[i] = random.u32();
    writeFileSync(path('in', name), keys);
  }
  const job = { in: path('in', '*.u32'), out: path('out', '{name}{ext}') };
  writeFileSync(path('jobs.json'), JSON.stringify({ jobs: [job] }));
  const sorter = await Sorter.open({ device: values.device });
  const times = { batch: [], whole: [], pure: [], copy: [] };
  try {
    await sorter.sort(keys); // compiles
    for (let i = 0; i < repeats; i++) {
      const { moving, whole } = batchSeconds();
      times.batch.push(moving);
      times.whole.push(whole);
      times.pure.push(await pureSeconds(sorter));
      times.copy.push(copySeconds());
    }
  } finally {
    await sorter.close();
  }
  const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
  const [batch, whole, pure, copy] = [times.batch, times.whole, times.pure, times.copy].map(median);
  const machine = `${cpus()[0]?.model}, ${cpus().length} cores`;
  const load = loadavg().map((each) => Number(each.toFixed(2)));
  console.log(
    `${files} files of ${(n * 4) / 2 ** 20} MiB on ${machine}, medians of ${repeats}, load ${load[0]}`,
  );
  console.log(
    `batch ${batch.toFixed(2)} s of ${whole.toFixed(2)} s, sorting alone ${pure.toFixed(2)} s: ${(batch / pure).toFixed(2)} times; ` +
      `${copies} cp at once ${copy.toFixed(2)} s: ${(batch / copy).toFixed(2)} times`,
  );
  if (values.json) {
    const all = {
      date: new Date().toISOString(),
      machine,
      device: values.device,
      load,
      files,
      keys: n,
      seconds: times,
    };
    writeFileSync(values.json, `${JSON.stringify(all, null, 2)}\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
