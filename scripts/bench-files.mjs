#!/usr/bin/env node
// Sorts one file of doubles with clsort, GNU sort, DuckDB and NumPy, in each format that they support, and prints one
// table: wall time, CPU time and peak memory of whole processes, from file to file. The order and the permutation of
// every result are checked.
//
//   node scripts/bench-files.mjs [--count 5e6] [--runs 3] [--folder DIR] [--only NAME] [--json FILE]
//
// --only selects entries whose name or format contains the text, such as 'npy'. The programs alternate and the best run
// counts, since other load makes single runs uneven. Programs that are not installed are skipped with a message. Needs
// `npm run build`, GNU time, and room for about ten times the keys in the folder.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '5e6' },
    runs: { type: 'string', default: '3' },
    folder: { type: 'string', default: tmpdir() },
    only: { type: 'string', default: '' },
    json: { type: 'string' },
  },
});
const count = Number(values.count);
const runs = Number(values.runs);
if (!Number.isSafeInteger(count) || count < 1)
  throw new Error(`--count is '${values.count}': expected a number`);
if (!Number.isSafeInteger(runs) || runs < 1) throw new Error(`--runs is '${values.runs}': expected a number`);

const root = fileURLToPath(new URL('..', import.meta.url));
const CLSORT = [process.execPath, join(root, 'dist/bin/clsort.js')];
const folder = mkdtempSync(join(values.folder, 'bench-files-'));
const path = (name) => join(folder, name);

/** Programs whose arguments are files, in `sys.argv[1:]` or `process.argv`. */
const NUMPY = 'import sys, numpy; a = numpy.load(sys.argv[1]); a.sort(); numpy.save(sys.argv[2], a)';
const DUCKDB = `
  import { DuckDBInstance } from '@duckdb/node-api';
  const [from, to, how] = process.argv.slice(-3);
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const read = how === 'csv' ? \`read_csv('\${from}', header = true, columns = { 'x': 'DOUBLE' })\` : \`'\${from}'\`;
  const format = how === 'csv' ? 'FORMAT csv, HEADER true' : 'FORMAT parquet';
  await connection.run(\`COPY (SELECT * FROM \${read} ORDER BY 1) TO '\${to}' (\${format})\`);
`;
/** Installed NumPy versions, by version: the user's Python and the system's. */
const pythons = new Map(
  [process.env.CLSORT_PYTHON ?? 'python3', '/usr/bin/python3'].flatMap((python) => {
    const { status, stdout } = spawnSync(python, ['-c', 'import numpy; print(numpy.__version__)']);
    return status === 0 ? [[String(stdout).trim(), python]] : [];
  }),
);
const hasDuckDB = await import('@duckdb/node-api').then(
  () => true,
  () => false,
);
const clsort = (from, to) => [...CLSORT, 'sort', from, '-o', to, '-q'];
const duckdb = (how) => (from, to) => [
  process.execPath,
  '--input-type=module',
  '-e',
  DUCKDB,
  '--',
  from,
  to,
  how,
];

/** The compared programs: command, format, and the reason when one is missing. */
const SORTS = [
  { name: 'cp', format: 'f64', command: (from, to) => ['cp', from, to], sorts: false },
  { name: 'clsort', format: 'f64', command: clsort },
  { name: 'clsort', format: 'npy', command: clsort },
  ...[...pythons].map(([version, python]) => ({
    name: `NumPy ${version}`,
    format: 'npy',
    command: (from, to) => [python, '-c', NUMPY, from, to],
  })),
  { name: 'clsort', format: 'csv', command: clsort },
  {
    name: 'GNU sort -g', // the header is not a number and therefore stays in front
    format: 'csv',
    command: (from, to) => ['env', 'LC_ALL=C', 'sort', '-g', from, '-o', to],
  },
  ...['csv', 'parquet'].map((format) => ({
    name: 'DuckDB',
    format,
    command: duckdb(format),
    missing: hasDuckDB ? undefined : '@duckdb/node-api is not installed',
  })),
  {
    name: 'clsort',
    format: 'parquet',
    command: clsort,
    missing: hasDuckDB ? undefined : '@duckdb/node-api is not installed',
  },
];

