#!/usr/bin/env node
// Runs before npm packs the package: generates the manual page, and fails unless every required addon exists and was
// built from these sources for this version.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { faults, PROMISED } from './prebuilds.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const refusals = [];

const found = faults(root);
if (found.length > 0) {
  refusals.push(
    `${found.length} of the ${PROMISED.length} prebuilt addons that it promises cannot be packed:`,
    ...found.map((fault) => `  ${fault}`),
    "Build them: 'node scripts/prebuild.mjs', as root on Debian with debootstrap and qemu-user-static.",
  );
}
if (!existsSync(join(root, 'dist', 'bin', 'clsort.js'))) {
  refusals.push("dist/bin is missing: 'npm run build' compiles it.");
}

// The manual page, which npm installs with the command.
const page = spawnSync(process.execPath, [join(root, 'dist', 'src', 'cli', 'main.js'), 'man']);
if (page.status === 0) writeFileSync(join(root, 'dist', 'bin', 'clsort.1'), page.stdout);
else refusals.push(`the manual page cannot be made: 'clsort man' ended with ${page.status}.`);

if (refusals.length > 0) {
  process.stderr.write(`clsort ${version} is not packed.\n${refusals.join('\n')}\n`);
  process.exitCode = 1;
}
