#!/usr/bin/env node
// Measures tasks on tables with clsort, DuckDB, GNU sort, NumPy and Polars: wall time, CPU time and peak memory of whole processes,
// from file to file. All programs of a task must write the same result, and clsort's own order is checked.
//
//   node scripts/bench-tables.mjs [--task NAME] [--only PROGRAM] [--runs 3] [--large 5e7] [--folder DIR] [--python PROGRAM] [--json FILE]
//
// Tasks: csv, ndjson, join, top, top-rows, files, counts, numbers, words, large. --folder keeps the inputs, and the results for comparison, for the
// next call. --json replaces the rows of the tasks and programs measured, and keeps the others. A cold run starts after
// the pages of the input were evicted; the others count as warm, and the median is reported. The peak memory is that of
// the largest process of a command. clsort is the bundle that npm installs. Needs `npm run build`, GNU time, Debian's
// python3-numpy or --python, and @duckdb/node-api. Polars is measured if this Python has it.

import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    task: { type: 'string' },
    only: { type: 'string', default: '' },
    runs: { type: 'string', default: '3' },
    large: { type: 'string', default: '5e7' },
    folder: { type: 'string' },
    python: { type: 'string', default: '/usr/bin/python3' },
    json: { type: 'string' },
  },
});
const runs = Number(values.runs);
const large = Number(values.large);
if (!Number.isSafeInteger(runs) || runs < 1) throw new Error(`--runs is '${values.runs}': expected a number`);
if (!Number.isSafeInteger(large) || large < 1)
  throw new Error(`--large is '${values.large}': expected a number`);

const CSV_ROWS = 2e6;
const JOIN_ROWS = 1e6;
const LINES = 5e6;
const PARQUET_ROWS = 1e7;
const KEYS = 1e7;
const FILES = 200;
const FILE_KEYS = 25_000;
const HEAD = 100;
/** Has no factor in common with a power of ten, so that its multiples modulo a number of rows are all different. */
const STEP = 1_618_033_989;

const root = fileURLToPath(new URL('..', import.meta.url));
const PYTHON = values.python;
const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'bench-tables-'));
mkdirSync(folder, { recursive: true });
const path = (name) => join(folder, name);

const clsort = (...args) => [process.execPath, join(root, 'dist/bin/clsort.js'), ...args, '-q'];
const numpy = (code, ...args) => [PYTHON, '-c', `import sys, numpy as np; ${code}`, ...args];
/** Returns the version of a Python package; '' if it is not installed. */
const versionOf = (name) =>
  spawnSync(PYTHON, ['-c', `import ${name}; print(${name}.__version__)`], { encoding: 'utf8' }).stdout.trim();
const hasPolars = versionOf('polars') !== '';
/** Returns a program that evaluates an expression of Polars, whose arguments are the input and the output. */
const polars = (input, expression) =>
  hasPolars && {
    Polars: (out) => [
      PYTHON,
      '-c',
      `import sys, polars as pl; from_, to = sys.argv[1:]; ${expression}`,
      path(input),
      out,
    ],
  };
const SQL = `
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  await connection.run(process.argv.at(-1));
`;
const duckdb = (sql) => [process.execPath, '--input-type=module', '-e', SQL, '--', sql];
const gnuSort = (...args) => ['env', 'LC_ALL=C', 'sort', ...args];

