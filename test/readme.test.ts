import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { ALGORITHMS } from '../src/algorithms/registry.js';
import { packageRoot } from '../src/util/paths.js';

const readme = readFileSync(join(packageRoot, 'README.md'), 'utf8');
const snippets = [...readme.matchAll(/<!-- run -->\n```js\n([\s\S]*?)```/g)].map(([, code = '']) => code);

/** Runs a snippet as a user's program: in a separate folder, with the package installed. */
function run(code: string, env: NodeJS.ProcessEnv = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-readme-'));
  try {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(packageRoot, join(folder, 'node_modules', 'clsort'));
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

/** Lines without the parts that vary by machine and run: numbers with their units, and devices. */
const shapeOf = (text: string): string[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) =>
      line
        .replace(/^device .*/, 'device')
        .replace(/\d[\d.,]*( (s|ms|us|ns|%|[kMG]?keys\/s)(?![a-z]))?|n\/a/g, '#')
        .replaceAll(/ +/g, ' '),
    );

test.serial('the command-line session in the README prints the output that the README shows', async (t) => {
  const [, session = ''] = /```console\n(\$ find [\s\S]*?)```/.exec(readme) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'clsort-readme-'));
  try {
    const clsort = join(folder, 'clsort');
    const main = join(packageRoot, 'dist/src/cli/main.js');
    writeFileSync(clsort, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, { mode: 0o755 });
    const files = () => readFileSync(join(folder, 'files.txt'), 'utf8').trimEnd().split('\n');
    let last = '';
    for (const part of session.split(/^\$ /m).slice(1)) {
      const [command = '', ...shown] = part.split('\n');
      const ran = spawnSync('sh', ['-c', command], {
        cwd: folder,
        encoding: 'utf8',
        env: { ...process.env, PATH: `${folder}:${process.env.PATH}` },
      });
      t.is(ran.status, 0, `${command}\n${ran.stderr}`);
      // Fewer files than fill one run of blocks are scanned by two kernels less.
      const short = files().length <= 16_384;
      const expected = shown.filter((line) => !short || !/^(prefixSum|blockAddition) /.test(line)).join('\n');
      // Other devices than the README's PoCL have other stages: transfers, or none with a time.
      const elsewhere = /^device (?!.*Portable Computing Language)/m.test(ran.stdout);
      if (expected !== '' && !elsewhere) t.deepEqual(shapeOf(ran.stdout), shapeOf(expected), command);
      last = ran.stdout;
    }
    // The last command names the five largest files.
    const largest = files()
      .map((line) => Number.parseInt(line, 10))
      .sort((a, b) => b - a);
    const named = last.trimEnd().split('\n');
    t.deepEqual(
      named.map((line) => Number.parseInt(line, 10)),
      largest.slice(0, 5),
    );
    t.true(named.every((line) => files().includes(line)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** The numbers in comments after `console.log`, a text for each group: `keys 1, 2 and values 20, 37` are two groups. */
const promisedBy = (code: string): string[] =>
  [...code.matchAll(/console\.log\(.*\/\/ (.+)$/gm)].flatMap(([, comment = '']) =>
    [...comment.matchAll(/(?:-?\d[\d.]*|NaN)(?:,? (?:-?\d[\d.]*|NaN))*/g)].map(([numbers]) => numbers),
  );

test('the README names every algorithm', (t) => {
  const [, named = ''] = /^\| `algorithm` \| `'auto'` \| `(.+)` \|$/m.exec(readme) ?? [];
  t.deepEqual(named.split(' ').sort(), [...ALGORITHMS.map(({ name }) => name), 'host'].sort());
});

test('the README has snippets to run', (t) => {
  t.true(snippets.length >= 6);
});

for (const [i, code] of snippets.entries()) {
  test(`README snippet ${i + 1} runs and prints the numbers in its comments`, (t) => {
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
  t.regex(auto.stderr, /host engine sorts/);
  const gpu = run(
    "import { sort } from 'clsort'; await sort(Uint8Array.of(3, 1, 2), { device: 'gpu' });",
    env,
  );
  t.not(gpu.status, 0);
  t.regex(gpu.stderr, /ERR_CLSORT_UNSUPPORTED/);
});
