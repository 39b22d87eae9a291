#!/usr/bin/env node
// Sets up the project, then sorts a file on an OpenCL device with the AMD-style pipeline and verifies the result.
//
//   node scripts/quickstart.mjs                          16 Mi random u32 keys, generated for this run
//   node scripts/quickstart.mjs FILE --dtype f64 [...]   another file, sorted into FILE.sorted unless -o names one

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runNode } from './child.mjs';
import { rootlessEnv } from './rootless.mjs';
import { asScript, root, setUp } from './setup.mjs';

const COUNT = 2 ** 24;

/**
 * Runs the command.
 *
 * @returns its exit code
 */
const command = (args, stdio) =>
  runNode([join(root, 'dist/src/cli/main.js'), ...args], {
    stdio,
    env: { ...process.env, ...rootlessEnv(join(root, '.setup')) },
  });

async function clsort(args) {
  process.stderr.write(`\n$ clsort ${args.join(' ')}\n`);
  const code = await command(args, 'inherit');
  if (code !== 0) process.exit(code);
}

async function demonstration() {
  const folder = join(root, '.setup', 'quickstart');
  mkdirSync(folder, { recursive: true });
  const keys = join(folder, 'keys.u32');
  const sorted = join(folder, 'sorted.u32');
  await clsort([
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
  await clsort([
    'sort',
    keys,
    '-o',
    sorted,
    '--dtype',
    'u32',
    ...(await algorithm()),
    '--verify',
    '--report',
  ]);
}

async function ownFile([file, ...rest]) {
  const hasOutput = rest.some((arg) => /^(-o|--out)/.test(arg));
  const chosen = rest.some((arg) => arg.startsWith('--algorithm')) ? [] : await algorithm();
  await clsort([
    'sort',
    file,
    ...rest,
    ...(hasOutput ? [] : ['-o', `${file}.sorted`]),
    ...chosen,
    '--verify',
    '--report',
  ]);
}

/** Selects the AMD-style pipeline when there is an OpenCL device. */
async function algorithm() {
  return (await command(['devices'], 'ignore')) === 0 ? ['--algorithm', 'amd'] : [];
}

await asScript(async () => {
  setUp();
  const args = process.argv.slice(2);
  if (args.length === 0) await demonstration();
  else await ownFile(args);
});
