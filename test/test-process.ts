/** Runs in each test process before its test file: gives it a private cache, and records the time it takes. */
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { packageRoot } from '../src/util/paths.js';
import { useOwnCache } from './test-cache.js';

/** Processor seconds of the children that this process has waited for: fields 16 and 17 of proc(5)'s stat. */
function childSeconds(): number {
  const [, fields = ''] = readFileSync('/proc/self/stat', 'utf8').split(') ');
  const [user = 0, system = 0] = fields.split(' ').slice(13, 15).map(Number);
  return (user + system) / 100;
}

/** Appends a line of JSON to the file that CLSORT_TEST_TIMES names. */
function recordTimes(times: string): void {
  const started = performance.now();
  const file = relative(packageRoot, fileURLToPath(test.meta.file));
  process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    const processor = (user + system) / 1e6 + childSeconds();
    const row = { file, wall: (performance.now() - started) / 1000, processor };
    appendFileSync(times, `${JSON.stringify(row)}\n`);
  });
}

export default function startTestProcess(): void {
  useOwnCache();
  if (process.env.CLSORT_TEST_TIMES && process.platform === 'linux')
    recordTimes(process.env.CLSORT_TEST_TIMES);
}
