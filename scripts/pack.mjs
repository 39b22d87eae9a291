#!/usr/bin/env node
// Packs what is published: the package `clsort`, and one package with an addon for each platform and version of Node.
//
//   node scripts/pack.mjs [--any] [FOLDER]        (after `npm run build` and scripts/prebuild.mjs)
//
//   --any   packs the addons that exist; without it, all promised ones must exist and be current
//
// The archives go to FOLDER, by default .setup/release. The published package.json has no scripts, so that nothing runs
// at installation, and no binding.gyp is published, because npm would build wherever it finds one.
// docs/contributing/RECIPES.md says why addons have packages of their own.

import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { addonManifest, faults, PROMISED, prebuiltAddon } from './prebuilds.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const readManifest = () => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const writeManifest = (folder, manifest) =>
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);

/** Fields of package.json that concern this repository only. */
const UNPUBLISHED = ['private', 'scripts', 'devDependencies', 'overrides', 'ava', 'files', 'gypfile'];

/** Returns the package.json that is published. */
export function publishedManifest() {
  const manifest = readManifest();
  for (const field of UNPUBLISHED) delete manifest[field];
  const { version } = manifest;
  manifest.optionalDependencies = Object.fromEntries(
    PROMISED.map((which) => [addonManifest(manifest, which).name, version]),
  );
  return manifest;
}

/** Copies the files of the package to a folder. */
function stagePackage(folder) {
  const list = ['pack', '--dry-run', '--ignore-scripts', '--json'];
  const [{ files }] = JSON.parse(
    execFileSync('npm', list, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 }),
  );
  for (const { path } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(join(root, path), join(folder, path));
  }
  copyFileSync(join(root, 'binding.gyp'), join(folder, 'src', 'native', 'addon.gyp'));
  writeManifest(folder, publishedManifest());
}

/** Copies an addon to a folder, as a package. */
function stageAddon(folder, which) {
  mkdirSync(folder, { recursive: true });
  copyFileSync(prebuiltAddon(root, which), join(folder, 'clsort.node'));
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  writeManifest(folder, addonManifest(readManifest(), which));
}

/** Packs a folder that `stage` fills, and returns the path of the archive. */
function packed(to, stage, ...args) {
  const staged = join(to, 'staged');
  rmSync(staged, { recursive: true, force: true });
  stage(staged, ...args);
  const pack = ['pack', '--silent', '--ignore-scripts', `--pack-destination=${to}`, staged];
  const name = execFileSync('npm', pack, { encoding: 'utf8' }).trim();
  rmSync(staged, { recursive: true });
  return join(to, name);
}

/** Packs the package and all addons that exist into an empty folder, and returns the archives; the package comes last. */
export function packAll(to) {
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  const addons = PROMISED.filter((which) => existsSync(prebuiltAddon(root, which)));
  return [...addons.map((which) => packed(to, stageAddon, which)), packed(to, stagePackage)];
}

/** Returns why the package is incomplete; an empty list when it can be published. */
function refusals() {
  const found = faults(root);
  const lines = [];
  if (found.length > 0) {
    lines.push(
      `${found.length} of the ${PROMISED.length} prebuilt addons that it promises cannot be packed:`,
      ...found.map((fault) => `  ${fault}`),
      "Build them: 'node scripts/prebuild.mjs', as root on Debian with debootstrap and qemu-user-static.",
    );
  }
  if (!existsSync(join(root, 'dist', 'bin', 'clsort.js')))
    lines.push("dist/bin is missing: 'npm run build' compiles it.");
  return lines;
}

/** Generates the manual page, which npm installs with the command. */
function writeManual() {
  const page = spawnSync(process.execPath, [join(root, 'dist', 'src', 'cli', 'main.js'), 'man']);
  if (page.status !== 0)
    throw new Error(`the manual page cannot be made: 'clsort man' ended with ${page.status}`);
  writeFileSync(join(root, 'dist', 'bin', 'clsort.1'), page.stdout);
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { any: { type: 'boolean', default: false } },
  });
  const refused = values.any ? [] : refusals();
  if (refused.length > 0) {
    process.stderr.write(`clsort ${readManifest().version} is not packed.\n${refused.join('\n')}\n`);
    process.exitCode = 1;
    return;
  }
  writeManual();
  for (const archive of packAll(positionals[0] ?? join(root, '.setup', 'release'))) console.log(archive);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
