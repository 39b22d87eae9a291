/**
 * Compares the host engine with other sorts on the CPU in one run, from typed array to new typed array:
 *
 *     node dist/scripts/bench-host.js --dtype u32,f64 --sizes 8,12,16,20,24 --threads 1,2 --json results.json
 *
 * A size is an exponent of two. `--threads` are numbers of threads of the host engine (default: those of the process),
 * `--distributions` those of `clsort gen` (default: uniform). Peers are the JavaScript engine,
 * `TypedArray.prototype.sort`, NumPy, NumPy without AVX-512, whose sort is slow on AMD's Zen 4, and `std::sort`. A missing
 * peer is skipped with a message. Every result is checked; a wrong one gets no time.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SEED } from '../src/bench/sorts.js';
import { type Timing, timing } from '../src/bench/statistics.js';
import { type Distribution, generate } from '../src/io/operations/gen.js';
import { bytesOf, keyColumn } from '../src/keys/array.js';
import { Sorter } from '../src/sort/api/sorter.js';
import { hostSort } from '../src/sort/host/host-sort.js';
import { packageRoot } from '../src/util/paths.js';
import { hostThreads } from '../src/util/threads.js';
import { WITHOUT_AVX512 } from './peers/numpy.js';

const { values: options } = parseArgs({
  options: {
    dtype: { type: 'string', default: 'u32,f64' },
    sizes: { type: 'string', default: '8,12,16,20,24' },
    threads: { type: 'string', default: String(hostThreads()) },
    distributions: { type: 'string', default: 'uniform' },
    python: { type: 'string', default: 'python3' },
    json: { type: 'string' },
  },
});

const ARRAYS = { u32: Uint32Array, f64: Float64Array };
type Dtype = keyof typeof ARRAYS;
type Keys = Uint32Array | Float64Array;

interface Row {
  readonly dtype: Dtype;
  readonly distribution: string;
  readonly n: number;
  readonly sort: string;
  readonly time: Timing;
  /** Millions of keys a second, by the median. */
  readonly mkeys: number;
}

/** Seconds that a sort is repeated before and during its measurement: V8 compiles what runs often. */
const SECONDS = 0.5;
const MIN_REPEATS = 5;

const scratch = mkdtempSync(join(tmpdir(), 'clsort-host-'));
const peer = (name: string) => join(packageRoot, 'scripts/peers', name);
const isDtype = (name: string): name is Dtype => name in ARRAYS;
const same = (a: Keys, b: Keys): boolean => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

async function timeSort(sort: () => Keys | Promise<Keys>, expected: Keys): Promise<Timing | undefined> {
  for (const start = performance.now(); performance.now() - start < SECONDS * 1000; ) await sort();
  const seconds: number[] = [];
  for (let sum = 0; sum < SECONDS || seconds.length < MIN_REPEATS; ) {
    const start = performance.now();
    const sorted = await sort();
    seconds.push((performance.now() - start) / 1000);
    if (!same(sorted, expected)) return undefined;
    sum += seconds.at(-1) as number;
  }
  return timing(seconds);
}

/** Compiles `std-sort.cpp`. @returns its path; undefined without a compiler */
function stdSort(): string | undefined {
  const program = join(scratch, 'std-sort');
  try {
    execFileSync('g++', ['-O3', '-march=native', peer('std-sort.cpp'), '-o', program], { stdio: 'ignore' });
    return program;
  } catch {
    console.error('std::sort is left out: g++ is missing');
    return undefined;
  }
}

/** Runs the program of a peer. @returns undefined when it fails or sorts wrongly */
function timePeer(
  command: readonly string[],
  env: NodeJS.ProcessEnv = {},
): { version: string; time: Timing } | undefined {
  const [program, ...args] = command as [string, ...string[]];
  try {
    const line = execFileSync(program, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, ...env },
    });
    const { ok, version, seconds } = JSON.parse(line) as { ok: boolean; version: string; seconds: number[] };
    return ok ? { version, time: timing(seconds) } : undefined;
  } catch {
    return undefined;
  }
}

async function main(): Promise<void> {
  const rows: Row[] = [];
  const compiled = stdSort();
  const [load = 0] = loadavg();
  await using sorter = await Sorter.open({ device: 'host' });
  for (const dtype of options.dtype.split(',').filter(isDtype)) {
    for (const distribution of options.distributions.split(',')) {
      for (const n of options.sizes.split(',').map((exponent) => 2 ** Number(exponent))) {
        // Other peers order NaNs differently: doubles are from 0 to 1.
        const range = dtype === 'f64' && distribution === 'uniform' ? { range: [0, 1] as const } : {};
        const how = { distribution: distribution as Distribution, seed: SEED, ...range };
        const bytes = generate({ dtype, count: n, ...how });
        const keys: Keys = new ARRAYS[dtype](bytes.buffer as ArrayBuffer);
        const file = join(scratch, 'keys');
        writeFileSync(file, keys);
        const expected = keys.slice();
        hostSort(keyColumn(keys), {}, { sorted: expected });
        const first = rows.length;
        const add = (sort: string, time: Timing | undefined): void => {
          if (time) rows.push({ dtype, distribution, n, sort, time, mkeys: n / time.median / 1e6 });
          else console.error(`${sort}: missing or wrong for 2^${Math.log2(n)} ${dtype}`);
        };
        for (const threads of options.threads.split(',')) {
          process.env.CLSORT_THREADS = threads;
          add(`clsort, ${threads} threads`, await timeSort(() => sorter.sort(keys), expected));
        }
        const engine = () => {
          const sorted = keys.slice();
          hostSort(keyColumn(keys), {}, { sorted });
          return sorted;
        };
        add('JavaScript engine', await timeSort(engine, expected));
        add('TypedArray.prototype.sort', await timeSort(() => keys.toSorted() as Keys, expected));
        const repeats = String(Math.max(MIN_REPEATS, Math.min(500, Math.round(2 ** 25 / n))));
        const numpy = [options.python, peer('numpy-sort.py'), file, repeats, dtype];
        const plain = timePeer(numpy);
        add(`NumPy ${plain?.version ?? ''}`, plain?.time);
        if (plain) add(`NumPy ${plain.version} without AVX-512`, timePeer(numpy, WITHOUT_AVX512)?.time);
        if (compiled) add('std::sort', timePeer([compiled, file, repeats, dtype])?.time);
        const ours = rows[first]?.time.median ?? Number.NaN;
        for (const { sort, time, mkeys } of rows.slice(first)) {
          const ratio = (time.median / ours).toFixed(2);
          console.log(
            `${dtype} ${distribution} 2^${Math.log2(n)} ${sort}: ${mkeys.toFixed(1)} Mkeys/s, time x${ratio}`,
          );
        }
        if (!options.json) continue;
        const date = new Date().toISOString().slice(0, 10);
        const record = {
          schema: 'clsort.bench.host/1',
          cpu: cpus()[0]?.model,
          cores: cpus().length,
          date,
          load,
          rows,
        };
        writeFileSync(options.json, `${JSON.stringify(record, null, 1)}\n`);
      }
    }
  }
}

try {
  await main();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
