// Tests that the packed package sorts after installation: in an empty folder, without a compiler and without install
// scripts.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const PROGRAM = `
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { sort } from 'clsort';

const keys = Uint32Array.from({ length: 100_000 }, (_, i) => Math.imul(i, 2654435761));
let report;
const sorted = await sort(keys, { algorithm: 'amd', verify: true, onReport: (it) => { report = it; } });
assert.deepEqual(sorted, keys.toSorted());
assert.notEqual(report.device.type, 'host');
assert.equal(typeof createRequire(import.meta.url)('clsort/opencl').getPlatformIDs, 'function');
console.log(\`Node \${process.version} for \${process.arch}: sorted by \${report.algorithm} on \${report.device.name}\`);
`;

/**
 * Packs the package as npm would, whichever addons exist, and passes the archive to `use`.
 *
 * @param use receives the path of the archive; the archive is deleted afterwards
 */
export async function withPackage(use) {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-packed-'));
  try {
    const pack = ['pack', '--silent', '--ignore-scripts', `--pack-destination=${folder}`];
    const name = execFileSync('npm', pack, { cwd: root, encoding: 'utf8' }).trim();
    await use(join(folder, name));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Installs the archive into an empty folder, then sorts, runs the install script and lists devices there.
 *
 * @param folder created for the program that depends on the package
 * @param node runs Node with arguments in that folder, with only a linker in PATH, and returns the output
 */
export async function proveInstalled(archive, folder, node) {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const npm = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', archive];
  execFileSync('npm', npm, { cwd: folder, stdio: 'inherit' });
  writeFileSync(join(folder, 'program.mjs'), PROGRAM);
  process.stdout.write(await node(['program.mjs']));
  // The install script of npm finds the addon and prints nothing.
  assert.equal(await node(['node_modules/clsort/scripts/install.mjs']), '');
  process.stdout.write(await node(['node_modules/clsort/dist/bin/clsort.js', 'devices']));
}
