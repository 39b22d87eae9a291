#!/usr/bin/env node
// Sets up, then does the main job: sorts a real file on an OpenCL device with the AMD-style pipeline and
// proves the result.
//
//   node scripts/quickstart.mjs                          16 Mi random u32 keys, made for the occasion
//   node scripts/quickstart.mjs FILE --dtype f64 [...]   your own file, into FILE.sorted unless -o names one

import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { rootlessEnv } from './rootless.mjs';
import { asScript, root, setUp } from './setup.mjs';

const COUNT = 2 ** 24;

function clsort(args) {
  process.stderr.write(`\n$ clsort ${args.join(' ')}\n`);
  const { status } = spawnSync(process.execPath, [join(root, 'dist/src/cli/main.js'), ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...rootlessEnv(join(root, '.setup')) },
  });
  if (status !== 0) process.exit(status ?? 1);
}

function demonstration() {
  const folder = join(root, '.setup', 'quickstart');
  mkdirSync(folder, { recursive: true });
  const keys = join(folder, 'keys.u32');
  const sorted = join(folder, 'sorted.u32');
  clsort([
    'gen',
    '--dtype',
    'u32',
    '--count',
    String(COUNT),
    '--distribution',
    'uniform',
    '--seed',
    '1',
    '-o',
    keys,
  ]);
  clsort(['sort', keys, '-o', sorted, '--dtype', 'u32', ...algorithm(), '--verify']);
}

function ownFile([file, ...rest]) {
  const hasOutput = rest.some((arg) => /^(-o|--out)/.test(arg));
  const chosen = rest.some((arg) => arg.startsWith('--algorithm')) ? [] : algorithm();
  clsort(['sort', file, ...rest, ...(hasOutput ? [] : ['-o', `${file}.sorted`]), ...chosen, '--verify']);
}

/** The pipeline that the product is about, wherever a device can run it. */
function algorithm() {
  const { status } = spawnSync(process.execPath, [join(root, 'dist/src/cli/main.js'), 'devices'], {
    stdio: 'ignore',
    env: { ...process.env, ...rootlessEnv(join(root, '.setup')) },
  });
  return status === 0 ? ['--algorithm', 'amd'] : [];
}

await asScript(() => {
  setUp();
  const args = process.argv.slice(2);
  if (args.length === 0) demonstration();
  else ownFile(args);
});