/** Writes doubles from 0 to 1,000,000, the same in every run. */
async function makeKeys(to) {
  const keys = new Float64Array(Math.min(count, 2 ** 20));
  let state = 1n;
  const file = await open(to, 'w');
  for (let done = 0; done < count; done += keys.length) {
    const some = keys.subarray(0, Math.min(keys.length, count - done));
    for (let i = 0; i < some.length; i++) {
      state = BigInt.asUintN(64, state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n);
      some[i] = (Number(state >> 11n) / 2 ** 53) * 1e6;
    }
    await file.write(new Uint8Array(some.buffer, 0, some.byteLength));
  }
  await file.close();
}

/**
 * Runs a command under GNU time.
 *
 * @returns wall seconds, CPU seconds and peak bytes
 */
function measured(command) {
  const times = path('times');
  execFileSync('/usr/bin/time', ['-f', '%e %U %S %M', '-o', times, ...command], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [seconds, user, system, kibibytes] = execFileSync('tail', ['-n', '1', times], { encoding: 'utf8' })
    .split(' ')
    .map(Number);
  return { seconds, cpuSeconds: user + system, bytes: kibibytes * 1024 };
}

/**
 * Checks a result.
 *
 * @throws Error when it is not in order, or holds other keys
 */
const check = (name) =>
  execFileSync(CLSORT[0], [CLSORT[1], 'check', name, '--dtype', 'f64', '-q', '--against', path('in.f64')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });

try {
  await makeKeys(path('in.f64'));
  const wanted = SORTS.filter(({ name, format }) =>
    `${name}, ${format}`.toLowerCase().includes(values.only.toLowerCase()),
  );
  for (const { name, format, missing } of wanted) {
    if (missing) console.error(`${name}, ${format}: left out, ${missing}`);
  }
  if (pythons.size === 0) console.error('NumPy: left out, no Python has it');
  const there = wanted.filter(({ missing }) => missing === undefined);
  for (const format of new Set(there.map((sort) => sort.format))) {
    if (format === 'f64') continue;
    const convert = ['convert', path('in.f64'), path(`in.${format}`), '-q'];
    execFileSync(CLSORT[0], [CLSORT[1], ...convert], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  const results = there.map(({ name, format }) => ({
    name,
    format,
    seconds: Infinity,
    cpuSeconds: Infinity,
    bytes: 0,
  }));
  for (let run = 0; run < runs; run++) {
    for (const [i, { name, format, command, sorts = true }] of there.entries()) {
      const out = path(`out.${format}`);
      const { seconds, cpuSeconds, bytes } = measured(command(path(`in.${format}`), out));
      if (run === 0 && sorts) check(out);
      const peak = (bytes / 1e6).toFixed(0);
      console.error(`${name}, ${format}: ${seconds} s, ${cpuSeconds.toFixed(2)} of processors, ${peak} MB`);
      results[i].seconds = Math.min(results[i].seconds, seconds);
      results[i].cpuSeconds = Math.min(results[i].cpuSeconds, cpuSeconds);
      results[i].bytes = Math.max(results[i].bytes, bytes);
      rmSync(out);
    }
  }
  const machine = `${cpus()[0]?.model}, ${cpus().length} cores`;
  const load = loadavg().map((each) => Number(each.toFixed(2)));
  const megabytes = (bytes) => (bytes / 1e6).toFixed(0);
  const rows = results.map(({ name, format, seconds, cpuSeconds, bytes }) => [
    name,
    format,
    megabytes(statSync(path(`in.${format}`)).size),
    seconds.toFixed(2),
    cpuSeconds.toFixed(2),
    megabytes(bytes),
  ]);
  const head = ['', 'format', 'file, MB', 'seconds', 'of processors', 'peak memory, MB'];
  console.log(`${count.toLocaleString('en')} doubles, best of ${runs}, ${machine}, load ${load[0]}\n`);
  for (const row of [head, head.map(() => '---'), ...rows]) console.log(`| ${row.join(' | ')} |`);
  if (values.json) {
    writeFileSync(
      values.json,
      `${JSON.stringify({ date: new Date().toISOString(), machine, node: process.version, load, count, runs, results }, null, 2)}\n`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
