import { readFileSync, writeFileSync } from 'node:fs';
import { algorithmNamed } from '../../algorithms/registry.js';
import { callOperations } from '../../bench/call-operations.js';
import { benchCalls, CALL_SCHEMA, type CallBench, callPlaces, callRegressions } from '../../bench/calls.js';
import {
  callCells,
  callHeadings,
  callsCsv,
  callsHtml,
  callsMarkdown,
  callsSvg,
} from '../../bench/calls-format.js';
import { benchFirst, firstCells, firstHeadings } from '../../bench/first.js';
import { cells, csv, headings, markdown, svg } from '../../bench/format.js';
import { benchHtml } from '../../bench/html.js';
import { claimText, ladderCells, ladderHeadings, ladderHtml, ladderSvg } from '../../bench/ladder/format.js';
import { LADDERS, type LadderName, ladder } from '../../bench/ladder/ladder.js';
import { MODES, type Mode } from '../../bench/modes.js';
import {
  benchDevices,
  regressions,
  SORT_SCHEMA,
  type SortBench,
  type SortBenches,
  type SortCase,
} from '../../bench/sorts.js';
import { deviceSpecs } from '../../device/platform/select-device.js';
import { DISTRIBUTIONS, type Distribution } from '../../io/operations/gen.js';
import { ioError } from '../../io/streams/raw.js';
import { dtypeInfo } from '../../keys/dtype.js';
import { IoError, UsageError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { invalidName } from '../../util/suggest.js';
import { assertWholeNumber } from '../../util/whole-number.js';
import { listed, readCount, readCounts } from '../arguments.js';
import { type Console, print, say } from '../console.js';
import { readDevice, readDevices } from '../device-arguments.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { assertAtMostOne, cannotCombine, ONE_FORMAT } from '../option-errors.js';
import {
  type BenchArguments,
  type BenchName,
  CALL_COUNTS,
  COUNT,
  FIRST_COUNT,
  SORT_AXES,
} from '../options/bench.js';
import { ProgressBar } from '../progress-bar.js';
import { table } from '../table.js';

/** Benchmarks by name. Each prints its own rows and returns whether all of them are correct. */
const BENCHES: Readonly<Record<BenchName, (args: BenchArguments, console: Console) => Promise<ExitCode>>> = {
  calls: runCalls,
  first: runFirst,
  ladder: runLadder,
  sorts: runSorts,
};

export async function run(args: BenchArguments, console: Console): Promise<ExitCode> {
  if (args.of !== undefined && args.what !== 'ladder') {
    throw new UsageError(
      `cannot run clsort bench ${args.what} ${args.of}: ${args.of} is a ladder. Run clsort bench ladder ${args.of}`,
    );
  }
  return BENCHES[args.what](args, console);
}

/** Calls of each process of `bench first`. */
const FIRST_CALLS = 100;

async function runFirst(args: BenchArguments, console: Console): Promise<ExitCode> {
  const other = (['csv', 'markdown', 'svg', 'html', 'baseline'] as const).find((name) => args[name]);
  if (other !== undefined) throw cannotCombine(`--${other}`, 'first', 'it prints a table', 'Pass --json');
  const n = readCount(args.count ?? FIRST_COUNT);
  if (n === 0 || n % 1000 !== 0)
    throw invalidArgument('--count', 'a multiple of 1000, the length of rows', n);
  const device = readDevice(args.device, 'bench first');
  const spec = args.device === undefined ? 'auto' : device.id;
  const { operation, quick } = args;
  if (!args.json) print(console, firstHeadings.join('\t'));
  const bench = await benchFirst({
    ...{ device, spec, n, quick, calls: FIRST_CALLS, operations: listed(operation) },
    ...{ main: process.argv[1] ?? '', signal: console.signal },
    onRow: (row) => {
      if (!args.json) print(console, firstCells(row).join('\t'));
    },
  });
  if (console.signal.aborted) return EXIT.interrupted;
  const command = commandOf('first', { count: n, ...deviceOf(args), operation });
  if (args.json)
    print(console, JSON.stringify({ ...bench, command: quick ? `${command} --quick` : command }, null, 2));
  return bench.rows.some(({ result }) => result === 'wrong' || result === 'error') ? EXIT.notSorted : EXIT.ok;
}

async function runLadder(args: BenchArguments, console: Console): Promise<ExitCode> {
  const { repeats, json, svg: plot, html, of } = args;
  if (checkOutput(args) && !json)
    throw new UsageError(
      'cannot print a ladder as CSV or Markdown: only sorts and calls have these formats. Pass --json',
    );
  if (args.baseline !== undefined)
    throw new UsageError('cannot use --baseline with bench ladder: only sorts and calls have baselines');
  const count = args.count ?? COUNT;
  const counts = readSizes(count);
  const ladders = of === undefined ? LADDERS : [of as LadderName];
  const { devices, deviceText } = ladderDevices(args.device);
  const command = commandOf(['ladder', ...(of === undefined ? [] : [of])].join(' '), {
    ...{ count, device: deviceText, repeats },
  });
  const bar = new ProgressBar(console);
  bar.update('ladder', 0, Number.NaN);
  let done = 0;
  const onRow = (): void => bar.update('ladder', ++done, Number.NaN);
  const measured = await ladder({ devices, counts, ladders, rounds: repeats, onRow }).finally(() =>
    bar.clear(),
  );
  const { rows, claims } = measured;
  if (json) {
    const [first] = measured.devices;
    const date = new Date().toISOString().slice(0, 10);
    const facts = { schema: 'clsort.bench.ladder/2', date, command, device: first?.info, n: counts[0] };
    print(console, JSON.stringify({ ...facts, ...measured }, null, 2));
  } else {
    const names = measured.devices.map(({ info }) => info.name).join(', ');
    print(console, `u32 keys on ${names} and the host; medians of ${repeats}; x is against the first step\n`);
    const lines = [ladderHeadings, ...rows.map(ladderCells)];
    const numbers = ladderHeadings.map((_, i) =>
      i >= 3 && i <= 10 ? ('right' as const) : ('left' as const),
    );
    print(console, table(lines, numbers));
    print(console, `\n${claims.map(claimText).join('\n')}`);
  }
  if (plot !== undefined) writePlot(plot, ladderSvg(measured));
  if (html !== undefined) writePlot(html, ladderHtml(measured, command));
  return rows.some(({ result }) => result === 'wrong') ? EXIT.notSorted : EXIT.ok;
}

/**
 * Selects the devices of a ladder. The host is always measured and may be named as well.
 *
 * @throws UsageError when only the host is named
 */
function ladderDevices(given: BenchArguments['device']): { devices: string[]; deviceText: string } {
  const specs = deviceSpecs(given ?? ['auto']);
  const own = specs.filter((spec) => spec !== 'host');
  if (own.length === 0) readDevices(specs); // throws: nothing to compare with
  const devices = given === undefined ? ['auto'] : readDevices(own).map(({ id }) => id);
  return { devices, deviceText: specs.join(',') };
}

async function runSorts(args: BenchArguments, console: Console): Promise<ExitCode> {
  const { repeats } = args;
  const machine = checkOutput(args);
  const cases = readCases(args);
  const before = args.baseline === undefined ? undefined : readBaseline(args.baseline);
  const bar = new ProgressBar(console);
  let done = 0;
  const devices = benchDevicesOf(args.device);
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
  // A baseline of one device applies to every device; in a baseline of several, each device has its own.
  const slower = benches.flatMap((bench) => {
    const old = before?.length === 1 ? before[0] : before?.find(({ device }) => device === bench.device);
    return old ? regressions(old, bench) : [];
  });
  return printSlower(slower.map(cells), console);
}

/**
 * Prints the regressions and returns the exit code.
 *
 * @param slower cells of the rows that are slower than the baseline
 */
function printSlower(slower: readonly (readonly string[])[], console: Console): ExitCode {
  for (const row of slower) say(console, `clsort: slower than the baseline: ${row.join(' ')}`);
  return slower.length > 0 ? EXIT.notSorted : EXIT.ok;
}

/**
 * Checks `--repeats` and the output format.
 *
 * @returns whether the result is printed in a machine-readable format
 * @throws UsageError when `--repeats` is not a whole number from 1 on, or when several formats are given
 */
function checkOutput({ repeats, json, csv: wantsCsv, markdown: wantsMarkdown }: BenchArguments): boolean {
  assertWholeNumber('--repeats', repeats);
  assertAtMostOne({ json, csv: wantsCsv, markdown: wantsMarkdown }, ONE_FORMAT);
  return json || wantsCsv || wantsMarkdown;
}

async function runCalls(args: BenchArguments, console: Console): Promise<ExitCode> {
  const { repeats, chain } = args;
  const machine = checkOutput(args);
  assertWholeNumber('--chain', chain);
  const axes = Object.entries(SORT_AXES) as [keyof typeof SORT_AXES, string][];
  const [otherOptions] = axes.filter(([name, value]) => args[name] !== value).map(([name]) => name);
  if (otherOptions !== undefined) {
    throw new UsageError(
      `cannot use --${otherOptions} with bench calls: they use uniform u32 keys. Run clsort bench sorts`,
    );
  }
  const before = args.baseline === undefined ? undefined : readCallBaseline(args.baseline);
  const operations = callOperations(listed(args.operation));
  const places = callPlaces(args.place);
  const given = args.count === undefined ? undefined : readSizes(args.count);
  const { id, type } = readDevice(args.device, 'bench calls');
  const count = args.count ?? CALL_COUNTS[type === 'gpu' ? 'gpu' : 'other'];
  const counts = given ?? readSizes(count);
  const command = commandOf('calls', {
    ...{ count, ...deviceOf(args), operation: args.operation, place: args.place },
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
  return printSlower(before ? callRegressions(before, bench).map(callCells) : [], console);
}

const jsonOf = (benches: readonly SortBench[]): SortBench | SortBenches =>
  benches.length === 1 && benches[0] ? benches[0] : { schema: 'clsort.bench.sorts/2', benches };

/** Returns the command line that repeats a measurement. */
function commandOf(what: string, options: Readonly<Record<string, string | number>>): string {
  const quoted = (text: string): string =>
    /^[\w.,:^+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
  const words = Object.entries(options).map(([name, value]) => `--${name} ${quoted(String(value))}`);
  return `clsort bench ${what} ${words.join(' ')}`;
}

/** Returns the `--device` option in a form that can be given again. */
const deviceOf = ({ device = ['auto'] }: BenchArguments) => ({ device: device.join(',') });

/** Devices that are measured in turn; the best device when none is named. */
const benchDevicesOf = (given: BenchArguments['device']): string[] =>
  given === undefined ? ['auto'] : readDevices(given).map(({ id }) => id);

function sortsCommandOf(args: BenchArguments): string {
  const { count = COUNT, algorithm, dtype, mode, distribution, repeats } = args;
  return commandOf('sorts', { count, ...deviceOf(args), algorithm, dtype, mode, distribution, repeats });
}

/**
 * Parses the sizes to measure.
 *
 * @throws UsageError when a size is malformed or 0
 */
function readSizes(text: string): number[] {
  const counts = readCounts(text);
  if (counts.includes(0)) throw invalidArgument('--count', 'numbers of keys above 0', text);
  return counts;
}

/**
 * Returns every combination of the axes.
 *
 * @throws UsageError when a mode, a distribution, an algorithm or a size is unknown
 * @throws DtypeError when a dtype is unknown
 */
function readCases({ algorithm, dtype, mode, distribution, count = COUNT }: BenchArguments): SortCase[] {
  const modes = listed(mode).map((word): Mode => {
    const found = MODES.find((known) => known === word);
    if (!found) throw invalidName('--mode', word, MODES);
    return found;
  });
  const distributions = listed(distribution).map((word): Distribution => {
    const found = DISTRIBUTIONS.find((known) => known === word);
    if (!found) throw invalidName('--distribution', word, DISTRIBUTIONS);
    return found;
  });
  const dtypes = listed(dtype).map((word) => dtypeInfo(word).name);
  const counts = readSizes(count);
  const algorithms = listed(algorithm).map((name) => (name === 'auto' ? name : algorithmNamed(name).name));
  return algorithms.flatMap((name) =>
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
    throw new IoError(`cannot read the baseline ${file}: ${(error as Error).message}`, { cause: error });
  }
}

const baselineError = (file: string, what: string): UsageError =>
  new UsageError(`cannot read the baseline ${file}: it is not the output of 'clsort bench ${what} --json'`);

function readCallBaseline(file: string): CallBench {
  const bench = readJson(file) as CallBench | null;
  if (bench?.schema === CALL_SCHEMA) return bench;
  throw baselineError(file, 'calls');
}

function readBaseline(file: string): readonly SortBench[] {
  const bench = readJson(file) as SortBench | SortBenches | null;
  if (bench?.schema === SORT_SCHEMA) return [bench];
  if (bench?.schema === 'clsort.bench.sorts/2') return bench.benches;
  throw baselineError(file, 'sorts');
}

function writePlot(file: string, plot: string): void {
  try {
    writeFileSync(file, plot);
  } catch (error) {
    throw ioError('write', file, error);
  }
}
