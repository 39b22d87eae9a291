#!/usr/bin/env node
// Compiles the programs that clsort would build on vendors' devices, with the vendors' compilers and without the
// devices:
//
//   node scripts/compile-vendors.mjs [--target NAME,…] [--file NAME] [--most N] [--seed N] [--all] [--json]
//
//   --target  targets of scripts/vendors.ts, such as gfx906,skl; default: all
//   --file    programs whose name contains this
//   --most    maximum number of programs per target, drawn by the seed evenly from the files of cl/; default 24
//   --seed    default 1000
//   --all     all programs: about a thousand per target
//   --json    prints the resources of every kernel, one line each
//   --fetch   unpacks Debian's ocloc below .setup if it is not installed
//   --require fails when a compiler is missing
//
// clang-15 and libclc-15 (which come with PoCL and Mesa) compile for amdgcn and nvptx64, and ocloc for Intel (package
// intel-opencl-icd; the variable OCLOC names another one). ptxas, if installed, assembles for NVIDIA's cards. A missing
// compiler is reported, and fails with --require. Needs `npm run build`.

import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { assembled, findPtxas, sharedBytes } from './ptx.mjs';

process.env.CLSORT_TUNING = 'off'; // the shipped tuning, not a local one

const CLANG = 'clang-15';
const CLC = '/usr/lib/clc';

/** Properties of AMD devices that the built-ins of clang 15 lack: the width of waves, and votes. */
const AMD_SUB_GROUPS = `
#define cl_khr_subgroups 1
#define cl_khr_subgroup_ballot 1
#define OVERLOADABLE __attribute__((overloadable))
#if __AMDGCN_WAVEFRONT_SIZE == 64
# define LANE __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u))
#else
# define LANE __builtin_amdgcn_mbcnt_lo(~0u, 0u)
#endif
#define NOT_EQUAL 33
uint4 OVERLOADABLE sub_group_ballot(int vote)
{
    const ulong all = __builtin_amdgcn_uicmp((uint)vote, 0u, NOT_EQUAL);
    return (uint4)((uint)all, (uint)(all >> 32), 0, 0);
}
void OVERLOADABLE sub_group_barrier(cl_mem_fence_flags flags) { __builtin_amdgcn_wave_barrier(); }
uint OVERLOADABLE get_sub_group_local_id(void) { return LANE; }
uint OVERLOADABLE get_sub_group_id(void) { return (uint)(get_local_id(0) / __AMDGCN_WAVEFRONT_SIZE); }
uint OVERLOADABLE get_sub_group_size(void) { return __AMDGCN_WAVEFRONT_SIZE; }
uint OVERLOADABLE get_num_sub_groups(void) { return (uint)(get_local_size(0) / __AMDGCN_WAVEFRONT_SIZE); }
#define REDUCES(type)                                                     \\
    type OVERLOADABLE sub_group_reduce_add(type value) { return value; }  \\
    type OVERLOADABLE sub_group_reduce_min(type value) { return value; }  \\
    type OVERLOADABLE sub_group_reduce_max(type value) { return value; }
REDUCES(uint)
REDUCES(ulong)
REDUCES(float)
REDUCES(double)
`;

/** Returns the options that clang accepts; the others are for the driver. */
const clangOptions = (options) => options.split(' ').filter((option) => !option.startsWith('-cl-nv-'));

/**
 * Runs a command.
 *
 * @returns its status and its output
 */
function run(command, args) {
  return new Promise((resolve) => {
    const libraries = command.startsWith(FETCHED) && {
      LD_LIBRARY_PATH: join(FETCHED, 'usr', 'lib', 'x86_64-linux-gnu'),
    };
    const env = { ...process.env, ...libraries };
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
    child.on('error', (error) => resolve({ status: 127, output: error.message }));
    child.on('close', (status, signal) => resolve({ status: status ?? signal, output }));
  });
}

/** Extracts the errors from compiler output. */
const errorsIn = (output) => {
  const lines = output.split('\n').filter((line) => /\berror\b/i.test(line));
  return lines.length > 0 ? lines.slice(0, 5) : [output.trim().split('\n').at(-1) || 'nothing was said'];
};

