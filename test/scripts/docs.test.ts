/** The sources of the site generators are complete, and pages are parsed correctly. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { parse } from 'yaml';
import { allSpecs } from '../../src/cli/specs.js';
import * as library from '../../src/index.js';
import { expectedOf } from '../../src/sort/model/parse-options.js';
import { packageRoot } from '../../src/util/paths.js';

interface ErrorDoc {
  readonly name: string;
  readonly id: string;
  readonly what?: string;
  readonly todo?: string;
}

interface Block {
  readonly language: string;
  readonly name?: string;
  readonly code: string;
  readonly line: number;
  readonly reason?: string;
}

const script = (name: string) => import(pathToFileURL(join(packageRoot, 'scripts/docs', name)).href);
const { errorsOf } = (await script('errors-page.mjs')) as { errorsOf: (source: string) => ErrorDoc[] };
const { blocksOf } = (await script('pages.mjs')) as { blocksOf: (text: string) => Block[] };
const { cell } = (await script('markdown.mjs')) as { cell: (text: string) => string };

const src = join(packageRoot, 'src');
const errors = errorsOf(readFileSync(join(src, 'util/errors.ts'), 'utf8'));

test('the errors page has a code, a description and a remedy for every error class', (t) => {
  const classes = Object.entries(library).filter(
    ([, value]) =>
      typeof value === 'function' &&
      value.prototype instanceof library.ClsortError &&
      value !== library.ClsortError,
  );
  t.deepEqual(errors.map(({ name }) => name).sort(), classes.map(([name]) => name).sort());
  for (const { name, id, what, todo } of errors) {
    const Type = (library as unknown as Record<string, new (text: string) => library.ClsortError>)[name];
    t.is(Type && new Type('').code, id as library.ErrorCode, name);
    t.regex(what ?? '', /\.$/, name);
    t.regex(todo ?? '', /\.$/, name);
  }
});

test('every error code in src is on the errors page', (t) => {
  const known = new Set([...errors.map(({ id }) => id), 'ERR_CLSORT_INTERNAL']);
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && name !== 'util/errors.ts',
  );
  const used = files.flatMap(
    (name) => readFileSync(join(src, name), 'utf8').match(/'ERR_CLSORT_\w+'/g) ?? [],
  );
  t.true(used.length > 0);
  t.deepEqual(
    used.map((code) => code.slice(1, -1)).filter((code) => !known.has(code)),
    [],
  );
});

test('the expected value of an option reads as in its error message', async (t) => {
  t.is(expectedOf('timeout'), 'milliseconds above 0');
  const wrong = await t.throwsAsync(library.sort(Uint8Array.of(1), { timeout: -1, device: 'host' }));
  t.true(wrong?.message.includes('milliseconds above 0'), wrong?.message);
  t.is(expectedOf('no such option'), undefined);
});

test('every verb has a description', async (t) => {
  const specs = await allSpecs();
  t.true(specs.length > 15);
  for (const { name, describe } of specs) t.not(describe, '', name);
});

test('blocks of a page are parsed as commands, files and reasons; comments are not run', (t) => {
  const page = [
    ...['<!-- set-up', 'touch a', '-->', '', '```sh', 'ls a', '```', ''],
    ...['```js [x.mjs]', 'code', '```', '', '<!-- not run: no time -->', '```sh', 'sleep 1e9', '```'],
    ...['- in a list:', '', '  ```ts', '  using a;', '  ```'],
  ].join('\n');
  t.like(blocksOf(page), [
    { language: 'sh', code: 'ls a\n', line: 5 },
    { language: 'js', name: 'x.mjs', code: 'code\n' },
    { language: 'sh', reason: 'no time' },
    { language: 'ts', code: 'using a;\n' },
  ]);
});

test('the text of a table cell is escaped', (t) => {
  t.is(cell('a | b <c> `d | e`\nf'), 'a &#124; b &#60;c&#62; `d \\| e` f');
});

test('the site is built without the addon and without a C++ compiler', async (t) => {
  const { stepsOf } = (await import(pathToFileURL(join(packageRoot, 'scripts/setup.mjs')).href)) as {
    stepsOf: (options: object) => { readonly name: string }[];
  };
  const namesOf = (wantAddon: boolean) => stepsOf({ wantDevice: false, wantAddon }).map(({ name }) => name);
  t.deepEqual(namesOf(false), ['checkNode', 'npmPackages', 'openclHeaders', 'typescript']);
  t.true(namesOf(true).includes('addon'));

  const generator = readFileSync(join(packageRoot, 'scripts/docs/reference.mjs'), 'utf8');
  const modules = [...generator.matchAll(/'([\w/-]+\.js)'/g)].map(([, name]) => name);
  t.true(modules.includes('opencl/index.js'));
  const imports = modules.map((name) => `await import('./dist/src/${name}');`).join(' ');
  const env = { ...process.env, CLSORT_ADDON: '/no/addon' };
  execFileSync(process.execPath, ['--input-type=module', '-e', imports], { cwd: packageRoot, env });
});

test('the workflow of the site builds it for the path at which it is published', (t) => {
  const file = join(packageRoot, '.github/workflows/site.yml');
  const { jobs } = parse(readFileSync(file, 'utf8')) as {
    jobs: { build: { steps: { run?: string; id?: string; env?: Record<string, string> }[] } };
  };
  const steps = jobs.build.steps;
  const build = steps.find(({ run }) => run === 'npm run docs');
  t.regex(build?.env?.CLSORT_DOCS_BASE ?? '', /steps\.pages\.outputs\.base_path \}\}\/$/);
  t.true(steps.some(({ id }) => id === 'pages'));
});
