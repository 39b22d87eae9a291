#!/usr/bin/env node
// Lists code that no test reaches: kernels of cl/ that are never launched, branches of kernels (by macros) with which
// no program is built, and exported functions of src/ that are never called.
//
//   node scripts/untested.mjs [--keep FOLDER] [AVA ARGUMENTS …]
//
// AVA ARGUMENTS are, for example, dist/test/algorithms/*.test.js; default: all tests.
//
// The tests run with a record of programs and launches (scripts/untested-record.mjs) and V8's coverage in every
// process. Code that the devices here cannot build or run is listed separately: compile-vendors.mjs builds it. With
// --keep, the records of several runs (other devices: CLSORT_TEST_DEVICES) are combined. Needs `npm run build` and
// clang-15. The exit code is 1 when something is not reached.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rootlessEnv } from './rootless.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Conditions that no device of these tests fulfils, and the script that covers their code. */
const ELSEWHERE = [
  [
    /INLINE_PTX|RANK_PTX|HAS_VOTES|HAS_BALLOT|HAS_ROWS|not if FIXED_GROUP/,
    'inline PTX: compile-vendors.mjs builds it for nvptx64',
  ],
  [
    /RANK_KHR|SUB_GROUP|ROW_VOTE/,
    'votes of sub-groups: newer-drivers.mjs runs them, compile-vendors.mjs builds them',
  ],
  [
    /ifdef INLINE$|__OPENCL_C_VERSION__|ifndef STREAM/,
    'compilers of Oclgrind and Clover, and those without built-ins of clang: CI runs the tests on these drivers',
  ],
];

/** Kernels that no device of these tests supports. */
const KERNELS_ELSEWHERE = { reduce_subgroups: 'sub-groups: newer-drivers.mjs runs it' };

/** Returns the names of the kernels in the text of a file. */
export function kernelsIn(text) {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*#\s*define(?:.*\\\n)*.*$/gm, '');
  const plain = [...code.matchAll(/\b(?:__kernel|kernel|[A-Z]+_KERNEL)\b[^;{}]*?\bvoid\s+(\w+)\s*\(/g)];
  const named = [...code.matchAll(/^(?:[A-Z]+_KERNEL|LADDER)\((\w+)\)/gm)];
  return [...new Set([...plain, ...named].map(([, name]) => name))];
}

const mark = (file, line) => `CLSORT_BRANCH_${file.replaceAll(/\W/g, '_')}_${line}`;

/**
 * Returns the branches of a source with its includes resolved: position, condition, and a mark that survives the
 * preprocessor when the branch is taken. Branches with #error are excluded.
 */
export function branchesOf(source) {
  const branches = [];
  let [file, line] = ['', 0];
  const conditions = [];
  const lines = source.split('\n');
  const marked = lines.map((text, i) => {
    const place = /^#line (\d+) "(.+)"/.exec(text);
    if (place) {
      [line, file] = [Number(place[1]) - 1, place[2]];
      return text;
    }
    line++;
    const [, what, rest = ''] = /^\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)/.exec(text) ?? [];
    if (what === undefined || lines[i - 1]?.endsWith('\\')) return text;
    if (what === 'endif') {
      conditions.pop();
      return text;
    }
    const own = what === 'else' ? `not ${conditions.pop()}` : `${what} ${rest.trim()}`;
    if (what === 'elif') conditions.pop();
    conditions.push(own);
    // Conditions over several lines are not analysed, nor are include guards and branches that refuse to compile.
    const isGuard = /_CLH\b/.test(rest) || /^\s*#\s*error/.test(lines[i + 1] ?? '') || text.endsWith('\\');
    if (isGuard) return text;
    branches.push({ file, line, condition: conditions.join(' && '), mark: mark(file, line) });
    return `${text}\n${mark(file, line)}`;
  });
  return { branches, marked: marked.join('\n') };
}

/** Returns the marks of the branches taken with these options. */
function taken(marked, options) {
  const known = options.split(' ').filter((option) => !option.startsWith('-cl-nv-'));
  const made = spawnSync('clang-15', ['-x', 'cl', '-E', '-P', ...known, '-'], {
    input: marked,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (made.status !== 0) throw new Error(`clang-15 -E failed: ${made.stderr ?? made.error?.message}`);
  return made.stdout.match(/\bCLSORT_BRANCH_\w+/g) ?? [];
}

/** Returns the names of the functions that a compiled file exports. */
export function exportedFunctions(text) {
  const declared = [...text.matchAll(/^export (?:async )?function\*? (\w+)/gm)];
  const assigned = [...text.matchAll(/^export const (\w+) = (?:async )?(?:\([^)]*\)|\w+) =>/gm)];
  return [...declared, ...assigned].map(([, name]) => name);
}

/** Returns the record of a process; nothing when it was killed while writing. */
function kept(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return {};
  }
}

