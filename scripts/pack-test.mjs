#!/usr/bin/env node
// Proves that the packed package sorts where it is installed: on each version of Node, in an empty folder,
// with no compiler in reach and without running install scripts.
//
//   node scripts/pack-test.mjs [VERSION …]        (default 20 22 24 26; after scripts/prebuild.mjs)

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchNode, VERSIONS } from './node-releases.mjs';
import { rootlessEnv } from './rootless.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const environment = { ...process.env, ...rootlessEnv(join(root, '.setup')) };

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
console.log(\`Node \${process.version}: sorted by \${report.algorithm} on \${report.device.name}\`);
`;

/** A PATH of one program: PoCL calls the linker for each kernel. */
function pathWithoutCompiler(folder) {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const ld = execFileSync('sh', ['-c', 'command -v ld'], { encoding: 'utf8', env: environment }).trim();
  symlinkSync(ld, join(bin, 'ld'));
  return bin;
}

function prove(version, tarball) {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-installed-'));
  try {
    const app = join(folder, 'app');
    mkdirSync(app);
    writeFileSync(join(app, 'package.json'), '{ "private": true }\n');
    const npm = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', tarball];
    execFileSync('npm', npm, { cwd: app, stdio: 'inherit' });
    writeFileSync(join(app, 'program.mjs'), PROGRAM);
    const node = join(fetchNode(version), 'bin', 'node');
    const options = {
      cwd: app,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...environment, PATH: pathWithoutCompiler(folder) },
    };
    execFileSync(node, ['program.mjs'], options);
    // What npm would have run finds the addon and has nothing to say.
    const install = spawnSync(node, ['node_modules/clsort/scripts/install.mjs'], {
      ...options,
      stdio: 'pipe',
    });
    assert.equal(String(install.stdout) + String(install.stderr), '');
    execFileSync(node, ['node_modules/clsort/dist/src/cli/main.js', 'devices'], options);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const packed = mkdtempSync(join(tmpdir(), 'clsort-packed-'));
try {
  const name = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', `--pack-destination=${packed}`], {
    cwd: root,
    encoding: 'utf8',
  }).trim();
  const wanted = process.argv.slice(2);
  for (const version of wanted.length > 0 ? wanted : VERSIONS) prove(version, join(packed, name));
} finally {
  rmSync(packed, { recursive: true, force: true });
}
