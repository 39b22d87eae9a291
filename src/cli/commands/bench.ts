import { readFileSync, writeFileSync } from 'node:fs';
import type { Argv } from 'yargs';
import { algorithmNamed } from '../../algorithms/registry.js';
import { CALL_OPERATIONS, callOperations } from '../../bench/call-operations.js';
import { benchCalls, CALL_SCHEMA, type CallBench, callPlaces, callRegressions } from '../../bench/calls.js';
import {
  callCells,
  callHeadings,
  callsCsv,
  callsHtml,
  callsMarkdown,
  callsSvg,
} from '../../bench/calls-format.js';
import { cells, csv, headings, markdown, svg } from '../../bench/format.js';
import { benchHtml } from '../../bench/html.js';
import { type LadderRow, ladder } from '../../bench/ladder.js';
import {
  benchDevices,
  MODES,
  type Mode,
  regressions,
  SORT_SCHEMA,
  type SortBench,
  type SortBenches,
  type SortCase,
} from '../../bench/sorts.js';
import { Device } from '../../device/device.js';
import { findDevices } from '../../device/platform.js';
import { selectDevice } from '../../device/select.js';
import { DISTRIBUTIONS, type Distribution } from '../../io/gen.js';
import { dtypeInfo } from '../../keys/dtype.js';
import { IoError, UsageError } from '../../util/errors.js';
import { unknownName } from '../../util/suggest.js';
import { listed, readCount, readCounts } from '../arguments.js';
import { type Console, print, say } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { ProgressBar } from '../progress-bar.js';
import { grouped, secondsText, table } from '../table.js';

export const command = 'bench <what>';
export const describe =
  'Measure this device: sorts, calls of every operation, or ladder, the steps of reduce, scan and histogram';

export interface BenchArguments {
  readonly what: string;
  readonly count?: string;
  readonly device: string;
  readonly json: boolean;
  readonly algorithm: string;
  readonly dtype: string;
  readonly mode: string;
  readonly distribution: string;
  readonly operation: string;
  readonly place: string;
  readonly chain: number;
  readonly repeats: number;
  readonly csv: boolean;
  readonly markdown: boolean;
  readonly svg?: string;
  readonly html?: string;
  readonly baseline?: string;
}

/** Keys that are measured where nothing else is asked for. */
const COUNT = '4Mi';
const CALL_COUNTS = { gpu: '2^16..2^24:2', other: '2^16..2^22:2' } as const;

/** What only sorts are measured by, and what it is where it is not given. */
const SORT_AXES = { algorithm: 'auto', dtype: 'u32', mode: 'keys', distribution: 'uniform' } as const;

/** What can be measured; each prints its own rows and says whether all of them are right. */
const BENCHES: Readonly<Record<string, (args: BenchArguments, console: Console) => Promise<ExitCode>>> = {
  calls: runCalls,
  ladder: runLadder,
  sorts: runSorts,
};

