import { writeFileSync } from 'node:fs';
import { canonicalAlgorithm } from '../../algorithms/algorithm-names.js';
import type { Tuning } from '../../algorithms/parameters.js';
import { knownTunings } from '../../algorithms/tuning.js';
import type { BreakEven, Crossovers } from '../../algorithms/tuning-rows.js';
import {
  forgetTuning,
  type StoredTuning,
  storedTuning,
  storeTuning,
  type TunedRow,
  tuningFile,
} from '../../algorithms/tuning-store.js';
import {
  axesOf,
  gain,
  type SearchResult,
  SHAPES,
  search,
  searchedAlgorithms,
  TUNABLE,
  type TuneCase,
  type TuneShape,
  tuneCases,
  variedParameters,
} from '../../bench/tune.js';
import { CaseBench, currentTuning, fits, fitTuning, measureCrossovers } from '../../bench/tune-device.js';
import { PrimitiveBench, primitiveCases } from '../../bench/tune-primitives.js';
import { tuningSource, whereOf } from '../../bench/tuning-source.js';
import type { Device } from '../../device/device.js';
import { ioError } from '../../io/streams/raw.js';
import { dtypeInfo } from '../../keys/dtype.js';
import { openDevice } from '../../sort/backend/first-build.js';
import { isPrimitive, PRIMITIVES } from '../../sort/backend/primitive-tuning.js';
import { distinct } from '../../util/distinct.js';
import { DeviceLostError, IoError } from '../../util/errors.js';
import { invalidName } from '../../util/suggest.js';
import { listed, readSeconds, readShape } from '../arguments.js';
import { type Console, print, say } from '../console.js';
import { readDevice } from '../device-arguments.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import type { TuneArguments } from '../options/tune.js';
import { ProgressBar } from '../progress-bar.js';
import { grouped, secondsText, table } from '../table.js';

/** Share of the time budget reserved for the crossovers. */
const CROSSOVER_SHARE = 0.4;

interface Row extends TuneCase, Omit<SearchResult, 'wrong'> {
  readonly wrong: number;
  /** Self-test failure that prevents a faster tuning from being stored. */
  readonly refused?: string;
}

export async function run(args: TuneArguments, console: Console): Promise<ExitCode> {
  readSeconds('--time', args.time);
  const named = args.algorithm === undefined ? undefined : listed(args.algorithm).map(canonicalAlgorithm);
  for (const name of named ?? []) {
    if (!Object.hasOwn(TUNABLE, name) && !isPrimitive(name)) {
      const known = [...Object.keys(TUNABLE), ...PRIMITIVES];
      throw invalidName('--algorithm', name, known);
    }
  }
  const shapes = args.shape === undefined ? undefined : readShapes(args.shape);
  const device = await openDevice(readDevice(args.device, 'tune').id);
  try {
    if (args.reset) {
      if (!forgetTuning(device.info)) throw unwritableError();
      print(console, `${device.info.name}: the default parameters are restored`);
      return EXIT.ok;
    }
    const algorithms = named?.filter((name) => !isPrimitive(name)) ?? searchedAlgorithms(device);
    const primitives = named?.filter(isPrimitive) ?? PRIMITIVES;
    const cases = [...tuneCases(algorithms, shapes), ...primitiveCases(device, primitives, shapes ?? SHAPES)];
    return await tune(device, cases, args, console);
  } finally {
    await device.close();
  }
}

/** Returns the distinct shapes; key types of the same width share one tuning. */
const readShapes = (text: string): TuneShape[] =>
  distinct(
    listed(text).map((word) => {
      const { dtype, valueBytes } = readShape(word);
      return { keyBits: dtypeInfo(dtype).width, valueBytes };
    }),
  );

const unwritableError = (): IoError =>
  new IoError(
    `cannot write ${tuningFile()}: its folder is not usable. Set CLSORT_CACHE_DIR to another folder`,
  );

async function tune(
  device: Device,
  cases: readonly TuneCase[],
  args: TuneArguments,
  console: Console,
): Promise<ExitCode> {
  const started = performance.now();
  const seconds = (): number => (performance.now() - started) / 1000;
  const bar = new ProgressBar(console);
  const rows: Row[] = [];
  let crossovers: Partial<Crossovers> = {};
  let lost: DeviceLostError | undefined;
  const before = (end: number) => () => {
    bar.update('tune', seconds(), args.time);
    return !console.signal.aborted && seconds() < end;
  };
  try {
    const searchSeconds = args.time * (1 - CROSSOVER_SHARE);
    for (const [i, one] of cases.entries()) {
      // The first cases get twice their share; the time they do not use goes to the others.
      const share = (2 * (searchSeconds - seconds())) / (cases.length - i + 1);
      const more = before(Math.min(searchSeconds, seconds() + share));
      if (!more()) break;
      const row = await tuneCase(device, one, more);
      if (!row) continue;
      rows.push(row);
      bar.clear();
      if (!args.json) print(console, lineOf(row));
    }
    crossovers = await measureCrossovers(device, before(args.time));
  } catch (error) {
    if (!(error instanceof DeviceLostError)) throw error;
    lost = error; // earlier results remain valid
  } finally {
    bar.clear();
  }
  const found = rows.filter((row) => gain(row) > 0 && !row.refused);
  const kept = !args['dry-run'] && (found.length > 0 || Object.keys(crossovers).length > 0);
  const known = withFound(device, found, crossovers);
  if (kept && !storeTuning(device.info, known)) throw unwritableError();
  if (args.write !== undefined) writeSource(args.write, device, known);
  if (args.json) print(console, JSON.stringify(reportOf(device, rows, crossovers, kept), null, 2));
  else print(console, summaryOf(device, rows, crossovers, kept));
  if (lost) say(console, `clsort: cannot continue the search: ${lost.message}`);
  if (console.signal.aborted) return EXIT.interrupted;
  return lost ? EXIT.device : EXIT.ok;
}

