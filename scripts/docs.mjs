#!/usr/bin/env node
// Builds the site of docs/ into docs/site:
//
//   node scripts/docs.mjs [--check [PART …]] [--serve]
//
//   --check   checks links, spelling, prose (English), recordings (of the course), examples and pages (in headless
//             Chromium), or the named parts
//   --serve   serves it on http://localhost:4173
//
// Compiles the TypeScript of the library and installs the packages of docs/, which has a separate lock file, if
// necessary. Only checks that sort need the native addon, and with it a C++ compiler.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { asScript, root, setUp } from './setup.mjs';

const docs = join(root, 'docs');
const PARTS = ['links', 'spelling', 'prose', 'recordings', 'examples', 'pages'];
/** Parts that run clsort. */
const SORTING_PARTS = ['recordings', 'examples', 'pages'];

/**
 * Runs a command in docs/.
 *
 * @throws Error when it fails
 */
function run(command, args, options = {}) {
  const { status, signal, error } = spawnSync(command, args, { cwd: docs, stdio: 'inherit', ...options });
  if (status !== 0) {
    throw new Error(`${[command, ...args].join(' ')} ended with ${error?.message ?? signal ?? status}`);
  }
}

/** Installs the packages of docs/ from their lock file, unless they are up to date. */
function installPackages() {
  const hash = createHash('sha256')
    .update(readFileSync(join(docs, 'package-lock.json')))
    .update(process.version)
    .digest('hex');
  const stamp = join(root, '.setup', 'docs-packages.stamp');
  const done = existsSync(stamp) && readFileSync(stamp, 'utf8') === hash;
  if (done && existsSync(join(docs, 'node_modules', 'vitepress'))) return;
  process.stderr.write('docs: installing packages …\n');
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
  mkdirSync(join(root, '.setup'), { recursive: true });
  writeFileSync(stamp, hash);
}

const vitepress = (...args) =>
  run(process.execPath, [join(docs, 'node_modules/vitepress/bin/vitepress.js'), ...args]);

async function build() {
  const { writeReference } = await import('./docs/reference.mjs');
  await writeReference();
  vitepress('build', '.');
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean', default: false }, serve: { type: 'boolean', default: false } },
});

await asScript(async () => {
  const unknown = positionals.find((part) => !PARTS.includes(part));
  if (unknown !== undefined) throw new Error(`unknown part '${unknown}': expected ${PARTS.join(', ')}`);
  const parts = values.check ? (positionals.length > 0 ? positionals : PARTS) : [];
  setUp({ wantDevice: false, wantAddon: parts.some((part) => SORTING_PARTS.includes(part)) });
  installPackages();
  await build();
  const problems = [];
  for (const part of parts) {
    const { check } = await import(`./docs/check-${part}.mjs`);
    const started = performance.now();
    const { problems: found, summary } = await check();
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(`docs: ${part}: ${summary}, ${found.length} problems, ${seconds} s`);
    problems.push(...found.map((problem) => `${part}: ${problem}`));
  }
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  if (values.serve) vitepress('preview', '.');
});
