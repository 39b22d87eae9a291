/**
 * Measures all figures of the performance goals on one device in one run, and reports whether each goal is met:
 *
 *     nvcc -O3 -arch=native scripts/peers/cub.cu -o cub
 *     nvcc -O3 -arch=native scripts/peers/cub-operations.cu -o cub-operations
 *     node dist/scripts/bench-goals.js --device nvidia --out goals --cub ./cub --cub-operations ./cub-operations
 *     node dist/scripts/bench-goals.js --device cpu --out goals --python /usr/bin/python3
 *     node dist/scripts/bench-goals.js --out goals --read
 *
 * The parts are the other benchmarks. Each writes its file into the folder, so an interrupted run keeps its results.
 * The parts are `sorts` and `distributions` (compared with CUB), `operations` (with CUB), `calls` (with NumPy, CuPy and
 * PyTorch) and `arrays` (with `TypedArray.prototype.sort`). `--parts` selects some of them, `--seconds` limits the time
 * of each, and `--read` only judges a folder. Goals without a row are reported as
 * such. The exit code is 1 when a result was wrong, but not for a missed goal.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { markdownOf } from '../src/bench/format.js';
import { invalidName } from '../src/util/suggest.js';
import type { PeerCallRow } from './peers/calls.js';

const { values: options } = parseArgs({
  options: {
    device: { type: 'string', default: 'all' },
    out: { type: 'string', default: 'goals' },
    parts: { type: 'string', default: '' },
    seconds: { type: 'string', default: '300' },
    python: { type: 'string', default: 'python3' },
    cub: { type: 'string' },
    'cub-operations': { type: 'string' },
    read: { type: 'boolean', default: false },
  },
});

/** The fields of the benchmarks' files that goals use. Times are milliseconds; those of calls are seconds. */
interface SortRow {
  readonly algorithm: string;
  readonly dtype: string;
  readonly valueBytes: number;
  readonly n: number;
  readonly distribution: string;
  readonly result: string;
  readonly queuedMilliseconds?: number;
  readonly cub?: { readonly queued: { readonly int: number; readonly size_t: number } };
}
interface OperationRow {
  readonly operation: string;
  readonly dtype: string;
  readonly n: number;
  readonly result: string;
  readonly kernelMilliseconds?: number;
  readonly timesCub?: number;
}
interface ArrayRow {
  readonly n: number;
  readonly sort: string;
  readonly mode: string;
  readonly timesOurs?: number;
}
interface Rows {
  readonly sorts: SortRow;
  readonly distributions: SortRow;
  readonly operations: OperationRow;
  readonly calls: PeerCallRow;
  readonly arrays: ArrayRow;
}
type Part = keyof Rows;

const { device, out, python } = options;
const fileOf = (part: Part): string => join(out, `${part}.json`);

/** Runs another benchmark, which writes the rows of a part. */
function bench(part: Part, script: string, ...args: string[]): void {
  const path = fileURLToPath(new URL(`./${script}.js`, import.meta.url));
  const words = ['--device', device, '--json', fileOf(part), ...args];
  console.error(`${part}: ${script} ${words.join(' ')}`);
  const timeout = Number(options.seconds) * 1e3;
  const { status, signal } = spawnSync(process.execPath, [path, ...words], {
    stdio: ['ignore', 2, 'inherit'],
    timeout,
  });
  if (signal) console.error(`${part}: ended after ${options.seconds} s; what there is counts`);
  else if (status !== 0) process.exitCode = 1;
}

const withCub = (program: string | undefined): string[] => (program ? ['--cub', program] : []);

const isCpu = /cpu|pocl|portable/i.test(device);
const SORTS = ['sort', 'argsort', 'sortPairs'];
const DISTRIBUTIONS = 'sorted,reversed,constant,two,multiples,runs,timestamps,nearly-sorted';
const PARTS: Readonly<Record<Part, () => void | Promise<void>>> = {
  sorts: () => {
    const shapes = [
      '--algorithms',
      'planned',
      '--shapes',
      'u32,u64,f64,u32+4,u64+4',
      '--sizes',
      '20,22,24,26,28',
    ];
    bench('sorts', 'bench-device', ...shapes, ...withCub(options.cub));
  },
  distributions: () => {
    const all = ['--algorithms', 'planned', '--shapes', 'u32', '--distributions', DISTRIBUTIONS];
    bench('distributions', 'bench-device', ...all, '--sizes', '20,24,28', ...withCub(options.cub));
  },
  operations: () => {
    const all = ['--dtypes', 'u32,u64', '--sizes', '20,24'];
    bench('operations', 'bench-operations', ...all, ...withCub(options['cub-operations']));
  },
  calls: () => {
    const where = isCpu
      ? ['--place', 'host', '--sizes', '20,22']
      : ['--place', 'device', '--sizes', '16,20,22'];
    bench('calls', 'bench-peers', '--calls', '--python', python, ...where);
  },
  arrays: () => {
    const sizes = isCpu ? '20,24' : '16,24';
    bench('arrays', 'bench-peers', '--python', python, '--sizes', sizes, '--skip', 'boost.compute');
  },
};