export const builder = (yargs: Argv) =>
  yargs
    .positional('what', { type: 'string', describe: Object.keys(BENCHES).join(' or '), demandOption: true })
    .option('count', {
      type: 'string',
      describe: `number of keys: 1000, 1e6, 16Mi, 2^24, by default ${COUNT}; sorts, calls: several, and ranges 2^10..2^24; calls: by default ${CALL_COUNTS.gpu} on a GPU, ${CALL_COUNTS.other} on others`,
    })
    .option('device', {
      type: 'string',
      default: 'auto',
      describe: 'auto, cpu, gpu, P:D or a part of a name; sorts: several, with commas',
    })
    .option('json', {
      type: 'boolean',
      default: false,
      describe: 'print { schema, device, …, rows } as JSON',
    })
    .option('algorithm', {
      type: 'string',
      default: SORT_AXES.algorithm,
      describe: 'sorts: names, with commas',
    })
    .option('dtype', { type: 'string', default: SORT_AXES.dtype, describe: 'sorts: key types, with commas' })
    .option('mode', { type: 'string', default: SORT_AXES.mode, describe: `sorts: of ${MODES.join(' ')}` })
    .option('distribution', {
      type: 'string',
      default: SORT_AXES.distribution,
      describe: 'sorts: as clsort gen has them',
    })
    .option('operation', {
      type: 'string',
      default: 'all',
      describe: `calls: all, or of ${CALL_OPERATIONS.map(({ name }) => name).join(' ')}; topK and segmentedSort are all of theirs`,
    })
    .option('place', {
      type: 'string',
      default: 'both',
      describe: 'calls: on device arrays (device), from typed array to typed array (host), or both',
    })
    .option('chain', {
      type: 'number',
      default: 50,
      describe: 'calls: most calls that are made without waiting in between',
    })
    .option('repeats', { type: 'number', default: 7, describe: 'sorts, calls: repetitions of each case' })
    .option('csv', { type: 'boolean', default: false, describe: 'sorts, calls: print CSV' })
    .option('markdown', { type: 'boolean', default: false, describe: 'sorts, calls: print a Markdown table' })
    .option('svg', { type: 'string', nargs: 1, describe: 'sorts, calls: write a plot of keys/s over n' })
    .option('html', {
      type: 'string',
      nargs: 1,
      describe: 'sorts, calls: write a page with plots and all rows',
    })
    .option('baseline', {
      type: 'string',
      nargs: 1,
      describe: 'sorts, calls: JSON of an earlier run; exit 1 when slower beyond noise',
    })
    .example('$0 bench sorts --count 64Ki,1Mi,16Mi --json', 'each size, verified, then timed')
    .example(
      '$0 bench sorts --count 2^10..2^24:2 --algorithm auto,amd,tiled --html sorts.html',
      'where which is the fastest, drawn',
    )
    .example(
      '$0 bench calls --count 2^16..2^24:4 --operation sort,argsort,topK --place device',
      'what a call takes beside its kernels, awaited and in a chain',
    )
    .example('$0 bench ladder', 'how each step of the lectures fares here');

export async function run(args: BenchArguments, console: Console): Promise<ExitCode> {
  const bench = BENCHES[args.what];
  if (!bench) throw new UsageError(unknownName('bench', args.what, Object.keys(BENCHES)));
  return bench(args, console);
}

async function runLadder({ count, device: spec, json }: BenchArguments, console: Console): Promise<ExitCode> {
  const n = readCount(count ?? COUNT);
  if (n === 0) throw new UsageError('--count is 0: there is nothing to measure');
  const device = await Device.open(spec);
  try {
    const rows = await ladder(device, { n });
    if (json) {
      const report = { schema: 'clsort.bench.ladder/1', device: device.info, n, rows };
      print(console, JSON.stringify(report, null, 2));
    } else {
      print(
        console,
        `${grouped(n)} u32 keys on ${device.info.name}; best of 5; x is against the first step\n`,
      );
      print(console, ladderTable(rows));
    }
    return rows.every(({ result }) => result === 'right') ? EXIT.ok : EXIT.notSorted;
  } finally {
    await device.close();
  }
}

