// Runs the examples of every page as a new user would: in an empty folder with the packed package installed, block by
// block. The blocks of a page share a folder, so later blocks use the files of earlier ones.

import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { withPackages } from '../installed.mjs';
import { rootlessEnv } from '../rootless.mjs';
import { blocksOf, readPage, root, runBy, writtenPages } from './pages.mjs';

/** Packages that some pages install; taken from the development dependencies. */
const OPTIONAL = ['@duckdb', 'apache-arrow', 'parquet-wasm', 'yaml'];

const SECONDS = 120;

/** Normalises numbers with units and device names, which differ between runs. */
const shapeOf = (text) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) =>
      line
        .replaceAll(/\d[\d.,]*/g, '#')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    );

/** Links the optional packages next to the installed package. */
function linkOptional(modules) {
  for (const name of OPTIONAL) {
    if (!existsSync(join(modules, name))) symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  // Their own dependencies are resolved from their real location.
}

/** Returns the environment of the commands in a folder. */
function environmentOf(folder, home) {
  const base = { ...process.env, ...rootlessEnv(join(root, '.setup')) };
  return {
    ...base,
    HOME: home,
    PATH: [join(folder, 'node_modules/.bin'), dirname(process.execPath), base.PATH].join(delimiter),
    CLSORT_CACHE_DIR: join(home, 'cache'),
    NO_COLOR: '1',
    CLSORT_ADDON: process.env.CLSORT_ADDON ?? join(root, 'build/Release/clsort.node'),
  };
}

function run(command, args, { folder, home }) {
  const { status, signal, stdout, stderr } = spawnSync(command, args, {
    cwd: folder,
    env: environmentOf(folder, home),
    encoding: 'utf8',
    timeout: SECONDS * 1000,
    maxBuffer: 2 ** 26,
  });
  return {
    status,
    stdout,
    problem:
      status === 0 ? undefined : `ended with ${signal ?? status}\n${`${stdout}${stderr}`.slice(-1500)}`,
  };
}

/** Returns the values in `console.log(…); // VALUES` comments that the output lacks, in order. */
function brokenPromises(code, stdout) {
  const printed = stdout.replaceAll(/\s+/g, ' ');
  return [...code.matchAll(/console\.log\(.*\/\/ ([-\d., NaN]+|true|false)$/gm)]
    .map(([, promised]) => promised)
    .filter(
      (promised) =>
        !printed.includes(promised) && !printed.replaceAll(',', '').includes(promised.replaceAll(',', '')),
    )
    .map((promised) => `printed\n${stdout}instead of ${promised}`);
}

function runModule(block, name, place) {
  writeFileSync(join(place.folder, name), block.code);
  const { problem, stdout } = run(process.execPath, [name], place);
  return problem ? [problem] : brokenPromises(block.code, stdout);
}

/** Checks TypeScript against the types of the package, then runs it without types. */
function runTypeScript(block, name, place) {
  const source = `${name}.mts`;
  writeFileSync(join(place.folder, source), block.code);
  const options = [
    '--noEmit',
    '--strict',
    '--target',
    'es2023',
    '--module',
    'nodenext',
    '--lib',
    'es2023,esnext.disposable',
    '--skipLibCheck',
  ];
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
  const checked = run(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), ...options, ...types, source],
    place,
  );
  if (checked.problem) return [checked.problem];
  const plain = join(root, 'node_modules/.bin/esbuild');
  const made = run(plain, [source, '--format=esm', '--target=node20', `--outfile=${name}.mjs`], place);
  if (made.problem) return [made.problem];
  const { problem, stdout } = run(process.execPath, [`${name}.mjs`], place);
  return problem ? [problem] : brokenPromises(block.code, stdout);
}

