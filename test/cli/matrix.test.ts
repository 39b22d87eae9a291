/** The matrix command on a device, and the files that it writes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import ava from 'ava';
import type { CellReport, MatrixReport } from '../../src/matrix/report/report.js';
import type { MatrixRow } from '../../src/matrix/row.js';
import { LayerControl, layerEnvironment } from '../layer/layer.js';
import { seededCache } from '../test-cache.js';
import { clsort, MAIN, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes
const { path, folder, remove } = scratchFolder();
ava.after.always(remove);

const POCL = ['matrix', '--device', 'portable computing', '--timeout', '900'];
const env = { CLSORT_CACHE_DIR: seededCache(path('cache')) };
const rowsOf = (out: string): MatrixRow[] =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const cellsOf = (out: string): readonly CellReport[] =>
  (JSON.parse(out) as MatrixReport).devices[0]?.cells ?? [];

test('matrix prints JSON lines without a terminal, and a seed repeats the keys', async (t) => {
  const args = [
    ...POCL,
    '--quick',
    '--only',
    'sort,tiled|row,u32|f64',
    '--only',
    'gather,u8,n=500',
    '--seed',
    '7',
  ];
  const ran = await clsort(args, { env });
  t.is(ran.code, 0, ran.err);
  t.regex(ran.err, /matrix: 5 ok/);
  const rows = rowsOf(ran.out);
  t.is(rows.length, 2 * 2 * 2 + 1, 'a filter may name its own sizes');
  t.true(rows.every(({ schema, platform }) => schema === 'clsort.matrix/2' && /Portable/.test(platform)));
  const skipped = rows.filter(({ outcome }) => outcome === 'skipped');
  t.true(skipped.length > 0 && skipped.every(({ algorithm, n }) => algorithm === 'row' && n > 64));
  t.regex(skipped[0]?.reason ?? '', /at most 64 keys/);
  t.true(rows.every(({ outcome }) => outcome === 'ok' || outcome === 'skipped'));
  const sort = rows.find(({ algorithm, outcome }) => algorithm === 'tiled' && outcome === 'ok');
  t.regex(sort?.plan ?? '', /^tiled, .*radixBits/);
  t.true((sort?.seconds ?? 0) > 0 && (sort?.again ?? 0) > 0);
  const again = await clsort(args, { env });
  const seeds = (all: readonly MatrixRow[]) => all.map(({ seed }) => seed);
  t.deepEqual(seeds(rowsOf(again.out)), seeds(rows));
});

test('dtypes and algorithms are separated by commas or given by repeated options', async (t) => {
  const tried = async (...how: string[]) => {
    const ran = await clsort([...POCL, '--quick', ...how], { env });
    t.is(ran.code, 0, ran.err);
    return new Set(rowsOf(ran.out).map(({ dtype, algorithm }) => `${dtype} ${algorithm}`));
  };
  const types = await tried('--only', 'gather', '--dtype', 'u32,f64');
  t.deepEqual([...types].toSorted(), ['f64 none', 'u32 none']);
  t.deepEqual(await tried('--only', 'gather', '--dtype', 'u32', '--dtype', 'f64'), types);
  const algorithms = await tried(
    '--only',
    'operation=sort',
    '--dtype',
    'u32',
    '--algorithm',
    'serial, merge',
  );
  t.deepEqual([...algorithms].toSorted(), ['u32 merge', 'u32 serial']);
});

test('every operation runs on the device, and the report is written as JSON, HTML, JUnit and Markdown', async (t) => {
  const files = ['--html', path('page.html'), '--junit', path('report.xml')];
  const ran = await clsort([...POCL, '--quick', '--only', 'dtype=f32|u64', '--json', ...files], { env });
  t.is(ran.code, 0, ran.err);
  const cells = cellsOf(ran.out);
  t.true(cells.length > 50);
  const others = cells.filter(({ status }) => status !== 'ok');
  t.deepEqual(
    others.map(({ algorithm, dtype, status }) => [algorithm, dtype, status]),
    [['hybrid-radix', 'f32', 'skipped']],
    'it sorts keys of 64 bits',
  );
  t.true(readFileSync(path('page.html'), 'utf8').includes('"operation":"histogram-digits"'));
  t.regex(readFileSync(path('report.xml'), 'utf8'), /<testcase name="scan none f32"/);
  writeFileSync(path('report.json'), ran.out);
  t.is(readdirSync(folder).filter((name) => name.includes('clsort')).length, 0, 'no temporary file is left');
  const drawn = await clsort(['matrix', '--read', path('report.json'), path('report.json'), '--markdown']);
  t.is(drawn.code, 0, drawn.err);
  t.is(drawn.out.match(/^\| unique \| auto \| ok \| ok \|$/gm)?.length, 2, drawn.out);
  const text = await clsort(['matrix', '--read', path('report.json')]);
  t.regex(text.out, /\ntopK +auto +ok +ok\n/);
  const same = await clsort(['matrix', '--compare', path('report.json'), path('report.json')]);
  t.is(same.code, 0, same.err);
  t.regex(same.out, /cells in both, 0 changed, 0 worse/);
});

test('a corrupted result is a wrong cell, the run continues, and exit code and comparison report it', async (t) => {
  const only = ['--only', 'topK|gather,u32|i32,n=4097'];
  const good = await clsort([...POCL, ...only, '--json'], { env });
  t.is(good.code, 0, good.err);
  writeFileSync(path('good.json'), good.out);
  writeFileSync(path('control'), '');
  const control = new LayerControl(path('control'));
  control.corrupt(2, 0x10000);
  const bad = await clsort([...POCL, ...only, '--json', '--junit', path('bad.xml')], {
    env: { ...env, ...layerEnvironment(path('control')) },
  });
  control.close();
  t.is(bad.code, 1, bad.err);
  const wrong = cellsOf(bad.out).filter(({ status }) => status === 'wrong');
  t.is(wrong.length, 1, bad.out);
  t.is(cellsOf(bad.out).length, 4);
  t.truthy(wrong[0]?.bad?.[0]?.reason);
  t.regex(readFileSync(path('bad.xml'), 'utf8'), /failures="1"/);
  writeFileSync(path('bad.json'), bad.out);
  const compared = await clsort([
    'matrix',
    '--compare',
    path('good.json'),
    path('bad.json'),
    '--factor',
    '1e9',
  ]);
  t.is(compared.code, 1, compared.out);
  t.regex(compared.out, /1 changed, 1 worse\n.*\nworse +\S+ +auto +\S+ +ok → wrong/);
  const back = await clsort([
    'matrix',
    '--compare',
    path('bad.json'),
    path('good.json'),
    '--factor',
    '1e9',
    '--json',
  ]);
  t.is(back.code, 0, back.out);
  t.is(JSON.parse(back.out).devices[0].changes[0].after, 'ok');
});

test('a build failure is an error of its own case only', async (t) => {
  writeFileSync(path('unbuilt'), '');
  const control = new LayerControl(path('unbuilt'));
  const layer = { ...env, ...layerEnvironment(path('unbuilt')) };
  const args = [...POCL, '--only', 'sort,tiled,u32|u64,n=257,ascending'];
  await clsort(args, { env: layer }); // the layer records the names of its functions
  control.fail({ at: 1, function: 'clBuildProgram' }, -11);
  const ran = await clsort(args, { env: layer });
  control.close();
  t.is(ran.code, 1, ran.err);
  const rows = rowsOf(ran.out);
  t.deepEqual(
    rows.map(({ outcome }) => outcome),
    ['error', 'ok'],
  );
  t.regex(rows[0]?.reason ?? '', /cannot compile cl\/tiled_radix\.cl.*\n.*BUILD_PROGRAM_FAILURE/);
});

test('a busy child process ends when its parent disconnects', async (t) => {
  const { out } = await clsort(['devices', '--device', 'portable computing', '--json'], { env });
  const [device] = JSON.parse(out).devices as { platform: string; name: string }[];
  const scope = { level: 'full', seed: '1', filters: [] };
  const task = JSON.stringify({ device: `${device?.platform}\n${device?.name}`, scope, from: 0 });
  const child = spawn(process.execPath, [MAIN, 'matrix', '--child', task], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, ...env },
  });
  const ended = once(child, 'exit');
  await once(child.stdout as Readable, 'data'); // it is busy for some minutes
  child.disconnect();
  const [, signal] = await ended;
  t.is(signal, 'SIGKILL');
});

for (const [args, code, message] of [
  [['--only', 'algorithm=tild'], 2, /for algorithm in --only but got "tild"\. Did you mean "tiled"/],
  [['--only', 'operation=gather,algorithm=tiled'], 2, /no case matches --only/],
  [['--quick', '--full'], 2, /cannot combine --quick and --full/],
  [['--json', '--markdown'], 2, /cannot combine --json and --markdown/],
  [['--seed', 'x'], 2, /for --seed but got "x"/],
  [['--compare', 'a.json'], 2, /--compare/],
  [['--compare', 'a.json', 'b.json', '--factor', '0.5'], 2, /for --factor but got 0\.5/],
  [['--compare', '/absent/a.json', '/absent/b.json'], 5, /\/absent\/a.json/],
  [['--html', '/absent/page.html'], 5, /cannot write/],
] as const) {
  test(`matrix ${args.join(' ')} ends with ${code} and gives the reason`, async (t) => {
    const ran = await clsort(['matrix', ...args]);
    t.is(ran.code, code, ran.err);
    t.regex(ran.err, message);
    t.is(ran.out, '');
  });
}