/** A goal: a lower or upper bound for a figure of some rows. */
interface Goal<P extends Part> {
  readonly part: P;
  readonly goal: string;
  readonly least?: number;
  readonly most?: number;
  /** Set for goals about CPU devices; by default goals are about GPUs. */
  readonly cpu?: true;
  /** Returns the figure of a row; undefined when the goal does not apply to it. */
  readonly figure: (row: Rows[P]) => number | undefined;
}
const goal = <P extends Part>(one: Goal<P>) => one as unknown as Goal<Part>;

/** Returns the time of CUB's faster form divided by ours, both queued behind other work. */
const timesCub = ({ cub, queuedMilliseconds }: SortRow): number | undefined =>
  cub && queuedMilliseconds ? Math.min(cub.queued.int, cub.queued.size_t) / queuedMilliseconds : undefined;

/** Returns the time of the fastest peer divided by ours. */
function timesPeer({ peers }: PeerCallRow, key: 'timesOurs' | 'chainedTimesOurs'): number | undefined {
  const times = Object.values(peers).flatMap((peer) => (peer === 'wrong' ? [] : [peer[key] ?? []].flat()));
  return times.length > 0 ? Math.min(...times) : undefined;
}

const isWide = ({ dtype }: SortRow): boolean => dtype === 'u64' || dtype === 'f64';
const isSegments = ({ operation }: OperationRow): boolean => operation.startsWith('segments');
const isSort = ({ operation }: PeerCallRow): boolean => SORTS.includes(operation);

const GOALS: readonly Goal<Part>[] = [
  goal({
    part: 'sorts',
    goal: 'u32 × CUB',
    least: 1.25,
    figure: (row) => (isWide(row) || row.valueBytes > 0 ? undefined : timesCub(row)),
  }),
  goal({
    part: 'sorts',
    goal: 'pairs of 4 bytes × CUB',
    least: 1.1,
    figure: (row) => (row.valueBytes > 0 ? timesCub(row) : undefined),
  }),
  goal({
    part: 'sorts',
    goal: 'u64 and f64 × CUB from 2^24 on',
    least: 2,
    figure: (row) => (isWide(row) && row.valueBytes === 0 && row.n >= 2 ** 24 ? timesCub(row) : undefined),
  }),
  goal({ part: 'distributions', goal: 'u32 of any distribution × CUB', least: 1.25, figure: timesCub }),
  goal({
    part: 'operations',
    goal: 'segments × the faster form of CUB',
    least: 1.2,
    figure: (row) => (isSegments(row) ? row.timesCub : undefined),
  }),
  goal({
    part: 'operations',
    goal: 'reduce, scan, histogram and compaction × CUB',
    least: 0.95,
    figure: (row) => (isSegments(row) ? undefined : row.timesCub),
  }),
  goal({
    part: 'operations',
    goal: 'scan of 2^24 u32, ms of kernels',
    most: 0.045,
    figure: ({ operation, dtype, n, kernelMilliseconds }) =>
      operation === 'scan' && dtype === 'u32' && n === 2 ** 24 ? kernelMilliseconds : undefined,
  }),
  goal({
    part: 'operations',
    goal: 'histogram of 2^24 u32, ms of kernels',
    most: 0.03,
    figure: ({ operation, dtype, n, kernelMilliseconds }) =>
      operation === 'histogram' && dtype === 'u32' && n === 2 ** 24 ? kernelMilliseconds : undefined,
  }),
  goal({
    part: 'calls',
    goal: 'sort, argsort and pairs, awaited, × the best peer from 2^20 on',
    least: 1.3,
    figure: (row) => (isSort(row) && row.n >= 2 ** 20 ? timesPeer(row, 'timesOurs') : undefined),
  }),
  goal({
    part: 'calls',
    goal: 'sort, argsort and pairs, awaited, × the best peer below that',
    least: 1,
    figure: (row) => (isSort(row) && row.n < 2 ** 20 ? timesPeer(row, 'timesOurs') : undefined),
  }),
  goal({
    part: 'calls',
    goal: 'other operations, awaited, × the best peer from 2^22 on',
    least: 1,
    figure: (row) => (!isSort(row) && row.n >= 2 ** 22 ? timesPeer(row, 'timesOurs') : undefined),
  }),
  goal({
    part: 'calls',
    goal: 'other operations, in a chain, × the best peer below that',
    least: 1,
    figure: (row) => (!isSort(row) && row.n < 2 ** 22 ? timesPeer(row, 'chainedTimesOurs') : undefined),
  }),
  goal({
    part: 'calls',
    goal: 'microseconds of an awaited call over its kernels',
    most: 60,
    figure: ({ awaited, kernel }) => (awaited && kernel ? (awaited.median - kernel.median) * 1e6 : undefined),
  }),
  goal({
    part: 'arrays',
    goal: '2^16 u32 from array to array × CuPy',
    least: 1,
    figure: ({ n, sort, mode, timesOurs }) =>
      n === 2 ** 16 && mode === 'end to end' && /cupy/i.test(sort) ? timesOurs : undefined,
  }),
  goal({
    part: 'arrays',
    goal: '2^24 u32 from array to array × TypedArray.prototype.sort',
    cpu: true,
    least: 15,
    figure: ({ n, sort, mode, timesOurs }) =>
      n === 2 ** 24 && mode === 'end to end' && sort.startsWith('TypedArray') ? timesOurs : undefined,
  }),
  goal({
    part: 'calls',
    goal: 'every operation from array to array × NumPy from 2^20 on',
    cpu: true,
    least: 1,
    figure: (row) => (row.place === 'host' ? timesPeer(row, 'timesOurs') : undefined),
  }),
];

