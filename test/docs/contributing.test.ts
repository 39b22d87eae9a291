/** CONTRIBUTING.md and docs/contributing name only files, folders and npm scripts that exist. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../src/util/paths.js';

const PAGES = [
  'CONTRIBUTING.md',
  'docs/contributing/ARCHITECTURE.md',
  'docs/contributing/RECIPES.md',
] as const;

const readPage = (page: string): string => readFileSync(join(packageRoot, page), 'utf8');

/** Paths that a text names, in its order: files, and in code folders such as `src/io/`. */
const NAMED =
  /\[[^\]]*\]\([^)]*\)|`(?<folder>[\w.-]+(?:\/[\w.-]+)*)\/`|(?<file>[\w.*-]+(?:\/[\w.*-]+)*\.(?:ts|js|mjs|clh?|cc|md|json|py))\b/g;

/** The source of a compiled file; other files as they are. */
const sourceOf = (file: string): string =>
  file.startsWith('dist/') ? file.slice('dist/'.length).replace(/\.js$/, '.ts') : file;

/** NAME and patterns stand for many files; the other prefixes are created by setup or by a user. */
const isExample = (file: string): boolean => /NAME|\*|^-|^\.setup\/|^dist\/bin\//.test(file);

/** Paths in a text that do not exist. A file without a folder belongs to the folder named last. */
function missingPaths(text: string): { count: number; missing: string[] } {
  const missing: string[] = [];
  let last = '';
  let count = 0;
  for (const { groups: { folder, file } = {} } of text.matchAll(NAMED)) {
    if (folder !== undefined) last = folder;
    const path = folder ?? (file && !isExample(file) ? sourceOf(file) : undefined);
    if (path === undefined) continue;
    count++;
    const found = [path, join(last, path)].find((one) => existsSync(join(packageRoot, one)));
    if (found === undefined) missing.push(path);
    else if (folder === undefined && found.includes('/')) last = dirname(found);
  }
  return { count, missing };
}

for (const page of PAGES) {
  test(`every file and folder that ${page} names exists`, (t) => {
    const { count, missing } = missingPaths(readPage(page));
    t.true(count > 5);
    t.deepEqual(missing, []);
  });
}

test('a path that is not there is found, also without its folder', (t) => {
  t.deepEqual(missingPaths('`src/keys/dtype.ts` and `array.ts`, `src/util/`, `errors.ts`').missing, []);
  t.deepEqual(missingPaths('`src/keys/dtype.ts`, `keys.ts`, `src/no/`').missing, ['keys.ts', 'src/no']);
});

test('every npm script that the pages for contributors name exists', (t) => {
  const { scripts } = JSON.parse(readPage('package.json')) as { scripts: Record<string, string> };
  const named = PAGES.flatMap((page) =>
    [...readPage(page).matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name),
  );
  t.true(named.length > 5);
  t.deepEqual(
    named.filter((name) => !Object.hasOwn(scripts, name)),
    [],
  );
});
