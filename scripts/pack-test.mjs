#!/usr/bin/env node
// Tests that the packed package sorts after installation: on each version of Node, in an empty folder, without a
// compiler.
//
//   node scripts/pack-test.mjs [VERSION …]        (default 20 22 24 26; after scripts/prebuild.mjs)

import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { proveInstalled, withPackages } from './installed.mjs';
import { fetchNode, VERSIONS } from './node-releases.mjs';
import { rootlessEnv } from './rootless.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const environment = { ...process.env, ...rootlessEnv(join(root, '.setup')) };

/** Returns a PATH with only a linker, which PoCL runs for each kernel. */
function pathWithoutCompiler(folder) {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const ld = execFileSync('sh', ['-c', 'command -v ld'], { encoding: 'utf8', env: environment }).trim();
  symlinkSync(ld, join(bin, 'ld'));
  return bin;
}

async function prove(version, packed) {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-installed-'));
  try {
    const node = join(fetchNode(version), 'bin', 'node');
    const app = join(folder, 'app');
    const env = { ...environment, PATH: pathWithoutCompiler(folder) };
    // Not synchronously: this process serves the registry.
    await proveInstalled(packed, app, async (args) => {
      const { stdout, stderr } = await promisify(execFile)(node, args, { cwd: app, env });
      return stdout + stderr;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const wanted = process.argv.slice(2);
await withPackages(async (packed) => {
  for (const version of wanted.length > 0 ? wanted : VERSIONS) await prove(version, packed);
});
