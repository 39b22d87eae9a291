import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { driverCacheHint } from '../../src/util/driver-cache.js';
import { clsort } from '../cli/cli.js';
import { PLATFORMS } from '../platforms.js';

const folder = mkdtempSync(join(tmpdir(), 'clsort-driver-cache-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

/** For any user, nothing can be created below a file that is not a folder. */
const NO_HOME = '/dev/null/home';
const index = new URL('../../src/index.js', import.meta.url).href;

test('the hint names the folder that PoCL cannot write', (t) => {
  t.is(driverCacheHint({ HOME: folder }), '');
  t.is(driverCacheHint({}), '');
  t.is(driverCacheHint({ HOME: NO_HOME, POCL_CACHE_DIR: folder }), '');
  t.is(driverCacheHint({ HOME: NO_HOME, XDG_CACHE_HOME: join(folder, 'missing', 'too') }), '');
  for (const env of [
    { HOME: NO_HOME },
    { HOME: folder, XDG_CACHE_HOME: NO_HOME },
    { POCL_CACHE_DIR: NO_HOME },
  ]) {
    t.regex(driverCacheHint(env), /\/dev\/null\/home.* set POCL_CACHE_DIR/);
  }
});

if (process.platform === 'linux') {
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  const { POCL_CACHE_DIR, XDG_CACHE_HOME, ...others } = process.env;
  const env = { ...others, HOME: NO_HOME, TMPDIR: temporary };

  test('the command finds the CPU device without a home that can be written', async (t) => {
    const { code, out, err } = await clsort(['devices', '--json', '--device', PLATFORMS.pocl ?? ''], {
      env: { ...env, POCL_CACHE_DIR: undefined, XDG_CACHE_HOME: undefined },
    });
    t.is(code, 0, err);
    t.true(JSON.parse(out).devices.length > 0);
    t.is(statSync(join(temporary, `clsort-pocl-${process.geteuid?.()}`)).mode & 0o777, 0o700);
  });

  test('a program finds it as well, and a worker thread of a program gets the cause', (t) => {
    const run = (script: string) =>
      spawnSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' });
    const found = run(`import { devices } from ${JSON.stringify(index)}; console.log(devices().length)`);
    t.true(Number(found.stdout) > 0, found.stderr);
    const empty =
      run(`process.env.POCL_CACHE_DIR = ''; const { devices } = await import(${JSON.stringify(index)});
      console.log(devices().length)`);
    t.true(Number(empty.stdout) > 0, 'an empty name is as none');
    const inWorker = `import { Sorter } from ${JSON.stringify(index)};
      await Sorter.open({ device: 'cpu' }).catch(({ message }) => console.log(message));`;
    const hint = run(
      `import { Worker } from 'node:worker_threads';
       new Worker(new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(inWorker)})));`,
    );
    t.regex(hint.stdout, /set POCL_CACHE_DIR/, hint.stderr);
  });
}