async function runSorts(args: BenchArguments, console: Console): Promise<ExitCode> {
  const { repeats } = args;
  const machine = checkOutput(args);
  const cases = readCases(args);
  const before = args.baseline === undefined ? undefined : readBaseline(args.baseline);
  const bar = new ProgressBar(console);
  let done = 0;
  const devices = listed(args.device);
  const total = devices.length * cases.length;
  if (!machine) print(console, headings(devices.length > 1).join('\t'));
  bar.update('bench', done, total);
  const benches = await benchDevices({
    devices,
    cases,
    repeats,
    onRow: (row) => {
      bar.clear();
      if (!machine) print(console, cells(row).join('\t'));
      bar.update('bench', ++done, total);
    },
  }).finally(() => bar.clear());
  if (args.json) print(console, JSON.stringify(jsonOf(benches), null, 2));
  if (args.csv) print(console, csv(benches));
  if (args.markdown) print(console, markdown(benches));
  if (args.svg !== undefined) writePlot(args.svg, svg(benches));
  if (args.html !== undefined) writePlot(args.html, benchHtml(benches, sortsCommandOf(args)));
  const rows = benches.flatMap((bench) => bench.rows);
  if (rows.some(({ result }) => result === 'wrong' || result === 'error')) return EXIT.notSorted;
  // A result of one device is the baseline of any; of several, each has its own.
  const slower = benches.flatMap((bench) => {
    const old = before?.length === 1 ? before[0] : before?.find(({ device }) => device === bench.device);
    return old ? regressions(old, bench) : [];
  });
  return tellSlower(slower.map(cells), console);
}

/** @param slower cells of rows that are slower than the baseline */
function tellSlower(slower: readonly (readonly string[])[], console: Console): ExitCode {
  for (const row of slower) say(console, `clsort: slower than the baseline: ${row.join(' ')}`);
  return slower.length > 0 ? EXIT.notSorted : EXIT.ok;
}

/** @returns whether the result is printed for programs @throws UsageError */
function checkOutput({ repeats, json, csv: wantsCsv, markdown: wantsMarkdown }: BenchArguments): boolean {
  if (!Number.isInteger(repeats) || repeats < 1) throw new UsageError('--repeats: expected 1 or more');
  const formats = [json, wantsCsv, wantsMarkdown].filter(Boolean).length;
  if (formats > 1) throw new UsageError('--json, --csv, --markdown: expected one of them');
  return formats > 0;
}

async function runCalls(args: BenchArguments, console: Console): Promise<ExitCode> {
  const { repeats, chain } = args;
  const machine = checkOutput(args);
  if (!Number.isInteger(chain) || chain < 1) throw new UsageError('--chain: expected 1 or more');
  const axes = Object.entries(SORT_AXES) as [keyof typeof SORT_AXES, string][];
  const [foreign] = axes.filter(([name, value]) => args[name] !== value).map(([name]) => name);
  if (foreign !== undefined) {
    throw new UsageError(`--${foreign} is for 'bench sorts': calls are of uniform u32 keys`);
  }
  const before = args.baseline === undefined ? undefined : readCallBaseline(args.baseline);
  const operations = callOperations(listed(args.operation));
  const places = callPlaces(args.place);
  const given = args.count === undefined ? undefined : readSizes(args.count);
  const { id, type } = selectDevice(args.device, findDevices()).info;
  const count = args.count ?? CALL_COUNTS[type === 'gpu' ? 'gpu' : 'other'];
  const counts = given ?? readSizes(count);
  const command = commandOf('calls', {
    ...{ count, device: args.device, operation: args.operation, place: args.place },
    ...{ chain, repeats },
  });
  const bar = new ProgressBar(console);
  let done = 0;
  const total = counts.length * operations.length * places.length;
  if (!machine) print(console, callHeadings.join('\t'));
  bar.update('bench', done, total);
  const bench = await benchCalls({
    ...{ device: id, operations, counts, places, repeats, chain },
    onRow: (row) => {
      bar.clear();
      if (!machine) print(console, callCells(row).join('\t'));
      bar.update('bench', ++done, total);
    },
  }).finally(() => bar.clear());
  if (args.json) print(console, JSON.stringify({ ...bench, command }, null, 2));
  if (args.csv) print(console, callsCsv(bench));
  if (args.markdown) print(console, callsMarkdown(bench));
  if (args.svg !== undefined) writePlot(args.svg, callsSvg(bench));
  if (args.html !== undefined) writePlot(args.html, callsHtml(bench, command));
  if (bench.rows.some(({ result }) => result === 'wrong' || result === 'error')) return EXIT.notSorted;
  return tellSlower(before ? callRegressions(before, bench).map(callCells) : [], console);
}