/** Parses the resources of each kernel from AMD assembly. */
export function parseAmdgcn(assembly) {
  const [, metadata = ''] = assembly.split('amdhsa.kernels:');
  return metadata
    .split(/^ {2}- /m)
    .slice(1)
    .map((text) => {
      const number = (name) => Number(new RegExp(`^\\s*\\.${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
      const [, name = ''] = /^\s*\.symbol:\s+'?([\w$]+?)(?:\.kd)?'?\s*$/m.exec(text) ?? [];
      return {
        name,
        registers: number('vgpr_count'),
        // Scalars that do not fit spill to other registers; vectors spill to memory.
        spilledBytes: 4 * number('vgpr_spill_count'),
        localBytes: number('group_segment_fixed_size'),
      };
    });
}

/** Parses ocloc's warnings about spilled registers. Its exit code is unreliable and ignored. */
export function parseOcloc(output) {
  const kernels = [
    ...output.matchAll(/kernel (\w+)\s+compiled SIMD(\d+) allocated (\d+) regs and spilled around (\d+)/g),
  ];
  return {
    succeeded: /Build succeeded/.test(output) && !/Build failed/.test(output),
    kernels: kernels.map(([, name, , registers, spilled]) => ({
      name,
      registers: Number(registers),
      spilledBytes: 32 * Number(spilled), // registers of 32 bytes
      localBytes: 0,
    })),
  };
}

const COMPILERS = {
  amdgcn: {
    missing: () => missingClang(join(CLC, 'amdgcn--amdhsa.bc')),
    async build({ source, options }, { target }, folder, name) {
      const [from, to] = [join(folder, `${name}.cl`), join(folder, `${name}.s`)];
      writeFileSync(from, `${AMD_SUB_GROUPS}${source}`);
      const { status, output } = await clang(
        'amdgcn-amd-amdhsa',
        'amdgcn--amdhsa.bc',
        [`-mcpu=${target}`],
        options,
        from,
        to,
      );
      return status === 0
        ? { kernels: parseAmdgcn(readFileSync(to, 'utf8')), errors: [] }
        : { kernels: [], errors: errorsIn(output) };
    },
  },
  nvptx: {
    missing: () => missingClang(join(CLC, 'nvptx64--nvidiacl.bc')),
    async build({ source, options }, { target }, folder, name) {
      const [from, to] = [join(folder, `${name}.cl`), join(folder, `${name}.ptx`)];
      writeFileSync(from, source);
      // clang 15 supports cards up to sm_86, and only their instructions are used.
      const cpu = ['-Dasm=__asm__', '-Xclang', '-target-cpu', '-Xclang', 'sm_75'];
      const features = ['-Xclang', '-target-feature', '-Xclang', '+ptx75'];
      const { status, output } = await clang(
        'nvptx64-nvidia-cuda',
        'nvptx64--nvidiacl.bc',
        [...cpu, ...features],
        options,
        from,
        to,
      );
      if (status !== 0) return { kernels: [], errors: errorsIn(output) };
      const ptx = readFileSync(to, 'utf8');
      const statements = ptx.split(';').length;
      const ptxas = findPtxas();
      const registers = Number(/-cl-nv-maxrregcount=(\d+)/.exec(options)?.[1] ?? 0);
      if (ptxas) {
        // libclc has no OpenCL C 2.0 atomics for these cards: they are left to the driver.
        const { kernels, errors } = assembled(ptxas, ptx, target, registers);
        return {
          kernels,
          statements,
          errors: errors.filter((error) => !/^Unresolved extern function '_Z\d+atomic_/.test(error)),
        };
      }
      const bytes = Object.entries(sharedBytes(ptx));
      return {
        kernels: bytes.map(([kernel, localBytes]) => ({
          name: kernel,
          registers: 0,
          spilledBytes: 0,
          localBytes,
        })),
        statements,
        errors: [],
      };
    },
  },
  ocloc: {
    missing: () =>
      spawnSync(ocloc(), ['--help'], { stdio: 'ignore' }).error
        ? 'ocloc is missing: apt install intel-opencl-icd'
        : undefined,
    async build({ source, options }, { target, standard }, folder, name) {
      const from = join(folder, `${name}.cl`);
      writeFileSync(from, source);
      const own = standard === undefined ? options : options.replace('-cl-std=CL3.0', `-cl-std=${standard}`);
      const what = ['-file', from, '-device', target, '-options', own];
      const { output } = await run(ocloc(), ['compile', ...what, '-output', name, '-out_dir', folder]);
      const { succeeded, kernels } = parseOcloc(output);
      return { kernels, errors: succeeded ? [] : errorsIn(output) };
    },
  },
};

/** Packages of ocloc and its compiler. */
const OCLOC_PACKAGES = [
  ...['intel-opencl-icd', 'libigdgmm12', 'libigc1', 'libigdfcl1'],
  ...['libopencl-clang14', 'libllvmspirvlib14', 'libllvm14'],
];
const FETCHED = fileURLToPath(new URL('../.setup/ocloc', import.meta.url));

const ocloc = () => {
  const fetched = join(FETCHED, 'usr', 'bin', 'ocloc');
  return process.env.OCLOC ?? (existsSync(fetched) ? fetched : 'ocloc');
};

/** Unpacks ocloc below .setup. An installation would add a platform without devices to every other program. */
function fetchOcloc() {
  if (ocloc() !== 'ocloc') return;
  const packages = mkdtempSync(join(tmpdir(), 'clsort-ocloc-'));
  try {
    const fetched = spawnSync('apt-get', ['-q', '-o', 'APT::Sandbox::User=', 'download', ...OCLOC_PACKAGES], {
      cwd: packages,
      stdio: 'inherit',
    });
    if (fetched.status !== 0) return; // reported as missing
    mkdirSync(FETCHED, { recursive: true });
    for (const name of readdirSync(packages))
      spawnSync('dpkg-deb', ['-x', join(packages, name), FETCHED], { stdio: 'inherit' });
  } finally {
    rmSync(packages, { recursive: true, force: true });
  }
}

const clang = (triple, library, machine, options, from, to) =>
  run(CLANG, [
    ...['-x', 'cl', `--target=${triple}`, '-nogpulib', '-O3', '-w', ...machine],
    ...[
      '-Xclang',
      '-finclude-default-header',
      '-Xclang',
      '-mlink-builtin-bitcode',
      '-Xclang',
      join(CLC, library),
    ],
    ...[...clangOptions(options), '-S', '-o', to, from],
  ]);

function missingClang(library) {
  if (spawnSync(CLANG, ['--version'], { stdio: 'ignore' }).status !== 0)
    return `${CLANG} is missing: apt install ${CLANG}`;
  return existsSync(library) ? undefined : `${library} is missing: apt install libclc-15`;
}

/** Draws up to `most` programs by a seed, evenly distributed over the files. */
export function drawn(variants, most, seed) {
  const byFile = Map.groupBy ? Map.groupBy(variants, ({ file }) => file) : groupBy(variants);
  let state = BigInt(seed) * 2862933555777941757n + 3037000493n;
  const below = (n) => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
    return Number((state >> 33n) % BigInt(n));
  };
  const files = [...byFile.values()].map((list) => [...list]);
  const result = [];
  while (result.length < most && files.some((list) => list.length > 0)) {
    const round = files.filter((list) => list.length > 0);
    while (round.length > 0 && result.length < most) {
      const [list] = round.splice(below(round.length), 1);
      result.push(...list.splice(below(list.length), 1));
    }
  }
  return result;
}

/** Node 20 has no Map.groupBy. */
function groupBy(variants) {
  const groups = new Map();
  for (const one of variants) groups.set(one.file, [...(groups.get(one.file) ?? []), one]);
  return groups;
}

/**
 * Describes the resources that exceed the budget.
 *
 * @param statements statements of the program, if it was counted
 */
export function excesses({ budget }, { file }, kernels, statements = 0) {
  const spills = budget.spilledBytes[file] ?? budget.spilledBytes['*'] ?? 0;
  const limit = budget.statements?.[file] ?? Number.POSITIVE_INFINITY;
  const isLong = statements > limit;
  const long = isLong ? [`it has ${statements} statements, ${limit} are allowed: it compiles too long`] : [];
  const resources = kernels.flatMap(({ name, localBytes, spilledBytes }) => [
    ...(localBytes > budget.localBytes
      ? [`${name} takes ${localBytes} bytes of local memory, of ${budget.localBytes}`]
      : []),
    ...(spilledBytes > spills
      ? [`${name} spills ${spilledBytes} bytes of registers, ${spills} are allowed`]
      : []),
  ]);
  return [...long, ...resources];
}

/**
 * Describes kernels that a program should contain but does not. ocloc lists only kernels that spill registers, so it is
 * exempt.
 */
export const absent = ({ compiler }, { kernels: asked }, kernels) =>
  compiler === 'ocloc'
    ? []
    : [...asked]
        .filter((name) => !kernels.some((kernel) => kernel.name === name))
        .map((name) => `it is asked for ${name}, which it has not`);

/** Runs `work` on each element of a list, one per processor at a time. */
async function inParallel(list, work) {
  const left = [...list.entries()];
  const worker = async () => {
    for (let next = left.shift(); next; next = left.shift()) await work(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

async function main() {
  const { values } = parseArgs({
    options: {
      target: { type: 'string' },
      file: { type: 'string', default: '' },
      most: { type: 'string', default: '24' },
      seed: { type: 'string', default: '1000' },
      all: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      require: { type: 'boolean', default: false },
      fetch: { type: 'boolean', default: false },
    },
  });
  const { TARGETS } = await import('../dist/scripts/vendors.js');
  const { variantsOf } = await import('../dist/scripts/variants.js');
  if (values.fetch) fetchOcloc();
  const names = values.target?.split(',') ?? TARGETS.map(({ target }) => target);
  const unknown = names.filter((name) => !TARGETS.some(({ target }) => target === name));
  const most = values.all ? Number.POSITIVE_INFINITY : Number(values.most);
  if (unknown.length > 0 || !(most > 0)) {
    console.error(
      `unknown target ${unknown.join(' ')}: there are ${TARGETS.map(({ target }) => target).join(' ')}`,
    );
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), 'clsort-compile-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  let [built, failed] = [0, 0];
  const missing = new Map();
  for (const [t, one] of TARGETS.filter(({ target }) => names.includes(target)).entries()) {
    const { compiler, target } = one;
    const lacks = COMPILERS[compiler].missing();
    if (lacks !== undefined) {
      missing.set(lacks, [...(missing.get(lacks) ?? []), target]);
      continue;
    }
    const all = (await variantsOf(one)).filter(({ file }) => file.includes(values.file));
    const chosen = drawn(all, most, Number(values.seed) + t);
    const worst = { registers: 0, spilledBytes: 0, localBytes: 0 };
    await inParallel(chosen, async (variant, i) => {
      const { kernels, errors, statements } = await COMPILERS[compiler].build(
        variant,
        one,
        folder,
        `${target}-${i}`,
      );
      const wrong = [
        ...errors,
        ...absent(one, variant, kernels),
        ...excesses(one, variant, kernels, statements),
      ];
      built++;
      if (wrong.length > 0) {
        failed++;
        console.log(
          `FAILED: cl/${variant.file} for ${target} (${variant.purpose}: ${variant.options})\n  ${wrong.join('\n  ')}`,
        );
      }
      for (const kernel of kernels) {
        for (const what of Object.keys(worst)) worst[what] = Math.max(worst[what], kernel[what]);
        if (values.json)
          console.log(JSON.stringify({ target, file: variant.file, options: variant.options, ...kernel }));
      }
    });
    console.log(
      `${target}: ${chosen.length} of ${all.length} programs by ${compiler}, at most ${worst.registers} registers, ` +
        `${worst.spilledBytes} bytes spilled, ${worst.localBytes} bytes of local memory`,
    );
  }
  for (const [what, targets] of missing) console.log(`NOT TRIED (${targets.join(' ')}): ${what}`);
  console.log(`${built - failed} programs built within their budgets, ${failed} not, seed ${values.seed}`);
  return failed > 0 || built === 0 || (values.require && missing.size > 0) ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.exitCode = await main();