/** Runs each `$ COMMAND`, and compares the shape of its output, ignoring numbers. */
function runConsole({ code }, place) {
  return code
    .split(/^\$ /m)
    .slice(1)
    .flatMap((part) => {
      const [command, ...shown] = part.split('\n');
      const { problem, stdout } = run('sh', ['-ec', command], place);
      if (problem) return [`${command} ${problem}`];
      const expected = shown.join('\n').trim();
      const same = expected === '' || JSON.stringify(shapeOf(stdout)) === JSON.stringify(shapeOf(expected));
      return same ? [] : [`${command} printed\n${stdout}instead of\n${expected}`];
    });
}

const RUNNERS = {
  sh: ({ code }, _, place) => [run('sh', ['-ec', code], place).problem],
  bash: ({ code }, _, place) => [run('bash', ['-ec', code], place).problem],
  console: (block, _, place) => runConsole(block, place),
  js: (block, name, place) =>
    runModule(
      block,
      /\brequire\(|\bmodule\.exports\b/.test(block.code) ? `${name}.cjs` : `${name}.mjs`,
      place,
    ),
  ts: runTypeScript,
  jsonl: ({ code }) => {
    for (const line of code.trim().split('\n')) JSON.parse(line);
    return [];
  },
  json: ({ code }) => {
    JSON.parse(code);
    return [];
  },
};

/** Languages of blocks that are not run. */
const READ_ONLY = ['', 'text', 'yaml', 'dockerfile', 'c', 'python', 'diff'];

function runPage(page, app, home) {
  const text = readPage(page);
  const blocks = blocksOf(text);
  const test = runBy(text);
  if (test !== undefined) {
    const runs =
      existsSync(join(root, test)) && readFileSync(join(root, test), 'utf8').includes(`docs/${page}`);
    return { ran: 0, problems: runs ? [] : [`${page}: ${test} does not run it`] };
  }
  const folder = mkdtempSync(join(app, 'page-'));
  symlinkSync(join(app, 'node_modules'), join(folder, 'node_modules'));
  const place = { folder, home };
  let ran = 0;
  const problems = [];
  for (const [i, block] of blocks.entries()) {
    const { language, name, code, line, reason } = block;
    if (reason !== undefined || READ_ONLY.includes(language)) continue;
    if (name !== undefined) {
      writeFileSync(join(folder, name), code);
      continue;
    }
    const runner = RUNNERS[language];
    const found = runner
      ? attempt(() => runner(block, `example-${i}`, place))
      : [`cannot run this block: unknown language ${language}`];
    ran++;
    problems.push(...found.filter(Boolean).map((problem) => `${page}:${line}: ${problem}`));
  }
  rmSync(folder, { recursive: true, force: true });
  return { ran, problems };
}

function attempt(work) {
  try {
    return work();
  } catch (error) {
    return [error.message];
  }
}

/**
 * Runs the examples.
 *
 * @param pages paths of the pages; default: all
 */
export async function check(pages = writtenPages()) {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-docs-'));
  try {
    const [app, home] = ['app', 'home'].map((name) => join(folder, name));
    for (const path of [app, home]) mkdirSync(path);
    writeFileSync(join(app, 'package.json'), '{ "private": true }\n');
    await withPackages(({ archive }) => {
      const npm = ['install', '--omit=optional', '--no-audit', '--no-fund', '--loglevel=error', archive];
      execFileSync('npm', npm, { cwd: app, stdio: ['ignore', 'ignore', 'inherit'] });
    });
    linkOptional(join(app, 'node_modules'));
    const results = pages.map((page) => {
      const started = performance.now();
      const result = runPage(page, app, home);
      console.log(
        `  ${page}: ${result.ran} examples, ${((performance.now() - started) / 1000).toFixed(1)} s`,
      );
      return result;
    });
    const ran = results.reduce((sum, one) => sum + one.ran, 0);
    return {
      summary: `${ran} examples of ${pages.length} pages ran`,
      problems: results.flatMap(({ problems }) => problems),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const { summary, problems } = await check(process.argv.length > 2 ? process.argv.slice(2) : undefined);
  console.log(summary);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