const jsonOf = (benches: readonly SortBench[]): SortBench | SortBenches =>
  benches.length === 1 && benches[0] ? benches[0] : { schema: 'clsort.bench.sorts/2', benches };

/** The line that repeats a measurement. */
function commandOf(what: string, options: Readonly<Record<string, string | number>>): string {
  const quoted = (text: string): string =>
    /^[\w.,:^+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
  const words = Object.entries(options).map(([name, value]) => `--${name} ${quoted(String(value))}`);
  return `clsort bench ${what} ${words.join(' ')}`;
}

function sortsCommandOf(args: BenchArguments): string {
  const { count = COUNT, device, algorithm, dtype, mode, distribution, repeats } = args;
  return commandOf('sorts', { count, device, algorithm, dtype, mode, distribution, repeats });
}

/** @throws UsageError where there is nothing to measure */
function readSizes(text: string): number[] {
  const counts = readCounts(text);
  if (counts.includes(0)) throw new UsageError('--count is 0: there is nothing to measure');
  return counts;
}

/** Every combination of the axes. */
function readCases({ algorithm, dtype, mode, distribution, count = COUNT }: BenchArguments): SortCase[] {
  const modes = listed(mode).map((word): Mode => {
    const found = MODES.find((known) => known === word);
    if (!found) throw new UsageError(unknownName('mode', word, MODES));
    return found;
  });
  const distributions = listed(distribution).map((word): Distribution => {
    const found = DISTRIBUTIONS.find((known) => known === word);
    if (!found) throw new UsageError(unknownName('distribution', word, DISTRIBUTIONS));
    return found;
  });
  const dtypes = listed(dtype).map((word) => dtypeInfo(word).name);
  const counts = readSizes(count);
  for (const name of listed(algorithm)) if (name !== 'auto') algorithmNamed(name);
  return listed(algorithm).flatMap((name) =>
    dtypes.flatMap((type) =>
      modes.flatMap((way) =>
        distributions.flatMap((spread) =>
          counts.map((n) => ({ algorithm: name, dtype: type, mode: way, distribution: spread, n })),
        ),
      ),
    ),
  );
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new IoError(`cannot read the baseline ${file}: ${String(error)}`, { cause: error });
  }
}

function readCallBaseline(file: string): CallBench {
  const bench = readJson(file) as CallBench | null;
  if (bench?.schema === CALL_SCHEMA) return bench;
  throw new UsageError(`${file} is no result of 'clsort bench calls --json'`);
}

function readBaseline(file: string): readonly SortBench[] {
  const bench = readJson(file) as SortBench | SortBenches | null;
  if (bench?.schema === SORT_SCHEMA) return [bench];
  if (bench?.schema === 'clsort.bench.sorts/2') return bench.benches;
  throw new UsageError(`${file} is no result of 'clsort bench sorts --json'`);
}

function writePlot(file: string, plot: string): void {
  try {
    writeFileSync(file, plot);
  } catch (error) {
    throw new IoError(`cannot write ${file}: ${String(error)}`, { cause: error });
  }
}

const HEADING = ['primitive', 'step', 'result', 'kernels', 'device', 'end to end', 'GB/s', 'x'];

function ladderTable(rows: readonly LadderRow[]): string {
  const lines = rows.map((row) => [
    row.primitive,
    row.step,
    row.result,
    ...[row.kernelSeconds, row.seconds, row.endToEndSeconds].map((time) =>
      time === null ? 'n/a' : secondsText(time),
    ),
    row.bytesPerSecond === null ? 'n/a' : (row.bytesPerSecond / 1e9).toFixed(1),
    row.speedup === null ? 'n/a' : row.speedup.toFixed(2),
  ]);
  return table([HEADING, ...lines], ['left', 'left', 'left', 'right', 'right', 'right', 'right', 'right']);
}
