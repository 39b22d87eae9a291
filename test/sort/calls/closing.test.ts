/** A Sorter that is closed while its device compiles in the background: it does not wait, and nothing is recorded. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { deviceNames, PLATFORMS } from '../../each-device.js';
import { selfTestsIn } from '../../self-tests.js';

const FIXTURE = fileURLToPath(new URL('fixtures/closing.js', import.meta.url));

// Clover compiles in the thread that asks, so its programs are built before the Sorter is closed.
for (const name of deviceNames().filter((name) => name !== 'clover')) {
  test(`${name}: a Sorter that is closed before the compiler ends, in a process that ends`, async (t) => {
    t.timeout(600_000);
    const folder = mkdtempSync(join(tmpdir(), 'clsort-closing-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const cache = join(folder, 'clsort');
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [FIXTURE, PLATFORMS[name] ?? name],
      { env: { ...process.env, CLSORT_CACHE_DIR: cache, POCL_CACHE_DIR: join(folder, 'pocl') } },
    );
    t.is(stderr, '');
    const { atClose, inTheEnd } = JSON.parse(stdout) as Record<'atClose' | 'inTheEnd', readonly string[]>;
    t.deepEqual(atClose, [], 'no program was built');
    t.true(inTheEnd.length >= 2 && inTheEnd.every((step) => step === 'build'), inTheEnd.join());
    t.deepEqual(
      Object.keys(selfTestsIn(cache)).filter((key) => !key.includes('probe')),
      [],
    );
  });
}
