import { access, constants } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { quirksOf } from '../../device/platform/quirks.js';
import { type DeviceInfo, devices, Sorter } from '../../index.js';
import { withOutput } from '../../io/streams/output.js';
import { ioError } from '../../io/streams/raw.js';
import { type MatrixScope, matrixCases } from '../../matrix/case.js';
import { readFilter } from '../../matrix/filter.js';
import { deviceMatrix, launchSelf } from '../../matrix/matrix.js';
import type { MatrixCase } from '../../matrix/matrix-case.js';
import { compareReports, isWorse } from '../../matrix/report/compare.js';
import { htmlReport } from '../../matrix/report/html.js';
import { junitReport } from '../../matrix/report/junit.js';
import { markdownReport } from '../../matrix/report/markdown.js';
import { readReport } from '../../matrix/report/read.js';
import {
  countsText,
  type DeviceReport,
  DeviceRows,
  type MatrixReport,
  REPORT_SCHEMA,
  reportJson,
  statusCounts,
} from '../../matrix/report/report.js';
import { isBad } from '../../matrix/row.js';
import { CaseRunner, planOf } from '../../matrix/run-case.js';
import { endWithParent } from '../../util/end-with-parent.js';
import { UsageError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { listed, readDtypes, readSeconds, readSeed } from '../arguments.js';
import { type Console, print, say } from '../console.js';
import { childName, deviceOfChild, readAlgorithms, readDevices } from '../device-arguments.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { comparisonText, matrixText } from '../matrix-text.js';
import { assertAtMostOne, ONE_FORMAT } from '../option-errors.js';
import type { MatrixArguments } from '../options/matrix.js';
import { ProgressBar } from '../progress-bar.js';

/** Largest number of keys for a simulator, which sorts that many in about a second. */
const SIMULATED_KEYS = 300;

/** The task of a child process, as JSON on its command line. */
interface ChildTask {
  /** Name of the device: positions in the device list differ between processes, names do not. */
  readonly device: string;
  readonly scope: MatrixSelection;
  readonly from: number;
}

/** Selection of cases, independent of the device. */
type MatrixSelection = Omit<MatrixScope, 'maxKeys'>;

export async function run(args: MatrixArguments, console: Console): Promise<ExitCode> {
  if (args.child !== undefined) {
    endWithParent();
    return runChild(JSON.parse(args.child) as ChildTask, console);
  }
  assertAtMostOne({ json: args.json, markdown: args.markdown }, ONE_FORMAT);
  if (args.compare) return compare(args.compare, args, console);
  await assertWritable([args.html, args.junit]);
  const report = args.read ? await readAll(args.read) : await tryAll(args, console);
  if (!report) return EXIT.interrupted;
  await write(args.html, () => htmlReport(report), console);
  await write(args.junit, () => junitReport(report), console);
  const isText = console.stdout.isTTY === true && !args.json && !args.markdown;
  if (args.json) print(console, reportJson(report).trimEnd());
  if (args.markdown) print(console, markdownReport(report).trimEnd());
  if (isText || (args.read && !args.json && !args.markdown)) print(console, matrixText(report));
  const cells = report.devices.flatMap((device) => device.cells);
  if (!console.quiet) say(console, `matrix: ${countsText(statusCounts(cells))}`);
  return cells.some(({ status }) => isBad({ outcome: status })) ? EXIT.notSorted : EXIT.ok;
}

/**
 * Reads the options that select cases.
 *
 * @throws UsageError when options conflict, or when a filter is malformed
 */
function readWanted({ quick, full, only, algorithm, dtype, seed }: MatrixArguments): MatrixSelection {
  assertAtMostOne({ quick, full }, 'each of them defines the cases');
  const own = {
    ...(algorithm && { algorithm: readAlgorithms(algorithm.flatMap(listed)) }),
    ...(dtype && { dtype: readDtypes(dtype.flatMap(listed)) }),
  };
  const filters = (only ?? []).map((text) => ({ ...own, ...readFilter(text) }));
  return {
    level: quick ? 'quick' : full ? 'full' : 'default',
    seed: String(readSeed(seed)),
    filters: filters.length > 0 || Object.keys(own).length === 0 ? filters : [own],
  };
}

/** Returns the number of keys of the largest case on a device. */
const maxKeysOf = (device: DeviceInfo): number =>
  quirksOf(device).simulated ? SIMULATED_KEYS : Number.POSITIVE_INFINITY;

/**
 * Returns the cases for a device.
 *
 * @throws UsageError when the filters exclude every case
 */
function casesOf(device: DeviceInfo, wanted: MatrixSelection): MatrixCase[] {
  const cases = matrixCases({ ...wanted, maxKeys: maxKeysOf(device) });
  if (cases.length > 0) return cases;
  throw new UsageError(
    'cannot run the matrix: no case matches --only. Check that the operation has the algorithm (none for reduce, scan, ' +
      'histogram and gather) and the dtype has the order',
  );
}

/**
 * Runs the matrix on all selected devices.
 *
 * @returns undefined when the run was interrupted
 * @throws UsageError when a filter excludes every case
 * @throws NoDeviceError when no device matches
 */
async function tryAll(args: MatrixArguments, console: Console): Promise<MatrixReport | undefined> {
  const caseTimeout = readSeconds('--timeout', args.timeout);
  const scope = readWanted(args);
  const all = devices();
  const { signal } = console;
  const lines = !args.json && !args.markdown && console.stdout.isTTY !== true;
  const bar = new ProgressBar(console);
  const found = readDevices(args.device).map((device) => ({ device, cases: casesOf(device, scope) }));
  const reports: DeviceReport[] = [];
  for (const { device, cases } of found) {
    const rows = new DeviceRows(device, all, { ...scope, maxKeys: maxKeysOf(device) });
    let done = 0;
    const launch = (from: number) =>
      launchSelf([
        'matrix',
        '--child',
        JSON.stringify({ device: childName(device), scope, from } satisfies ChildTask),
      ]);
    for await (const row of deviceMatrix(device, cases, { caseTimeout, launch, signal })) {
      rows.add(row);
      bar.clear();
      if (lines) print(console, JSON.stringify(row));
      bar.update(device.name, ++done, cases.length);
    }
    bar.clear();
    if (signal.aborted) return undefined;
    reports.push(rows.report());
  }
  return { schema: REPORT_SCHEMA, devices: reports };
}

async function readAll(files: readonly string[]): Promise<MatrixReport> {
  const reports = await Promise.all(files.map(readReport));
  return { schema: REPORT_SCHEMA, devices: reports.flatMap(({ devices }) => devices) };
}

async function compare(
  [before = '', after = '']: readonly string[],
  { factor, json }: MatrixArguments,
  console: Console,
): Promise<ExitCode> {
  if (!(factor >= 1)) throw invalidArgument('--factor', 'a number of 1 or more', factor);
  const comparison = compareReports(await readReport(before), await readReport(after), factor);
  print(console, json ? JSON.stringify(comparison, null, 2) : comparisonText(comparison));
  return isWorse(comparison) ? EXIT.notSorted : EXIT.ok;
}

/**
 * Checks that the output folders are writable, before minutes of work.
 *
 * @throws IoError when a folder is not writable
 */
async function assertWritable(files: readonly (string | undefined)[]): Promise<void> {
  for (const file of files) {
    if (file === undefined) continue;
    await access(dirname(resolve(file)), constants.W_OK).catch((error) => {
      throw ioError('write', file, error);
    });
  }
}

async function write(file: string | undefined, text: () => string, console: Console): Promise<void> {
  if (file === undefined) return;
  await withOutput(file, console, (output) => output.write(Buffer.from(text())));
}

/** Runs the cases of one device, starting at case number `from`. The parent process parses the output. */
async function runChild({ device: name, scope, from }: ChildTask, console: Console): Promise<ExitCode> {
  const device = deviceOfChild(name);
  const sorter = await Sorter.open({ device: device.id, onWarning: () => undefined });
  const isSimulated = quirksOf(device).simulated;
  const runner = new CaseRunner(sorter, device, { again: isSimulated ? 0 : 2 });
  try {
    for (const one of casesOf(device, scope).slice(from)) {
      if (console.signal.aborted) return EXIT.interrupted; // the parent process has exited
      const plan = planOf(sorter, one);
      if (plan !== undefined) print(console, JSON.stringify({ begins: plan }));
      print(console, JSON.stringify({ row: await runner.run(one) }));
    }
  } finally {
    await sorter.close();
  }
  return EXIT.ok;
}
