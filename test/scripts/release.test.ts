import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { packageRoot } from '../../src/util/paths.js';
import { withTree } from './tree.js';

interface Release {
  nextVersion(current: string, wanted?: string): string;
  releasedChangelog(text: string, version: string, date: string): string;
  notesOf(text: string, version: string): string;
}
interface Size {
  readonly packed?: number;
  readonly addons: readonly number[];
  readonly files: readonly string[];
  readonly dependencies: number;
  readonly installed: number;
}
interface Sizes {
  readonly LIMITS: { readonly packed: number };
  measurePackage(): Size;
  excesses(size: Size): string[];
}

const script = (name: string) => import(pathToFileURL(join(packageRoot, 'scripts', name)).href);
const { nextVersion, releasedChangelog, notesOf } = (await script('release.mjs')) as Release;
const { LIMITS, measurePackage, excesses } = (await script('package-size.mjs')) as Sizes;
const { statementsOf } = (await script('api-report.mjs')) as { statementsOf(text: string): string[] };

test('the package and its dependencies stay within the size limits', (t) => {
  const size = measurePackage();
  t.deepEqual(excesses(size), []);
  t.deepEqual(
    size.files.filter((path) =>
      /\.map$|node_modules|^docs\/(?:site|api|reference|\.vitepress)|^test\//.test(path),
    ),
    [],
  );
  for (const path of [
    'README.md',
    'LICENSE',
    'docs/bundlers.md',
    'docs/batch.schema.json',
    'dist/types/index.d.ts',
  ]) {
    t.true(size.files.includes(path), path);
  }
  t.regex(excesses({ ...size, packed: LIMITS.packed + 1 }).join(), /bytes of the archive/);
  t.regex(excesses({ ...size, dependencies: 50 }).join(), /dependencies: 50/);
});

test('the stored API report matches the public types', (t) => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(packageRoot, 'scripts/api-report.mjs'), '--check'],
    {
      encoding: 'utf8',
    },
  );
  t.is(status, 0, stderr);
});

test('the API report contains types without comments and internals', (t) => {
  const text = [
    '/** Doc. */\nexport interface A {\n    /** x */\n    readonly x: number;\n}',
    'export declare class B {\n    #private;\n    /** @internal For us. */\n    constructor(a: A);\n    get(): A;\n}',
    "export type C = 'c';",
  ].join('\n');
  t.deepEqual(statementsOf(text), [
    'export interface A {\n    readonly x: number;\n}',
    'export declare class B {\n    get(): A;\n}',
    "export type C = 'c';",
  ]);
});

test('nextVersion raises the version as requested and never lowers it', (t) => {
  t.is(nextVersion('0.1.0'), '0.1.0');
  t.is(nextVersion('0.1.9', 'patch'), '0.1.10');
  t.is(nextVersion('0.1.9', 'minor'), '0.2.0');
  t.is(nextVersion('0.1.9', 'major'), '1.0.0');
  t.is(nextVersion('0.9.0', '0.10.0'), '0.10.0');
  t.throws(() => nextVersion('0.10.0', '0.9.0'), { message: /below/ });
  t.throws(() => nextVersion('0.1.0', 'newer'), { message: /no version/ });
});

test('the changelog has the form of Keep a Changelog, with one line per change', (t) => {
  const lines = readFileSync(join(packageRoot, 'CHANGELOG.md'), 'utf8').split('\n');
  const kinds = lines.filter((line) => line.startsWith('### ')).map((line) => line.slice(4));
  const known = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
  t.deepEqual(
    kinds.filter((kind) => !known.includes(kind)),
    [],
  );
  for (const line of lines.filter((line) => line.startsWith('## ')))
    t.regex(line, /^## \[(?:Unreleased|\d+\.\d+\.\d+)\](?: - \d{4}-\d\d-\d\d)?$/);
  t.deepEqual(
    lines.filter((line) => line.length > 140),
    [],
  );
});

test('the changelog gets the release date, and its newest section becomes the notes', (t) => {
  const text = '# Changelog\n\n## [Unreleased]\n\n- New.\n  More.\n\n## [0.1.0] - 2026-11-01\n\n- Old.\n';
  const dated = releasedChangelog(text, '0.2.0', '2026-11-23');
  t.true(dated.includes('## [Unreleased]\n\n## [0.2.0] - 2026-11-23\n'));
  t.is(notesOf(dated, '0.2.0'), '- New.\n  More.');
  t.is(notesOf(dated, '0.1.0'), '- Old.');
  t.is(notesOf(dated, '0.3.0'), '');
  t.throws(() => releasedChangelog(dated, '0.3.0', ''), { message: /no changes/ });
  t.throws(() => releasedChangelog('# Changelog\n', '0.3.0', ''), { message: /no heading/ });
});

test('a dry-run release leaves the tree unchanged, also when a step fails', (t) => {
  withTree(({ folder, env }) => {
    const FILES = ['package.json', 'package-lock.json', 'CHANGELOG.md'];
    for (const path of [...FILES, 'LICENSE', '.github']) {
      cpSync(join(packageRoot, path), join(folder, path), { recursive: true });
    }
    spawnSync('git', ['init', '--quiet'], { cwd: folder, env });
    const contents = () => FILES.map((name) => readFileSync(join(folder, name), 'utf8'));
    const before = contents();
    const tried = (...args: string[]) => {
      const release = [join(folder, 'scripts/release.mjs'), '--dry-run', ...args];
      const ran = spawnSync(process.execPath, release, { cwd: folder, env, encoding: 'utf8' });
      t.deepEqual(contents(), before);
      return ran;
    };
    const done = tried('99.0.0', '--step', 'version', '--step', 'provenance', '--step', 'notes');
    t.is(done.status, 0, done.stderr);
    t.regex(done.stdout, /\[x\] version: 99\.0\.0/);
    t.regex(done.stdout, /\[ \] addons: not run/);
    const [, unreleased = ''] = String(before[2]).split(/^## .*$/m);
    t.regex(unreleased, /^- /m);
    t.is(readFileSync(join(folder, '.setup/release/notes.md'), 'utf8'), `${unreleased.trim()}\n`);
    const withoutAddons = tried('--step', 'version', '--step', 'pack');
    t.is(withoutAddons.status, 1);
    t.regex(withoutAddons.stdout, /\[ \] pack: \S+ scripts\/pack\.mjs/);
    const unknown = tried('--step', 'nothing');
    t.is(unknown.status, 1);
    t.regex(unknown.stderr, /unknown step 'nothing'/);
  });
});
