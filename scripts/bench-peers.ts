/**
 * Compares clsort with other sorts of the same u32 keys in one run, from array to new array and, if the peer reports
 * it, on the device alone:
 *
 *     node dist/scripts/bench-peers.js --device nvidia --sizes 16,20,24,28 --json results.json
 *
 * Peers are TypedArray.prototype.sort, a plain radix sort in JavaScript, NumPy, NumPy without AVX-512, std::sort, CuPy,
 * PyTorch, CUB and Boost.Compute. A missing peer is skipped with a message: `--python` (default: python3) provides the
 * packages, nvcc compiles the CUB program and g++ the other programs. `--skip` names peers to skip, as in the table, separated by commas. A size is
 * an exponent of two. Every result is checked; a wrong one gets no time.
 *
 *     node dist/scripts/bench-peers.js --calls --device nvidia --sizes 16,18,20,22,24,26 --json results.json
 *
 * With `--calls`, it measures calls of every operation as `clsort bench calls` does, compared with NumPy, CuPy and
 * PyTorch, and prints their times relative to clsort. `--operations` and `--place` (device, host; default: both) select
 * some, and `--chain` is the maximum number of calls without waiting in between.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { callPlaces } from '../src/bench/calls.js';
import { SEED } from '../src/bench/sorts.js';
import { type Timing, timing } from '../src/bench/statistics.js';
import { generate } from '../src/io/operations/gen.js';
import { bytesOf } from '../src/keys/array.js';
import { Sorter } from '../src/sort/api/sorter.js';
import type { SortReport } from '../src/sort/model/report.js';
import { packageRoot } from '../src/util/paths.js';
import { benchPeerCalls, ratioTable } from './peers/calls.js';
import { WITHOUT_AVX512 } from './peers/numpy.js';

const { values: options } = parseArgs({
  options: {
    device: { type: 'string', default: 'all' },
    sizes: { type: 'string', default: '16,20,24' },
    repeats: { type: 'string', default: '7' },
    python: { type: 'string', default: 'python3' },
    skip: { type: 'string', default: '' },
    json: { type: 'string' },
    calls: { type: 'boolean', default: false },
    operations: { type: 'string', default: 'all' },
    place: { type: 'string', default: 'both' },
    chain: { type: 'string', default: '50' },
  },
});
const skipped = options.skip.toLowerCase().split(',');
const repeats = Number(options.repeats);

/** Sorts with an LSD radix sort: 3 digits of 11 bits, all counted in one pass. */
function radixSort(keys: Uint32Array): Uint32Array {
  const bins = [new Uint32Array(2048), new Uint32Array(2048), new Uint32Array(2048)];
  const [low, middle, high] = bins as [Uint32Array, Uint32Array, Uint32Array];
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as number;
    (low[key & 2047] as number)++;
    (middle[(key >>> 11) & 2047] as number)++;
    (high[key >>> 22] as number)++;
  }
  let from = keys;
  let to = new Uint32Array(keys.length);
  let spare: Uint32Array<ArrayBuffer> | undefined;
  bins.forEach((counts, pass) => {
    let start = 0;
    for (let digit = 0; digit < 2048; digit++) {
      const count = counts[digit] as number;
      counts[digit] = start;
      start += count;
    }
    for (let i = 0; i < from.length; i++) {
      const key = from[i] as number;
      const digit = (key >>> (11 * pass)) & 2047;
      to[counts[digit] as number] = key;
      (counts[digit] as number)++;
    }
    const done = to;
    to = spare ?? new Uint32Array(keys.length);
    spare = done;
    from = done;
  });
  return from;
}

/**
 * Seconds of warm-up before timing, with at least one sort, also in the programs of peers: JIT-compiled code is slow at
 * first, and programs that sort repeatedly are soon past that.
 */
const WARM_UP_SECONDS = 1;

async function timeSort(sort: () => Uint32Array | Promise<Uint32Array>, expected: Uint32Array) {
  const seconds: number[] = [];
  const begin = performance.now();
  do {
    await sort();
  } while (performance.now() - begin < WARM_UP_SECONDS * 1000);
  for (let i = 0; i < repeats; i++) {
    const start = performance.now();
    const result = await sort();
    const took = (performance.now() - start) / 1000;
    if (Buffer.compare(bytesOf(result), bytesOf(expected)) !== 0) return 'wrong' as const;
    seconds.push(took);
  }
  return timing(seconds);
}

/** The output of a peer's program, one line of JSON. */
interface Answer {
  readonly version?: string;
  readonly seconds?: number[];
  readonly deviceSeconds?: number[];
  readonly ok?: boolean;
  /** Output of the CUB program: milliseconds. */
  readonly int?: number;
  readonly size_t?: number;
}