/**
 * Searches the tuning of one case.
 *
 * @returns undefined when the algorithm does not work on the device, or when the keys do not fit it
 */
async function tuneCase(device: Device, one: TuneCase, more: () => boolean): Promise<Row | undefined> {
  if (!fits(device, one)) return undefined;
  if (isPrimitive(one.algorithm)) return tunePrimitive(device, one, more);
  const bench = await CaseBench.open(device, one);
  try {
    const attempt = (tuning: Tuning) => bench.attempt(tuning);
    const present = currentTuning(device, one);
    const known = knownTunings(one.algorithm).map((tuning) => fitTuning(device, one, tuning));
    const found = await search(axesOf(one), variedParameters(one, present), { attempt, more, known });
    if (!found) return undefined;
    const refused = gain(found) > 0 ? await bench.selfTest(found.tuning) : undefined;
    return { ...one, ...found, wrong: found.wrong.length, ...(refused && { refused }) };
  } finally {
    bench.close();
  }
}

/** Searches the tuning of one primitive. A look-back variant passes its self-test before it is tried. */
async function tunePrimitive(device: Device, one: TuneCase, more: () => boolean): Promise<Row | undefined> {
  const bench = await PrimitiveBench.open(device, one);
  try {
    const attempt = (tuning: Tuning) => bench.attempt(tuning);
    const found = await search(axesOf(one), bench.currentTuning, { attempt, more });
    return found && { ...one, ...found, wrong: found.wrong.length };
  } finally {
    bench.close();
  }
}

/** Merges the stored tuning of a device with the new results. */
function withFound(device: Device, found: readonly Row[], crossovers: Partial<Crossovers>): StoredTuning {
  const idOf = ({ algorithm, which }: Pick<TunedRow, 'algorithm' | 'which'>) =>
    JSON.stringify([algorithm, Object.entries(which).toSorted()]);
  const made = found.map(({ algorithm, which, tuning }): TunedRow => ({ algorithm, which, tuning }));
  const ids = new Set(made.map(idOf));
  const stored = storedTuning(device);
  const rows = [...stored.rows.filter((row) => !ids.has(idOf(row))), ...made];
  const of = ({ operation, keyBits }: BreakEven) => `${operation} ${keyBits}`;
  const measured = new Set(crossovers.host?.map(of));
  const kept = stored.crossovers?.host?.filter((row) => !measured.has(of(row))) ?? [];
  const host = [...kept, ...(crossovers.host ?? [])];
  return { rows, crossovers: { ...stored.crossovers, ...crossovers, ...(host.length > 0 && { host }) } };
}

function writeSource(file: string, device: Device, known: StoredTuning): void {
  const { info } = device;
  const date = new Date().toISOString().slice(0, 10);
  const measured = `${info.name}, driver ${info.driver}, ${date}`;
  try {
    writeFileSync(file, tuningSource({ where: whereOf(device), measured, ...known }, file));
  } catch (error) {
    throw ioError('write', file, error);
  }
}

const HEADING = ['algorithm', 'keys', 'value', 'sizes', 'before', 'after', 'gain', 'tries', 'parameters'];

const sizesText = ({ over, n }: TuneCase['which']): string =>
  [over !== undefined && `over ${grouped(over)}`, n !== undefined && `to ${grouped(n)}`]
    .filter(Boolean)
    .join(' ') || 'all';

function cellsOf(row: Row): string[] {
  const { algorithm, which, before, after, tried, wrong, tuning, refused } = row;
  const gained = gain(row);
  return [
    algorithm,
    `${which.keyBits} bits`,
    which.valueBytes > 0 ? `${which.valueBytes} bytes` : 'none',
    sizesText(which),
    secondsText(before.median),
    secondsText(after.median),
    `${(100 * gained).toFixed(1)} %`,
    wrong > 0 ? `${tried}, ${wrong} wrong` : String(tried),
    refused ? `not saved: ${refused}` : gained > 0 ? tuningText(tuning) : 'unchanged',
  ];
}

const tuningText = (tuning: Tuning): string =>
  Object.entries(tuning)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

const lineOf = (row: Row): string => cellsOf(row).join('\t');

const breakEvenCells = ({ operation, keyBits, keys }: BreakEven): string[] => [
  operation ?? 'all',
  keyBits === undefined ? 'all' : `${keyBits} bits`,
  Number.isFinite(keys) ? `from ${grouped(keys)} keys on` : 'never',
];

function summaryOf(
  { info }: Device,
  rows: readonly Row[],
  { host, singleWorkgroup }: Partial<Crossovers>,
  kept: boolean,
): string {
  return [
    `\n${info.name} (${info.platform}, driver ${info.driver})`,
    ...(rows.length > 0 ? [table([HEADING, ...rows.map(cellsOf)])] : ['no case was measured']),
    ...(host === undefined
      ? []
      : [table([['operation', 'keys', 'faster than the host engine'], ...host.map(breakEvenCells)])]),
    ...(singleWorkgroup === undefined
      ? []
      : [`above ${grouped(singleWorkgroup)} keys, one work-group is slower than several`]),
    kept ? `saved in ${tuningFile()}` : 'nothing was saved',
  ].join('\n');
}

function reportOf({ info }: Device, rows: readonly Row[], crossovers: Partial<Crossovers>, kept: boolean) {
  const { name, platform, driver } = info;
  return {
    schema: 'clsort.tune/1',
    ...{ device: name, platform, driver, date: new Date().toISOString().slice(0, 10) },
    cases: rows.map((row) => ({ ...row, gain: gain(row) })),
    crossovers,
    file: kept ? tuningFile() : null,
  };
}
