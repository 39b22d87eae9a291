/** The 100-byte records of the Sort Benchmark: generated, sorted, and checked independently of the library. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import ava from 'ava';
import { packageRoot } from '../../src/util/paths.js';
import { clsort, scratchFolder } from '../cli/cli.js';

const test = ava.serial; // each starts processes

const { path, remove } = scratchFolder();
ava.after.always(remove);

function script(...args: string[]): { readonly code: number | null; readonly out: string } {
  const ran = spawnSync(process.execPath, [join(packageRoot, 'scripts/sort-benchmark.mjs'), ...args]);
  return { code: ran.status, out: `${ran.stdout}${ran.stderr}` };
}

for (const [name, options] of [
  ['binary', []],
  ['ascii', ['--ascii']],
] as const) {
  test(`clsort sorts ${name} records of the Sort Benchmark by their ten-byte keys`, async (t) => {
    const [from, to] = [path(`${name}.dat`), path(`${name}.sorted`)];
    t.is(script('gen', '50000', from, ...options).code, 0);
    t.is(readFileSync(from).length, 5_000_000);
    t.is(script('check', from).code, 1, 'generated records are not in order');
    const ran = await clsort(['sort', from, '-o', to, '--record', '100', '--key', '0:10', '--device', 'cpu']);
    t.is(ran.code, 0, ran.err);
    const { code, out } = script('check', to, '--of', from);
    t.is(code, 0, out);
    t.regex(out, /^records 50000, checksum [0-9a-f]+, duplicate keys \d+\norder right\nthe records of /);
  });
}

test('generated records follow the benchmark format and are the same when generated in parts', (t) => {
  t.is(script('gen', '40', path('all'), '--ascii').code, 0);
  t.is(script('gen', '15', path('end'), '--ascii', '--from', '25').code, 0);
  const all = readFileSync(path('all'), 'latin1');
  t.is(all.slice(2500), readFileSync(path('end'), 'latin1'));
  const lines = all.split('\r\n');
  t.is(lines.pop(), '');
  t.is(lines.length, 40);
  for (const [i, line] of lines.entries()) {
    t.is(line.length, 98);
    t.regex(line.slice(0, 10), /^[ -~]{10}$/);
    t.is(Number.parseInt(line.slice(12, 44), 16), i);
  }
  t.is(new Set(lines.map((line) => line.slice(0, 10))).size, 40);
  t.is(script('gen', '40', path('other'), '--ascii', '--seed', '2').code, 0);
  t.not(readFileSync(path('other'), 'latin1'), all);
});

test('check detects changed, missing and out-of-order records', (t) => {
  const record = (key: string, rest: number) => Buffer.alloc(100, rest).fill(key, 0, 10);
  const write = (name: string, records: readonly Buffer[]) =>
    writeFileSync(path(name), Buffer.concat(records));
  const [a, b, c] = [record('aaaaaaaaaa', 1), record('aaaaaaaaab', 2), record('aaaaaaaaab', 3)];
  write('abc', [a, b, c]);
  write('acb', [a, c, b]);
  write('bac', [b, a, c]);
  write('ab', [a, b]);
  write('abb', [a, b, b]);
  const sum = [a, b, c].reduce((all, one) => all + crc32(one), 0).toString(16);
  t.deepEqual(script('check', path('abc')), {
    code: 0,
    out: `records 3, checksum ${sum}, duplicate keys 1\norder right\n`,
  });
  t.is(script('check', path('acb'), '--of', path('abc')).code, 0, 'equal keys may stand in any order');
  t.like(script('check', path('bac')), { code: 1 });
  t.regex(script('check', path('bac')).out, /order WRONG at record 1/);
  for (const other of ['ab', 'abb']) {
    t.regex(script('check', path(other), '--of', path('abc')).out, /order right\nNOT the records of/);
    t.is(script('check', path(other), '--of', path('abc')).code, 1);
  }
  t.is(script('gen', 'many', path('x')).code, 2);
});