type Time = Timing | 'wrong' | 'missing';

interface Peer {
  readonly name: string;
  /** Returns program and arguments for a file of keys; undefined when it is missing. */
  readonly command: (file: string) => readonly string[] | undefined;
  /** Environment variables of the program, beside those of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

const scratch = mkdtempSync(join(tmpdir(), 'clsort-peers-'));
const script = (name: string) => join(packageRoot, 'scripts/peers', name);

/**
 * Compiles a peer's program.
 *
 * @returns its path; undefined when compiler, headers or library are missing
 */
function compiled(
  source: string,
  compiler: string,
  ...tries: readonly (readonly string[])[]
): string | undefined {
  const program = join(scratch, source.replace(/\W/g, '-'));
  for (const args of tries) {
    try {
      execFileSync(compiler, [script(source), '-o', program, ...args], { stdio: 'ignore' });
      return program;
    } catch {
      // the next one
    }
  }
  return undefined;
}

const CPP = ['-O2', '-std=c++14', '-w'];

function peersOf(platform: string): Peer[] {
  const wanted = (name: string) => !skipped.includes(name.toLowerCase());
  const cub = wanted('CUB') ? compiled('cub.cu', 'nvcc', ['-O3', '-arch=native']) : undefined;
  const boost =
    wanted('Boost.Compute') && existsSync('/usr/include/boost/compute')
      ? compiled('boost-compute.cpp', 'g++', [...CPP, '-lOpenCL'], [...CPP, '-l:libOpenCL.so.1'])
      : undefined;
  const std = wanted('std::sort')
    ? compiled('std-sort.cpp', 'g++', ['-O3', '-march=native', '-std=c++17'])
    : undefined;
  const python = (name: string, file: string, ...args: string[]) => ({
    name,
    command: (keys: string) => [options.python, script(file), keys, String(repeats), ...args],
  });
  return [
    python('NumPy', 'numpy-sort.py'),
    { ...python('NumPy without AVX-512', 'numpy-sort.py'), env: WITHOUT_AVX512 },
    {
      name: 'std::sort',
      command: (keys: string) => (std === undefined ? std : [std, keys, String(repeats), 'u32']),
    },
    python('CuPy', 'cupy-sort.py'),
    python('PyTorch on the CPU', 'torch-sort.py', 'cpu'),
    python('PyTorch on CUDA', 'torch-sort.py', 'cuda'),
    {
      name: 'CUB',
      command: (keys: string) => (cub === undefined ? cub : [cub, '32', '0', keys, String(repeats)]),
    },
    {
      name: 'Boost.Compute',
      command: (keys: string) => (boost === undefined ? boost : [boost, keys, String(repeats), platform]),
    },
  ].filter(({ name }) => wanted(name));
}

/** Runs a peer. A program that fails counts as missing; its message is on stderr. */
function run({ name, command, env }: Peer, file: string): { name: string; whole: Time; device?: Time } {
  const [program, ...args] = command(file) ?? [];
  if (program === undefined) return { name, whole: 'missing' };
  try {
    const line = execFileSync(program, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, ...env },
    });
    const answer = JSON.parse(line) as Answer;
    if (answer.int !== undefined && answer.size_t !== undefined) {
      const best = Math.min(answer.int, answer.size_t) / 1e3;
      return { name, whole: 'missing', device: timing([best]) };
    }
    const time = (seconds: number[]): Time => (answer.ok ? timing(seconds) : 'wrong');
    return {
      name: `${name} ${answer.version}`,
      whole: time(answer.seconds ?? []),
      ...(answer.deviceSeconds && { device: time(answer.deviceSeconds) }),
    };
  } catch {
    return { name, whole: 'missing' };
  }
}

/** Measures the device time of clsort for keys on the device; the sort before it is verified. */
async function deviceTime(sorter: Sorter, keys: Uint32Array): Promise<Time> {
  const array = await sorter.upload(keys);
  const into = sorter.createArray('u32', keys.length);
  const seconds: number[] = [];
  for (let i = 0; i < repeats + 20; i++) {
    let report: SortReport | undefined;
    await sorter.sort(array, {
      into,
      verify: i === 0,
      profile: true,
      onReport: (made) => {
        report = made;
      },
    });
    const stages = report?.stages.filter(({ stage }) => !/verif|load|probe|fill/.test(stage)) ?? [];
    if (i >= 20) seconds.push(stages.reduce((sum, stage) => sum + (stage.seconds ?? Number.NaN), 0));
  }
  array.dispose();
  into.dispose();
  return timing(seconds);
}

