import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { ALGORITHMS } from '../src/algorithms/registry.js';
import { packageRoot } from '../src/util/paths.js';

const readPage = (page: string): string => readFileSync(join(packageRoot, page), 'utf8');
const readme = readPage('README.md');

/** The programs of the README, with the expected output. */
const programs = [...readme.matchAll(/<!-- run -->\n```js\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/g)].map(
  ([, code = '', output = '']) => ({ code, output }),
);

/** Guides whose programs run here, with the numbers in their comments. */
const GUIDES = ['docs/guides/operations.md', 'docs/guides/opencl.md'] as const;
const guideSnippets = GUIDES.flatMap((page) =>
  [...readPage(page).matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = ''], i) => ({
    title: `${page}, snippet ${i + 1}`,
    code,
  })),
);

/** Runs a snippet as a user's program: in a separate folder, with the package installed. */
function run(code: string, env: NodeJS.ProcessEnv = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-readme-'));
  try {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(packageRoot, join(folder, 'node_modules', 'clsort'));
    const arrow = join('node_modules', 'apache-arrow');
    symlinkSync(join(packageRoot, arrow), join(folder, arrow));
    const file = join(folder, 'snippet.mjs');
    writeFileSync(file, code);
    return spawnSync(process.execPath, [file], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, ...env },
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The commands of the README's console blocks, with the expected output. */
const sessions = [...readme.matchAll(/```console\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
  block
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...shown] = part.split('\n');
      return { command, expected: shown.join('\n') };
    }),
);

test.serial('the commands in the README print the output that the README shows', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-readme-'));
  try {
    const clsort = join(folder, 'clsort');
    const main = join(packageRoot, 'dist/src/cli/main.js');
    writeFileSync(clsort, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, { mode: 0o755 });
    const outputs = new Map<string, string>();
    for (const { command, expected } of sessions) {
      const ran = spawnSync('sh', ['-c', command], {
        cwd: folder,
        encoding: 'utf8',
        env: { ...process.env, PATH: `${folder}:${process.env.PATH}` },
      });
      t.is(ran.status, 0, `${command}\n${ran.stderr}`);
      if (expected !== '') t.is(ran.stdout, expected, command);
      outputs.set(command, ran.stdout);
    }
    // The table of the five largest files has no fixed output.
    const sizesOf = (text: string) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => Number.parseInt(line, 10));
    const largest = sizesOf(readFileSync(join(folder, 'files.tsv'), 'utf8')).sort((a, b) => b - a);
    const [, shown = ''] = [...outputs].find(([command]) => command.includes('--head 5')) ?? [];
    t.deepEqual(sizesOf(shown), largest.slice(0, 5));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** The numbers in comments after `console.log`, a text for each group: `keys 1, 2 and values 20, 37` are two groups. */
const promisedBy = (code: string): string[] =>
  [...code.matchAll(/console\.log\(.*\/\/ (.+)$/gm)].flatMap(([, comment = '']) =>
    [...comment.matchAll(/(?:-?\d[\d.]*|NaN)(?:,? (?:-?\d[\d.]*|NaN))*/g)].map(([numbers]) => numbers),
  );

test('the operations guide names every algorithm', (t) => {
  const [, table = ''] = /^### Algorithms\n\n(.*?)\n\n/ms.exec(readPage('docs/guides/operations.md')) ?? [];
  const named = [...table.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell = '']) =>
    cell.replaceAll('`', '').split(', '),
  );
  t.deepEqual(named.toSorted(), ['algorithm', ...ALGORITHMS.map(({ name }) => name), 'host'].toSorted());
});

test('the README and the guides have programs to run', (t) => {
  t.is(programs.length, 2);
  t.true(guideSnippets.length >= 7);
});

for (const [i, { code, output }] of programs.entries()) {
  test(`README program ${i + 1} prints the output that the README shows`, (t) => {
    const { status, stdout, stderr } = run(code);
    t.is(status, 0, stderr);
    t.is(stdout, output);
  });
}

for (const { title, code } of guideSnippets) {
  test(`${title} runs and prints the numbers in its comments`, (t) => {
    const { status, stdout, stderr } = run(code);
    t.is(status, 0, stderr);
    t.not(stdout, '');
    const printed = stdout.replaceAll(/\s+/g, ' ');
    for (const numbers of promisedBy(code)) t.true(printed.includes(numbers), `${numbers} in ${stdout}`);
  });
}

test('the package loads with require', (t) => {
  const { status, stdout, stderr } = run(
    "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" +
      "console.log(typeof require('clsort').sort, typeof require('clsort/opencl').getPlatformIDs);",
  );
  t.is(status, 0, stderr);
  t.is(stdout.trim(), 'function function');
});

test('without an addon, the host engine sorts with a warning and a requested device is an error', (t) => {
  const env = { CLSORT_ADDON: '/nowhere/clsort.node' };
  const auto = run("import { sort } from 'clsort'; console.log(await sort(Uint8Array.of(3, 1, 2)));", env);
  t.is(auto.status, 0, auto.stderr);
  t.regex(auto.stdout, /1, 2, 3/);
  t.regex(auto.stderr, /falling back to the host engine: cannot load/);
  const gpu = run(
    "import { sort } from 'clsort'; await sort(Uint8Array.of(3, 1, 2), { device: 'gpu' });",
    env,
  );
  t.not(gpu.status, 0);
  t.regex(gpu.stderr, /ERR_CLSORT_UNSUPPORTED/);
});
