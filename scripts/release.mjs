#!/usr/bin/env node
// Makes a release, or rehearses one:
//
//   npm run release -- --dry-run [VERSION]     all steps, then restores the tree
//   npm run release -- VERSION                 all steps, commits and tags; pushing the tag publishes, by
//                                              .github/workflows/release.yml
//   npm run release -- --check                 all steps without a version change: what the workflow runs on the tag
//
// VERSION is a version, or major, minor or patch; by default the version in package.json. It becomes the heading of the
// unreleased section in CHANGELOG.md. Run it as root on Debian x64 with debootstrap and qemu-user-static, which the
// prebuilt addons require. --step NAME runs one step (repeatable).

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { excesses, measurePackage } from './package-size.mjs';
import { faults } from './prebuilds.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const FILES = ['package.json', 'package-lock.json', 'CHANGELOG.md'].map((name) => join(root, name));

/**
 * Returns the next version.
 *
 * @throws Error when it is invalid, or not greater than the current one
 */
export function nextVersion(current, wanted) {
  if (wanted === undefined) return current;
  const parts = current.split('.').map(Number);
  const at = ['major', 'minor', 'patch'].indexOf(wanted);
  if (at >= 0) return parts.map((part, i) => (i < at ? part : i === at ? part + 1 : 0)).join('.');
  if (!/^\d+\.\d+\.\d+$/.test(wanted))
    throw new Error(`'${wanted}' is no version: expected X.Y.Z, major, minor or patch`);
  if (wanted.localeCompare(current, 'en', { numeric: true }) < 0)
    throw new Error(`${wanted} is below ${current}`);
  return wanted;
}

/**
 * Returns the changelog with its unreleased section assigned to a version, and an empty unreleased section before it.
 *
 * @param date such as 2026-11-23
 * @throws Error when nothing is unreleased
 */
export function releasedChangelog(text, version, date) {
  const section = /^## \[Unreleased\]\n+([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(text);
  if (!section) throw new Error("CHANGELOG.md has no heading '## [Unreleased]'");
  if (section[1].trim() === '') throw new Error('CHANGELOG.md has no changes since the last release');
  return text.replace(/^## \[Unreleased\]$/m, `## [Unreleased]\n\n## [${version}] - ${date}`);
}

/** Returns the section of a version in the changelog. */
export const notesOf = (text, version) =>
  new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\][^\\n]*\\n+([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, 'm')
    .exec(text)?.[1]
    .trim() ?? '';

/**
 * Runs a command.
 *
 * @throws Error when it fails
 */
function run(command, args) {
  const { status, signal, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0)
    throw new Error(`${[command, ...args].join(' ')} ended with ${error?.message ?? signal ?? status}`);
}
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const node = (...args) => run(process.execPath, args);
const readPackage = () => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

function setVersion(version) {
  for (const file of FILES.slice(0, 2)) {
    const text = readFileSync(file, 'utf8');
    const current = JSON.parse(text).version;
    // The package's own version comes first in either file, and a second time in the lock file.
    let left = file.endsWith('lock.json') ? 2 : 1;
    writeFileSync(
      file,
      text.replaceAll(`"version": "${current}"`, (found) => (left-- > 0 ? `"version": "${version}"` : found)),
    );
  }
}

/** The steps, in order; each throws when it fails. */
const STEPS = {
  version({ version, tag, date, isCheck }) {
    if (isCheck) return `${version}, as package.json has it`;
    if (git('tag', '--list', tag) !== '') throw new Error(`the tag ${tag} is there already`);
    setVersion(version);
    const changelog = FILES[2];
    writeFileSync(changelog, releasedChangelog(readFileSync(changelog, 'utf8'), version, date));
    return `${version}, with its date in CHANGELOG.md`;
  },
  provenance({ isDry }) {
    const { publishConfig, repository, license } = readPackage();
    if (publishConfig?.provenance !== true)
      throw new Error('package.json does not ask for provenance (publishConfig)');
    if (!existsSync(join(root, 'LICENSE')) || !license) throw new Error('there is no licence');
    const workflow = readFileSync(join(root, '.github/workflows/release.yml'), 'utf8');
    if (!/id-token: write/.test(workflow))
      throw new Error('the workflow may not sign: it lacks id-token: write');
    if (repository) return 'asked for, and the workflow may sign';
    const problem =
      "package.json names no repository, which provenance is checked against: 'npm pkg set repository=URL'";
    if (!isDry) throw new Error(problem);
    return `TO DO: ${problem}`;
  },
  build() {
    node('scripts/setup.mjs', '--no-device');
    return 'compiled';
  },
  types() {
    node('scripts/api-report.mjs', '--check');
    return 'docs/api is what the types are';
  },
  addons() {
    node('scripts/prebuild.mjs');
    const found = faults(root);
    if (found.length > 0) throw new Error(found.join('\n'));
    return 'all that are promised, for x64 and arm64';
  },
  size() {
    const size = measurePackage();
    const found = excesses(size);
    if (found.length > 0) throw new Error(found.join('\n'));
    return `${Math.round(size.packed / 1000)} kB packed, ${size.installed} packages installed`;
  },
  pack({ folder }) {
    node('scripts/pack.mjs', folder);
    return folder;
  },
  install() {
    node('scripts/pack-test.mjs');
    return 'sorts in an empty folder, without a compiler, on four versions of Node';
  },
  notes({ folder, version, isCheck }) {
    const notes = notesOf(readFileSync(FILES[2], 'utf8'), version);
    if (notes === '' && !isCheck) throw new Error('there are no notes of this release');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'notes.md'), `${notes}\n`);
    return join(folder, 'notes.md');
  },
};

