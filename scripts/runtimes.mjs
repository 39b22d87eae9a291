#!/usr/bin/env node
// Tests the packed package with other programs than Node's own loader: Bun and Deno sort with it, TypeScript finds its
// types, and publint and @arethetypeswrong/cli find nothing wrong.
//
//   node scripts/runtimes.mjs        (after `npm run build`)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withPackages } from './installed.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The programs, which npm installs beside the package. */
const TOOLS = ['bun@1.4.4', 'deno@2.9.6', 'publint@0.3.25', '@arethetypeswrong/cli@0.18.5'];

/** The addon is for Node, so each runtime sorts with the host engine and warns once. */
const PROGRAM = `
import { createRequire } from 'node:module';
import { sort } from 'clsort';

const keys = Float64Array.from({ length: 300_000 }, (_, i) => Math.sin(i));
let report;
const sorted = await sort(keys, { verify: true, onReport: (it) => { report = it; } });
const expected = keys.slice().sort();
console.log(sorted.every((key, i) => key === expected[i]), report.device.type);
console.log(typeof createRequire(import.meta.url)('clsort').sort);
`;

const TYPES = `
import { Sorter, sort } from 'clsort';
import { getPlatformIDs } from 'clsort/opencl';

export const sorted: Promise<Uint32Array> = sort(new Uint32Array(4));
export const opened: Promise<Sorter> = Sorter.open();
export const platforms: number = getPlatformIDs().length;
`;

const folder = mkdtempSync(join(tmpdir(), 'clsort-runtimes-'));
const app = join(folder, 'app');
const tools = join(folder, 'tools');
const bin = join(tools, 'node_modules/.bin');

function run(command, args, cwd = app) {
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  if (status !== 0) {
    throw new Error(
      `${command} ${args.join(' ')} ended with ${error?.message ?? status}\n${stdout}${stderr}`,
    );
  }
  console.log(`${command} ${args.join(' ')}: ok`);
  return { stdout, stderr };
}

function proveRuns(command, ...args) {
  const { stdout, stderr } = run(command, [...args, 'program.mjs']);
  assert.equal(stdout, 'true host\nfunction\n');
  assert.equal(stderr.match(/falling back to the host engine/g)?.length, 1, stderr);
}

const CHECKS = {
  install({ archive }) {
    run(
      'npm',
      ['install', '--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts', ...TOOLS],
      tools,
    );
    // npm 12 runs no install scripts, and Bun requires its own.
    run(process.execPath, ['node_modules/bun/install.js'], tools);
    run('bun', ['add', archive]);
  },
  bun() {
    proveRuns('bun');
  },
  deno() {
    proveRuns('deno', 'run', '--allow-all', '--node-modules-dir=manual');
  },
  'Node, by import and by require'() {
    assert.equal(run(process.execPath, ['program.mjs']).stdout, 'true host\nfunction\n');
  },
  TypeScript() {
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    for (const [module, resolution, file] of [
      ['nodenext', 'nodenext', 'types.mts'],
      ['nodenext', 'nodenext', 'types.cts'],
      ['esnext', 'bundler', 'types.ts'],
    ]) {
      writeFileSync(join(app, file), TYPES);
      const options = ['--noEmit', '--strict', '--target', 'es2023', '--types', 'node', '--typeRoots'];
      const how = ['--module', module, '--moduleResolution', resolution];
      run(process.execPath, [tsc, ...options, join(root, 'node_modules/@types'), ...how, file]);
    }
  },
  publint({ archive }) {
    run('publint', ['--strict', archive]);
  },
  attw({ archive }) {
    // A package of ES modules only: Node 20.19 and later can require it.
    run('attw', ['--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm', '--', archive]);
  },
};

try {
  for (const path of [app, tools]) {
    mkdirSync(path);
    writeFileSync(join(path, 'package.json'), '{ "private": true }\n');
  }
  writeFileSync(join(app, 'program.mjs'), PROGRAM);
  await withPackages((packed) => {
    for (const check of Object.values(CHECKS)) check(packed);
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
