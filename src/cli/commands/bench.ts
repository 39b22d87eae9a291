import { readFileSync, writeFileSync } from 'node:fs';
import type { Argv } from 'yargs';
import { algorithmNamed } from '../../algorithms/registry.js';
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
import { DISTRIBUTIONS, type Distribution } from '../../io/gen.js';
import { dtypeInfo } from '../../keys/dtype.js';
import { IoError, UsageError } from '../../util/errors.js';
import { listed, readCount, readCounts } from '../arguments.js';
import { type Console, print, say } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { ProgressBar } from '../progress-bar.js';
import { grouped, secondsText, table } from '../table.js';

export const command = 'bench <what>';
export const describe = 'Measure this device: sorts, or ladder, the steps of reduce, scan and histogram';

export interface BenchArguments {
  readonly what: string;
  readonly count: string;
  readonly device: string;
  readonly json: boolean;
  readonly algorithm: string;
  readonly dtype: string;
  readonly mode: string;
  readonly distribution: string;
  readonly repeats: number;
  readonly csv: boolean;
  readonly markdown: boolean;
  readonly svg?: string;
  readonly html?: string;
  readonly baseline?: string;
}

/** What can be measured; each prints its own rows and says whether all of them are right. */
const BENCHES: Readonly<Record<string, (args: BenchArguments, console: Console) => Promise<ExitCode>>> = {
  ladder: runLadder,
  sorts: runSorts,
};

export const builder = (yargs: Argv) =>
  yargs
    .positional('what', { type: 'string', choices: Object.keys(BENCHES), demandOption: true })
    .option('count', {
      type: 'string',
      default: '4Mi',
      describe: 'number of keys: 1000, 1e6, 16Mi, 2^24; sorts: several, and ranges 2^10..2^24',
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
    .option('algorithm', { type: 'string', default: 'auto', describe: 'sorts: names, with commas' })
    .option('dtype', { type: 'string', default: 'u32', describe: 'sorts: key types, with commas' })
    .option('mode', { type: 'string', default: 'keys', describe: `sorts: of ${MODES.join(' ')}` })
    .option('distribution', { type: 'string', default: 'uniform', describe: 'sorts: as clsort gen has them' })
    .option('repeats', { type: 'number', default: 7, describe: 'sorts: repetitions of each case' })
    .option('csv', { type: 'boolean', default: false, describe: 'sorts: print CSV' })
    .option('markdown', { type: 'boolean', default: false, describe: 'sorts: print a Markdown table' })
    .option('svg', { type: 'string', nargs: 1, describe: 'sorts: write a plot of keys/s over n' })
    .option('html', { type: 'string', nargs: 1, describe: 'sorts: write a page with plots and all rows' })
    .option('baseline', {
      type: 'string',
      nargs: 1,
      describe: 'sorts: JSON of an earlier run; exit 1 when slower beyond noise',
    })
    .example('$0 bench sorts --count 64Ki,1Mi,16Mi --json', 'each size, verified, then timed')
    .example(
      '$0 bench sorts --count 2^10..2^24:2 --algorithm auto,amd,tiled --html sorts.html',
      'where which is the fastest, drawn',
    )
    .example('$0 bench ladder', 'how each step of the lectures fares here');

export async function run(args: BenchArguments, console: Console): Promise<ExitCode> {
  const bench = BENCHES[args.what];
  if (!bench)
    throw new UsageError(`unknown bench '${args.what}': expected ${Object.keys(BENCHES).join(', ')}`);
  return bench(args, console);
}

async function runLadder({ count, device: spec, json }: BenchArguments, console: Console): Promise<ExitCode> {
  const n = readCount(count);
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
  if (!Number.isInteger(repeats) || repeats < 1) throw new UsageError('--repeats: expected 1 or more');
  const cases = readCases(args);
  const before = args.baseline === undefined ? undefined : readBaseline(args.baseline);
  const formats = [args.json, args.csv, args.markdown].filter(Boolean).length;
  if (formats > 1) throw new UsageError('--json, --csv, --markdown: expected one of them');
  const machine = formats > 0;
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
  if (args.html !== undefined) writePlot(args.html, benchHtml(benches, commandOf(args)));
  const rows = benches.flatMap((bench) => bench.rows);
  if (rows.some(({ result }) => result === 'wrong' || result === 'error')) return EXIT.notSorted;
  // A result of one device is the baseline of any; of several, each has its own.
  const slower = benches.flatMap((bench) => {
    const old = before?.length === 1 ? before[0] : before?.find(({ device }) => device === bench.device);
    return old ? regressions(old, bench) : [];
  });
  for (const row of slower) say(console, `clsort: slower than the baseline: ${cells(row).join(' ')}`);
  return slower.length > 0 ? EXIT.notSorted : EXIT.ok;
}

const jsonOf = (benches: readonly SortBench[]): SortBench | SortBenches =>
  benches.length === 1 && benches[0] ? benches[0] : { schema: 'clsort.bench.sorts/2', benches };

/** The line that repeats a measurement. */
function commandOf({ count, device, algorithm, dtype, mode, distribution, repeats }: BenchArguments): string {
  const options = { count, device, algorithm, dtype, mode, distribution, repeats };
  const quoted = (text: string): string =>
    /^[\w.,:^+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
  const words = Object.entries(options).map(([name, value]) => `--${name} ${quoted(String(value))}`);
  return `clsort bench sorts ${words.join(' ')}`;
}

/** Every combination of the axes. */
function readCases({ algorithm, dtype, mode, distribution, count }: BenchArguments): SortCase[] {
  const modes = listed(mode).map((word): Mode => {
    const found = MODES.find((known) => known === word);
    if (!found) throw new UsageError(`unknown mode '${word}': expected of ${MODES.join(' ')}`);
    return found;
  });
  const distributions = listed(distribution).map((word): Distribution => {
    const found = DISTRIBUTIONS.find((known) => known === word);
    if (!found)
      throw new UsageError(`unknown distribution '${word}': expected of ${DISTRIBUTIONS.join(' ')}`);
    return found;
  });
  const dtypes = listed(dtype).map((word) => dtypeInfo(word).name);
  const counts = readCounts(count);
  if (counts.includes(0)) throw new UsageError('--count is 0: there is nothing to measure');
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

function readBaseline(file: string): readonly SortBench[] {
  let bench: SortBench | SortBenches;
  try {
    bench = JSON.parse(readFileSync(file, 'utf8')) as SortBench | SortBenches;
  } catch (error) {
    throw new IoError(`cannot read the baseline ${file}: ${String(error)}`, { cause: error });
  }
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