interface Record_ {
  readonly device: string;
  readonly driver: string;
  readonly date: string;
  readonly rows: readonly (SortRow | OperationRow | PeerCallRow | ArrayRow)[];
}
const records = new Map<Part, Record_>();

/** Returns the name that identifies a row in its part. */
function nameOf(row: Record_['rows'][number]): string {
  const words = 'operation' in row ? [row.operation] : 'distribution' in row ? [row.distribution] : [];
  const shape =
    'dtype' in row
      ? [`${row.dtype}${'valueBytes' in row && row.valueBytes > 0 ? `+${row.valueBytes}` : ''}`]
      : [];
  return [...words, ...shape, `2^${Math.log2(row.n)}`].join(' ');
}

function judge(): string {
  const table: string[][] = [['goal', 'wanted', 'rows', 'met', 'worst', 'missed by']];
  for (const { part, goal: what, least: lowerBound, most: upperBound, cpu = false, figure } of GOALS) {
    if (cpu !== isCpu) continue;
    const isMet = (value: number) =>
      (lowerBound === undefined || value >= lowerBound) && (upperBound === undefined || value <= upperBound);
    const found = (records.get(part)?.rows ?? []).flatMap((row) => {
      const value = figure(row as never);
      return value === undefined || Number.isNaN(value) ? [] : [{ name: nameOf(row), value }];
    });
    const order = found.toSorted((a, b) =>
      lowerBound === undefined ? b.value - a.value : a.value - b.value,
    );
    const missed = order.filter(({ value }) => !isMet(value));
    const wanted = lowerBound === undefined ? `≤ ${upperBound}` : `≥ ${lowerBound}`;
    const worst = order[0] ? `${order[0].value.toPrecision(3)} (${order[0].name})` : '';
    const others = missed.map(({ name, value }) => `${name} ${value.toPrecision(3)}`).join(', ');
    const met = found.length === 0 ? 'not measured' : `${found.length - missed.length}`;
    table.push([what, wanted, `${found.length}`, met, worst, others]);
  }
  return markdownOf(table);
}

const parts = (Object.keys(PARTS) as Part[]).filter(
  (part) => !isCpu || !['operations', 'distributions'].includes(part),
);
const chosen = options.parts === '' ? parts : options.parts.split(',');
for (const part of chosen) {
  if (!Object.hasOwn(PARTS, part)) throw invalidName('part', part, Object.keys(PARTS));
}
mkdirSync(out, { recursive: true });
if (!options.read) for (const part of chosen) await PARTS[part as Part]();
for (const part of Object.keys(PARTS) as Part[]) {
  if (existsSync(fileOf(part))) records.set(part, JSON.parse(readFileSync(fileOf(part), 'utf8')) as Record_);
}
const wrong = [...records].flatMap(([part, { rows }]) =>
  rows.flatMap((row) =>
    'result' in row && ['wrong', 'error', 'gave up'].includes(row.result)
      ? [`${part}: ${nameOf(row)}: ${row.result}`]
      : [],
  ),
);
const made = [
  ...new Set([...records.values()].map(({ device, driver, date }) => `${device}, driver ${driver}, ${date}`)),
];
console.log(`${made.join('; ')}\n\n${judge()}`);
if (wrong.length > 0) {
  console.log(`\nnot right:\n${wrong.map((line) => `- ${line}`).join('\n')}`);
  process.exitCode = 1;
}