/** Checks for a person. */
const BY_HAND = [
  'bash .ci/run passes on this commit',
  'node scripts/newer-drivers.mjs and node scripts/arm64.mjs pass (before a release only)',
  'npm test on a GPU, and clsort matrix --device gpu --quick there, kept in docs/matrix',
  'every breaking change is named in CHANGELOG.md, and raises the minor before 1.0',
  'docs/support.md says what was tested',
  'npm run docs builds the site that goes with the release',
  'push the tag; the workflow publishes; npm audit signatures shows the provenance',
];

function release({ values, positionals }) {
  const isDry = values['dry-run'];
  const isCheck = values.check;
  const version = nextVersion(readPackage().version, positionals[0]);
  const context = {
    version,
    tag: `v${version}`,
    isDry,
    isCheck,
    folder: join(root, '.setup/release'),
    date: new Date().toISOString().slice(0, 10),
  };
  if (!isDry && !isCheck && git('status', '--porcelain') !== '')
    throw new Error('the tree has changes: commit or stash them');
  const unknown = values.step.find((name) => !Object.hasOwn(STEPS, name));
  if (unknown) throw new Error(`unknown step '${unknown}': expected ${Object.keys(STEPS).join(', ')}`);
  const names = Object.keys(STEPS).filter((name) => values.step.length === 0 || values.step.includes(name));
  const before = FILES.map((file) => readFileSync(file));
  const restore = () => {
    for (const [i, bytes] of before.entries()) writeFileSync(FILES[i], bytes);
  };
  const results = [];
  let succeeded = false;
  try {
    for (const name of names) {
      process.stdout.write(`\n=== ${name}\n`);
      try {
        results.push(`[x] ${name}: ${STEPS[name](context)}`);
      } catch (error) {
        results.push(`[ ] ${name}: ${error.message}`);
        throw error;
      }
    }
    succeeded = true;
  } finally {
    if (isDry || !succeeded) restore();
    const rest = Object.keys(STEPS).filter(
      (name) => !results.some((line) => line.startsWith(`[x] ${name}:`) || line.startsWith(`[ ] ${name}:`)),
    );
    process.stdout.write(
      `\nclsort ${version}${isDry ? ', tried' : ''}\n${[...results, ...rest.map((name) => `[ ] ${name}: not run`)].join('\n')}\nBy hand:\n${BY_HAND.map((line) => `[ ] ${line}`).join('\n')}\n`,
    );
  }
  if (isDry || isCheck) return;
  git('commit', '--quiet', '--all', '--message', `Release ${version}`);
  git('tag', '--annotate', context.tag, '--message', `clsort ${version}`);
  process.stdout.write(`\ncommitted and tagged ${context.tag}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    release(
      parseArgs({
        allowPositionals: true,
        options: {
          'dry-run': { type: 'boolean', default: false },
          check: { type: 'boolean', default: false },
          step: { type: 'string', multiple: true, default: [] },
        },
      }),
    );
  } catch (error) {
    process.stderr.write(`release: ${error.message}\n`);
    process.exitCode = 1;
  }
}