async function calls(): Promise<void> {
  const { device, sizes, python, json } = options;
  const words = process.argv.slice(2).filter((word, i, all) => word !== '--json' && all[i - 1] !== '--json');
  const bench = await benchPeerCalls({
    ...{ device, python, repeats, skipped, chain: Number(options.chain) },
    counts: sizes.split(',').map((exponent) => 2 ** Number(exponent)),
    operations: options.operations.split(','),
    places: callPlaces(options.place),
    command: `npm run bench:peers -- ${words.join(' ')}`,
    onBench: (made) => {
      if (json) writeFileSync(json, `${JSON.stringify(made, null, 1)}\n`);
      console.error(`2^${Math.log2(made.rows.at(-1)?.n ?? 0)} done`);
    },
    onMissing: (missing) => console.error(missing),
  });
  console.log(ratioTable(bench));
  if (bench.rows.some(({ result }) => result === 'wrong' || result === 'error')) process.exitCode = 1;
}

async function sorts(): Promise<void> {
  /** Load average of the machine: times from a loaded machine are not worth keeping. */
  const [load = 0] = loadavg();
  const sorter = await Sorter.open({ device: options.device });
  const rows: { n: number; sort: string; mode: 'end to end' | 'device'; time: Time; timesOurs?: number }[] =
    [];
  const described = (time: Time, n: number): string =>
    typeof time === 'object'
      ? `${(time.median * 1e3).toFixed(3)} ms ± ${(time.mad * 1e3).toFixed(3)}, ${(n / time.median / 1e6).toFixed(1)} Mkeys/s`
      : time;

  /** Writes the rows so far. */
  function save(file: string): void {
    const { name, platform, driver } = sorter.device ?? { name: 'host', platform: '', driver: '' };
    const date = new Date().toISOString().slice(0, 10);
    const record = { schema: 'clsort.bench.peers/2', device: name, platform, driver, date, load, rows };
    writeFileSync(file, `${JSON.stringify(record, null, 1)}\n`);
  }

  try {
    const peers = peersOf(sorter.device?.platform ?? '');
    for (const exponent of options.sizes.split(',')) {
      const n = 2 ** Number(exponent);
      const bytes = generate({ dtype: 'u32', count: n, distribution: 'uniform', seed: SEED });
      const keys = new Uint32Array(bytes.buffer as ArrayBuffer);
      const expected = n > 2 ** 24 ? radixSort(keys) : keys.toSorted(); // which would take a minute
      const file = join(scratch, 'keys.u32');
      writeFileSync(file, keys);

      const into = new Uint32Array(n);
      const [from, to] = [sorter.allocPinned('u32', n), sorter.allocPinned('u32', n)];
      from.set(keys);
      const ours = await timeSort(() => sorter.sort(keys), expected);
      const onDevice = sorter.device ? await deviceTime(sorter, keys) : ('missing' as const);
      const jsSorts = !skipped.includes('javascript') && n <= 2 ** 26;
      const all: { sort: string; whole: Time; device?: Time }[] = [
        { sort: 'clsort', whole: ours, device: onDevice },
        {
          sort: 'clsort, into an array that is there',
          whole: await timeSort(() => sorter.sort(keys, { into }), expected),
        },
        {
          sort: 'clsort, between arrays of alloc',
          whole: await timeSort(() => sorter.sort(from, { into: to }), expected),
        },
        ...(jsSorts
          ? [
              { sort: 'TypedArray.prototype.sort', whole: await timeSort(() => keys.toSorted(), expected) },
              { sort: 'radix sort in JavaScript', whole: await timeSort(() => radixSort(keys), expected) },
            ]
          : []),
        ...peers.map((peer) => {
          const { name, ...times } = run(peer, file);
          return { sort: name, ...times };
        }),
      ];
      for (const array of [from, to]) await sorter.freePinned(array);
      for (const [mode, best] of [
        ['end to end', ours],
        ['device', onDevice],
      ] as const) {
        for (const { sort, whole, device } of all) {
          const time = mode === 'device' ? device : whole;
          if (time === undefined || (mode === 'end to end' && time === 'missing' && device !== undefined))
            continue;
          const both = typeof time === 'object' && typeof best === 'object';
          const row = { n, sort, mode, time, ...(both && { timesOurs: time.median / best.median }) };
          rows.push(row);
          const ratio = row.timesOurs ? `, its time / ours x${row.timesOurs.toFixed(2)}` : '';
          console.log(`2^${exponent} ${mode} ${sort}: ${described(time, n)}${ratio}`);
        }
      }
      if (options.json) save(options.json); // the available one: large sizes take minutes
    }
  } finally {
    await sorter.close();
  }
}

try {
  await (options.calls ? calls() : sorts());
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