/** Returns the functions that were called, by file, according to V8's coverage. */
function calledFunctions(folder) {
  const called = new Map();
  const base = pathToFileURL(join(root, 'dist', 'src')).href;
  for (const name of readdirSync(folder).filter((file) => file.startsWith('coverage-'))) {
    const { result = [] } = kept(join(folder, name));
    for (const { url, functions } of result.filter((script) => script.url.startsWith(base))) {
      const names = called.get(url) ?? new Set();
      for (const { functionName, ranges } of functions) if (ranges[0]?.count > 0) names.add(functionName);
      called.set(url, names);
    }
  }
  return called;
}

function unreachedFunctions(folder) {
  const called = calledFunctions(folder);
  const sources = join(root, 'dist', 'src');
  const files = readdirSync(sources, { recursive: true }).filter((file) => file.endsWith('.js'));
  return files.flatMap((file) => {
    const path = join(sources, file);
    const names = called.get(pathToFileURL(path).href) ?? new Set();
    return exportedFunctions(readFileSync(path, 'utf8'))
      .filter((name) => !names.has(name))
      .map((name) => `src/${file.replace(/\.js$/, '.ts')}: ${name}`);
  });
}

/** Returns the combined records of the processes. */
function records(folder) {
  const [launched, programs] = [new Set(), new Map()];
  for (const name of readdirSync(folder).filter((file) => file.startsWith('record-'))) {
    const { kernels = [], programs: built = [] } = kept(join(folder, name));
    for (const kernel of kernels) launched.add(kernel);
    for (const { file, options } of built) {
      programs.set(file, (programs.get(file) ?? new Set()).add(options));
    }
  }
  return { launched, programs };
}

async function main() {
  const args = process.argv.slice(2);
  const keep = args[0] === '--keep' ? args.splice(0, 2)[1] : undefined;
  const folder = keep ?? mkdtempSync(join(tmpdir(), 'clsort-untested-'));
  mkdirSync(folder, { recursive: true });
  const record = pathToFileURL(join(root, 'scripts', 'untested-record.mjs')).href;
  const tests = spawnSync(process.execPath, ['node_modules/ava/entrypoints/cli.mjs', ...args], {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      ...rootlessEnv(join(root, '.setup')),
      NODE_V8_COVERAGE: folder,
      CLSORT_RECORD: folder,
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${record}`.trim(),
    },
  });
  const { programSource } = await import('../dist/src/device/programs/program-source.js');
  const { launched, programs } = records(folder);
  let unreached = 0;
  const tell = (title, list) => {
    console.log(`\n${title}: ${list.length}`);
    for (const one of list) console.log(`  ${one}`);
    unreached += list.length;
  };
  const files = readdirSync(join(root, 'cl')).filter((file) => file.endsWith('.cl'));
  const kernels = files.flatMap((file) =>
    kernelsIn(readFileSync(join(root, 'cl', file), 'utf8')).map((name) => ({ file, name })),
  );
  const idle = kernels.filter(({ name }) => !launched.has(name));
  tell(
    `Kernels that no test launches, of ${kernels.length}`,
    idle.filter(({ name }) => !(name in KERNELS_ELSEWHERE)).map(({ file, name }) => `cl/${file}: ${name}`),
  );
  for (const { file, name } of idle.filter(({ name }) => name in KERNELS_ELSEWHERE)) {
    console.log(`  (cl/${file}: ${name}: ${KERNELS_ELSEWHERE[name]})`);
  }
  /** All branches by mark; programs share those of their includes. */
  const all = new Map();
  const reached = new Set();
  for (const file of files) {
    const { branches, marked } = branchesOf(programSource(file));
    for (const branch of branches) all.set(branch.mark, branch);
    for (const options of programs.get(file) ?? [])
      for (const one of taken(marked, options)) reached.add(one);
  }
  const missed = [...all.values()].filter((branch) => !reached.has(branch.mark));
  const excuse = ({ condition }) => ELSEWHERE.find(([pattern]) => pattern.test(condition))?.[1];
  const place = ({ file, line, condition }) => `cl/${file}:${line}: ${condition}`;
  tell(
    `Branches of kernels that no test builds, of ${all.size}`,
    missed.filter((branch) => !excuse(branch)).map(place),
  );
  for (const [, reason] of ELSEWHERE) {
    console.log(`  (${missed.filter((branch) => excuse(branch) === reason).length} more: ${reason})`);
  }
  tell('Exported functions that no test calls', unreachedFunctions(folder));
  if (!keep) rmSync(folder, { recursive: true });
  else console.log(`\nrecords are in ${relative(process.cwd(), folder)}`);
  if (tests.status !== 0) console.log('\nsome tests failed: what they would have reached is missing');
  process.exitCode = unreached > 0 || tests.status !== 0 ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
