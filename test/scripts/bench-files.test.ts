/** The table of file sorts by several programs; the script itself checks the results. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../src/util/paths.js';
import { where } from '../where.js';

const run = (...options: string[]) =>
  spawnSync(process.execPath, [join(packageRoot, 'scripts/bench-files.mjs'), ...options], {
    encoding: 'utf8',
  });

const testWithTime = where(existsSync('/usr/bin/time'), 'no GNU time here', test);

testWithTime('the table lists GNU sort with its times and peak memory', (t) => {
  const json = join(tmpdir(), `bench-files-${process.pid}.json`);
  const ran = run('--count', '1000', '--runs', '1', '--only', 'gnu', '--json', json);
  t.is(ran.status, 0, ran.stderr);
  t.regex(ran.stdout, /^\| GNU sort -g \| csv \| 0 \| [\d.]+ \| [\d.]+ \| \d+ \|$/m);
  const { count, results } = JSON.parse(readFileSync(json, 'utf8'));
  rmSync(json);
  t.is(count, 1000);
  t.deepEqual(
    results.map(({ name, format }: { name: string; format: string }) => [name, format]),
    [['GNU sort -g', 'csv']],
  );
  t.true(results[0].bytes > 100_000);
});

test('a --count that is not a number is an error', (t) => {
  const ran = run('--count', 'many');
  t.not(ran.status, 0);
  t.regex(ran.stderr, /--count is 'many': expected a number/);
});