/** The same random numbers in every run, from 0 up to `limit`. */
function randomNumbers() {
  let state = 1;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Writes `count` lines after a head. */
async function makeLines(to, count, line, head = '') {
  const file = await open(to, 'w');
  await file.write(head);
  for (let done = 0; done < count; ) {
    const lines = [];
    for (; lines.length < 50_000 && done < count; done++) lines.push(line());
    await file.write(lines.join(''));
  }
  await file.close();
}

/** Writes rows of four columns. No two rows have the same `b`. */
function makeText(to, rows, { head, line }) {
  const random = randomNumbers();
  let b = 0;
  const next = () => {
    const text = line(random(1000), b, `${random(1e6)}.5`, `name${random(1e6)}`);
    b = (b + STEP) % rows;
    return text;
  };
  return makeLines(to, rows, next, head);
}

/** Writes doubles of all magnitudes with all of their digits. */
function makeNumbers(to) {
  const random = randomNumbers();
  return makeLines(to, LINES, () => `${(random(2 ** 32) - 2 ** 31) / (1 + random(2 ** 32))}\n`);
}

/** Writes lines of a log: they begin with the same date. */
function makeWords(to) {
  const random = randomNumbers();
  return makeLines(to, LINES, () => `2026-11-28 ${random(86_400)} name${random(1e6)}\n`);
}

const makeCsv = (to, rows) =>
  makeText(to, rows, { head: 'a,b,c,name\n', line: (a, b, c, name) => `${a},${b},${c},${name}\n` });

const makeNdjson = (to, rows) =>
  makeText(to, rows, {
    head: '',
    line: (a, b, c, name) => `{"a":${a},"b":${b},"c":${c},"name":"${name}"}\n`,
  });

/** Writes rows of four columns in random order of `x`, so that statistics exclude no row group. */
const makeParquet = (to, rows) =>
  execFileSync(
    ...split(
      duckdb(
        `COPY (SELECT (i * ${STEP}) % ${rows} / 8 AS x, (i % 1000)::INTEGER AS a, hash(i) AS b, 'name' || i AS name
          FROM range(${rows}) t(i)) TO '${to}' (FORMAT parquet)`,
      ),
    ),
  );

/** Writes arrays of NumPy in a folder. */
function makeFiles(to) {
  mkdirSync(to);
  const code =
    'r = np.random.default_rng(1); [np.save(f"{sys.argv[1]}/{i}.npy", r.random(int(sys.argv[3]))) for i in range(int(sys.argv[2]))]';
  execFileSync(...split(numpy(code, to, FILES, FILE_KEYS)));
}

function makeKeys(to) {
  const code =
    'np.save(sys.argv[1], np.random.default_rng(1).integers(0, int(sys.argv[2]), int(sys.argv[2]), "u8"))';
  execFileSync(...split(numpy(code, path('keys.npy'), KEYS)));
  renameSync(path('keys.npy'), to);
}

const split = ([program, ...args]) => [program, args.map(String), { cwd: root }];

const csvPrograms = (name) => ({
  clsort: (out) => clsort('sort', path(name), '--by', 'a,b', '-o', out),
  DuckDB: (out) =>
    duckdb(
      `COPY (SELECT * FROM read_csv('${path(name)}') ORDER BY a, b) TO '${out}' (FORMAT csv, HEADER true)`,
    ),
  // Only `a` and `b` are numbers, so that the header is the first line.
  'GNU sort': (out) => gnuSort('-t,', '-k1,1n', '-k2,2n', path(name), '-o', out),
  ...polars(name, "pl.scan_csv(from_).sort('a', 'b').sink_csv(to)"),
});

/** Writes two tables in a folder. Each row of the right one has one partner. */
async function makeJoin(to) {
  mkdirSync(to);
  await makeCsv(join(to, 'left.csv'), JOIN_ROWS);
  const random = randomNumbers();
  const lines = Array.from(
    { length: JOIN_ROWS },
    () => `${random(JOIN_ROWS)},${random(1e6)},x${random(1e6)}\n`,
  );
  writeFileSync(join(to, 'right.csv'), `b,q,tag\n${lines.join('')}`);
}

const filesOf = (name) => readdirSync(path(name)).map((one) => path(join(name, one)));

/** Bytes of an array of NumPy, without its header. */
const keysOf = (file) => readFileSync(file).subarray(128);

/**
 * The tasks: their input, the function that writes it, the extension of results, and the programs. `digest` returns what
 * the results of all programs have in common; by default the bytes of the file.
 */
const TASKS = {
  csv: {
    text: `CSV, ${CSV_ROWS} rows by two columns`,
    input: 'in.csv',
    make: (to) => makeCsv(to, CSV_ROWS),
    extension: 'csv',
    programs: csvPrograms('in.csv'),
  },
  ndjson: {
    text: `NDJSON, ${CSV_ROWS} rows by two columns`,
    input: 'in.ndjson',
    make: (to) => makeNdjson(to, CSV_ROWS),
    extension: 'ndjson',
    programs: {
      clsort: (out) => clsort('sort', path('in.ndjson'), '--by', 'a,b', '-o', out),
      DuckDB: (out) =>
        duckdb(
          `COPY (SELECT * FROM read_ndjson('${path('in.ndjson')}') ORDER BY a, b) TO '${out}' (FORMAT json)`,
        ),
      ...polars('in.ndjson', "pl.scan_ndjson(from_).sort('a', 'b').sink_ndjson(to)"),
    },
  },
  join: {
    text: `two CSV files of ${JOIN_ROWS} rows, joined on an integer`,
    input: 'join',
    make: makeJoin,
    extension: 'csv',
    programs: {
      clsort: (out) => clsort('join', path('join/left.csv'), path('join/right.csv'), '--on', 'b', '-o', out),
      DuckDB: (out) =>
        duckdb(
          `COPY (SELECT l.*, q, tag FROM read_csv('${path('join/left.csv')}') l
            JOIN read_csv('${path('join/right.csv')}') USING (b)) TO '${out}' (FORMAT csv, HEADER true)`,
        ),
      ...polars(
        'join',
        "pl.scan_csv(from_ + '/left.csv').join(pl.scan_csv(from_ + '/right.csv'), on='b', maintain_order='left_right').sink_csv(to)",
      ),
    },
    // Only clsort and Polars define the order of the rows.
    digest: (out) => readFileSync(out, 'latin1').split('\n').sort().join('\n'),
  },
  top: {
    text: `Parquet, largest ${HEAD} of a column of ${PARQUET_ROWS} rows`,
    input: 'in.parquet',
    make: (to) => makeParquet(to, PARQUET_ROWS),
    extension: 'csv',
    programs: {
      clsort: (out) => clsort('topk', path('in.parquet'), '--column', 'x', '-k', HEAD, '-o', out),
      DuckDB: (out) =>
        duckdb(
          `COPY (SELECT x FROM '${path('in.parquet')}' ORDER BY x DESC LIMIT ${HEAD}) TO '${out}' (FORMAT csv, HEADER true)`,
        ),
      ...polars(
        'in.parquet',
        `pl.scan_parquet(from_).select('x').sort('x', descending=True).head(${HEAD}).sink_csv(to)`,
      ),
    },
    digest: (out) => readFileSync(out, 'utf8').trim().split('\n').slice(1).map(Number).join(),
  },
  'top-rows': {
    text: `Parquet, the first ${HEAD} of ${PARQUET_ROWS} rows by a column`,
    input: 'in.parquet',
    make: (to) => makeParquet(to, PARQUET_ROWS),
    extension: 'parquet',
    programs: {
      clsort: (out) => clsort('sort', path('in.parquet'), '--by', 'x:desc', '--head', HEAD, '-o', out),
      DuckDB: (out) =>
        duckdb(
          `COPY (SELECT * FROM '${path('in.parquet')}' ORDER BY x DESC LIMIT ${HEAD}) TO '${out}' (FORMAT parquet)`,
        ),
      ...polars(
        'in.parquet',
        `pl.scan_parquet(from_).sort('x', descending=True).head(${HEAD}).sink_parquet(to)`,
      ),
    },
    digest: (out) => {
      execFileSync(...split(duckdb(`COPY (SELECT * FROM '${out}') TO '${path('digest.csv')}' (FORMAT csv)`)));
      return readFileSync(path('digest.csv'), 'utf8');
    },
  },
  files: {
    text: `${FILES} files of ${FILE_KEYS} f64`,
    input: 'files',
    make: makeFiles,
    extension: 'folder',
    programs: {
      clsort: (out) => clsort('sort', ...filesOf('files'), '--out-dir', out),
      NumPy: (out) =>
        numpy(
          'import os, glob; os.mkdir(sys.argv[2]); [np.save(f"{sys.argv[2]}/{os.path.basename(f)}", np.sort(np.load(f))) for f in glob.glob(sys.argv[1] + "/*")]',
          path('files'),
          out,
        ),
    },
    digest: (out) =>
      Buffer.concat(
        readdirSync(out)
          .sort()
          .map((name) => keysOf(join(out, name))),
      ),
  },
  counts: {
    text: `distinct keys and counts of ${KEYS} u64`,
    input: 'keys.npy',
    make: makeKeys,
    extension: 'npy',
    programs: {
      clsort: (out) => clsort('unique', path('keys.npy'), '-o', out, '--counts', path('counts.npy')),
      NumPy: (out) =>
        numpy(
          'v, n = np.unique(np.load(sys.argv[1]), return_counts=True); np.save(sys.argv[2], v); np.save(sys.argv[3], n)',
          path('keys.npy'),
          out,
          path('counts.npy'),
        ),
    },
    digest: (out) => Buffer.concat([keysOf(out), keysOf(path('counts.npy'))]),
  },
  numbers: {
    text: `${LINES} numbers, one a line`,
    input: 'numbers.txt',
    make: makeNumbers,
    extension: 'txt',
    programs: {
      clsort: (out) => clsort('sort', '-g', path('numbers.txt'), '-o', out),
      'GNU sort': (out) => gnuSort('-g', path('numbers.txt'), '-o', out),
    },
  },
  words: {
    text: `${LINES} lines of a log`,
    input: 'words.txt',
    make: makeWords,
    extension: 'txt',
    programs: {
      clsort: (out) => clsort('sort', path('words.txt'), '-o', out),
      'GNU sort': (out) => gnuSort(path('words.txt'), '-o', out),
    },
  },
  large: {
    text: `CSV, ${large} rows by two columns`,
    input: 'large.csv',
    make: (to) => makeCsv(to, large),
    extension: 'csv',
    programs: csvPrograms('large.csv'),
  },
};

/** Evicts the pages of files from memory. */
function evict(file) {
  for (const one of statSync(file).isDirectory()
    ? readdirSync(file).map((name) => join(file, name))
    : [file]) {
    execFileSync('dd', [`if=${one}`, 'iflag=nocache', 'count=0', 'status=none']);
  }
}

/**
 * Runs a command under GNU time.
 *
 * @returns wall seconds, CPU seconds and peak bytes
 */
function measured(command) {
  const times = path('times');
  execFileSync('/usr/bin/time', ['-f', '%e %U %S %M', '-o', times, ...command.map(String)], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [seconds, user, system, kibibytes] = execFileSync('tail', ['-n', '1', times], { encoding: 'utf8' })
    .split(' ')
    .map(Number);
  return { seconds, cpuSeconds: user + system, bytes: kibibytes * 1024 };
}

/** Returns the SHA-256 of what a program wrote. */
async function digestOf({ digest }, out) {
  const hash = createHash('sha256');
  if (digest) hash.update(digest(out));
  else for await (const piece of createReadStream(out, { highWaterMark: 2 ** 20 })) hash.update(piece);
  return hash.digest('hex');
}

/**
 * Compares a result with those of other programs, also of earlier calls with the same folder.
 *
 * @throws Error when they differ
 */
async function verify(name, task, program, out) {
  const file = path('digests.json');
  const digests = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const digest = await digestOf(task, out);
  digests[name] = { ...digests[name], [program]: digest };
  for (const [other, expected] of Object.entries(digests[name])) {
    if (expected !== digest) throw new Error(`${name}: the results of ${program} and ${other} differ`);
  }
  writeFileSync(file, JSON.stringify(digests));
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** Measures one program. @returns a row of the table */
async function measure(name, task, program) {
  const out = path(`out.${task.extension}`);
  const once = () => {
    rmSync(out, { recursive: true, force: true });
    return measured(task.programs[program](out));
  };
  evict(path(task.input));
  const cold = once();
  await verify(name, task, program, out);
  const warm = Array.from({ length: runs }, once);
  rmSync(out, { recursive: true, force: true });
  const [seconds, cpuSeconds] = ['seconds', 'cpuSeconds'].map((key) => median(warm.map((run) => run[key])));
  const bytes = Math.max(cold.bytes, ...warm.map((run) => run.bytes));
  const row = {
    task: name,
    text: task.text,
    program,
    coldSeconds: cold.seconds,
    seconds,
    cpuSeconds,
    bytes,
    runs,
  };
  return { ...row, load: Number(loadavg()[0]?.toFixed(2)), date: new Date().toISOString() };
}

/** Returns the rows of a file, with `row` in the place of an older one. */
function save(row) {
  const machine = `${cpus()[0]?.model}, ${cpus().length} cores`;
  const { rows } = existsSync(values.json) ? JSON.parse(readFileSync(values.json, 'utf8')) : { rows: [] };
  const others = rows.filter(({ task, program }) => task !== row.task || program !== row.program);
  const order = ({ task }) => Object.keys(TASKS).indexOf(task);
  const all = [...others, row].sort((a, b) => order(a) - order(b));
  const versions = {
    node: process.version,
    duckdb: JSON.parse(readFileSync(join(root, 'node_modules/@duckdb/node-api/package.json'), 'utf8'))
      .version,
    sort: spawnSync('sort', ['--version'], { encoding: 'utf8' }).stdout.split('\n')[0],
    numpy: versionOf('numpy'),
    ...(hasPolars && { polars: versionOf('polars') }),
  };
  writeFileSync(values.json, `${JSON.stringify({ machine, versions, rows: all }, null, 2)}\n`);
}

try {
  for (const [name, task] of Object.entries(TASKS)) {
    if (values.task !== undefined && values.task !== name) continue;
    if (!existsSync(path(task.input))) await task.make(path(task.input));
    for (const program of Object.keys(task.programs)) {
      if (!program.toLowerCase().includes(values.only.toLowerCase())) continue;
      const row = await measure(name, task, program);
      if (values.json) save(row);
      const { coldSeconds, seconds, cpuSeconds, bytes } = row;
      console.log(
        `| ${[task.text, program, coldSeconds, seconds, cpuSeconds.toFixed(2), (bytes / 1e6).toFixed(0)].join(' | ')} |`,
      );
    }
  }
} finally {
  if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
}
