// Determines which lanes can be skipped, since none of their inputs has changed since a green run on this machine.
//
// The inputs of a lane are hashed: the files that it names, its test files with all imports, the inputs of every lane
// (COMMON), the driver versions and the processor. A record maps a hash to the commit for which it was green. A lane is
// skipped only for a record of another commit, so that two runs of one commit run the same lanes.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { globSync } from 'tinyglobby';
import { cacheHome, machine } from './kernel-cache.mjs';
import { root } from './stage.mjs';

/** Inputs of every lane. */
const COMMON = [
  ...[
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'binding.gyp',
    'cl/',
    'src/native/',
    'src/opencl/',
    'src/util/',
  ],
  ...[
    '.ci/',
    'scripts/ci/',
    'scripts/ci.mjs',
    'scripts/test.mjs',
    'scripts/setup.mjs',
    'scripts/run.mjs',
    'scripts/child.mjs',
  ],
  ...['scripts/rootless.mjs', 'scripts/drivers.mjs', 'scripts/bundle.mjs', 'test/layer/'],
];

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
/** Returns the files that git tracks. */
export const tracked = () => git('ls-files', '-z').split('\0').filter(Boolean);

/** Returns the TypeScript source of a compiled path, or the path itself. */
const sourceOf = (path) => path.replace(/^dist\//, '').replace(/\.js$/, '.ts');

/** Returns the files that a file refers to: by imports, and by URL relative to itself, as for fixtures. */
function namedIn(file) {
  const text = readFileSync(join(root, file), 'utf8');
  const names = [...text.matchAll(/(?:from|import\(?|new URL\()\s*['"](\.[^'"]*\.js)['"]/g)];
  return names
    .map(([, name]) => sourceOf(relative(root, resolve(root, dirname(file), name))))
    .filter((name) => existsSync(join(root, name)));
}

/** Returns the files with all direct and indirect imports. */
export function withImports(files) {
  const found = new Set();
  const left = [...files];
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    if (file.endsWith('.ts')) left.push(...namedIn(file));
  }
  return [...found];
}

/** Returns the test files of a lane, as sources. */
function testsOf({ steps }) {
  const patterns = steps.flat().flatMap(({ tests = [] }) => tests.filter((name) => !name.startsWith('--')));
  const sources = patterns.map((name) => name.replace('dist/', '').replace(/\.js$/, '.ts'));
  return sources.length > 0 ? globSync(sources, { cwd: root }) : [];
}

/**
 * Returns the files that a lane depends on, sorted.
 *
 * @param {readonly string[]} all every tracked file
 */
export function filesOf(lane, all = tracked()) {
  if (!lane.reads) return all.toSorted();
  const prefixes = [...COMMON, ...lane.reads];
  const named = all.filter((file) =>
    prefixes.some((prefix) => file === prefix || (prefix.endsWith('/') && file.startsWith(prefix))),
  );
  const sources = all.filter(
    (file) => file.endsWith('.ts') && named.includes(file) && /^(src|test)\//.test(file),
  );
  return [...new Set([...named, ...withImports([...testsOf(lane), ...sources])])].toSorted();
}

/**
 * Returns the hash of a lane's inputs.
 *
 * @param {(file: string) => string | Buffer} read replaced by tests
 * @param {unknown} facts of the machine
 */
export function laneHash(
  lane,
  { files = filesOf(lane), read = (file) => readFileSync(join(root, file)), facts = machine() } = {},
) {
  const hash = createHash('sha256').update(JSON.stringify([facts, process.version, lane.steps]));
  for (const file of files) {
    const contents = createHash('sha256').update(read(file)).digest('hex');
    hash.update(`\0${file} ${contents}`);
  }
  return hash.digest('hex');
}

/** Records of green lanes on this machine: commits by hash. */
export class GreenLanes {
  #file;
  #records;

  constructor(file = join(cacheHome(), 'green-lanes.json')) {
    this.#file = file;
    this.#records = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  }

  /** Returns the commit for which a lane with this hash was green; undefined when that is the current commit. */
  commitOf(hash, now) {
    const commit = this.#records[hash];
    return commit === now ? undefined : commit;
  }

  /** Records green lanes. Existing records stay, so that the answer for a commit does not change. */
  add(hashes, commit) {
    for (const hash of hashes) this.#records[hash] ??= commit;
    mkdirSync(dirname(this.#file), { recursive: true });
    const temporary = `${this.#file}.${process.pid}`;
    writeFileSync(temporary, `${JSON.stringify(this.#records, null, 1)}\n`);
    renameSync(temporary, this.#file);
  }
}

/** Returns whether all files are as committed. */
export const isClean = () => git('status', '--porcelain').trim() === '';
