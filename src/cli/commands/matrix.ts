import { type DeviceInfo, devices } from '../../device/platform.js';
import { quirksOf } from '../../device/quirks.js';
import { matrixCases } from '../../matrix/case.js';
import { deviceMatrix, launchSelf } from '../../matrix/matrix.js';
import { isBad, type MatrixRow, type Outcome } from '../../matrix/row.js';
import { runCase } from '../../matrix/run-case.js';
import { Sorter } from '../../sort/api/sorter.js';
import { NoDeviceError } from '../../util/errors.js';
import { readDtypes, readSeconds } from '../arguments.js';
import { type Console, print, say } from '../console.js';
import { readAlgorithms, readDevices } from '../device-arguments.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import type { MatrixArguments } from '../options/matrix.js';
import { ProgressBar } from '../progress-bar.js';

/** Keys that a simulator sorts in about a second. */
const SIMULATED_KEYS = 300;

/** Positions in the list of devices differ from process to process; names do not. */
const nameOf = ({ platform, name }: DeviceInfo): string => `${platform}\n${name}`;

/** What to try, whatever the device. */
const readScope = ({ quick, algorithm, dtype }: MatrixArguments) => ({
  quick,
  algorithms: readAlgorithms(algorithm),
  dtypes: readDtypes(dtype),
});

/** Keys of the largest case on a device. */
const maxKeysOf = (device: DeviceInfo): number =>
  quirksOf(device).simulated ? SIMULATED_KEYS : Number.POSITIVE_INFINITY;

export async function run(args: MatrixArguments, console: Console): Promise<ExitCode> {
  if (args.child !== undefined) return runChild(args, console);
  const caseTimeout = readSeconds('timeout', args.timeout);
  const wanted = readScope(args);
  const found = readDevices(args.device);
  const { signal } = console;
  const bar = new ProgressBar(console);
  const counts = new Map<Outcome, number>();
  let bad = 0;
  for (const device of found) {
    const scope = { ...wanted, maxKeys: maxKeysOf(device) };
    const total = matrixCases(scope).length;
    let done = 0;
    const launch = (one: DeviceInfo, from: number) => launchSelf(childArguments(args, one, from));
    for await (const row of deviceMatrix(device, { ...scope, caseTimeout, launch, signal })) {
      bar.clear();
      print(console, JSON.stringify(row));
      counts.set(row.outcome, (counts.get(row.outcome) ?? 0) + 1);
      if (isBad(row)) bad++;
      bar.update(device.name, ++done, total);
    }
    if (signal.aborted) return EXIT.interrupted;
  }
  bar.clear();
  say(console, `matrix: ${[...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ')}`);
  return bad === 0 ? EXIT.ok : EXIT.notSorted;
}

function childArguments(args: MatrixArguments, device: DeviceInfo, from: number): string[] {
  const list = (name: string, values: readonly string[] | undefined) =>
    values ? [`--${name}`, ...values] : [];
  return [
    'matrix',
    ...(args.quick ? ['--quick'] : []),
    ...list('algorithm', args.algorithm),
    ...list('dtype', args.dtype),
    '--child',
    nameOf(device),
    '--from',
    String(from),
  ];
}

/** The cases of one device from a number on; what it prints is for the parent. */
async function runChild(args: MatrixArguments, console: Console): Promise<ExitCode> {
  const device = devices().find((one) => nameOf(one) === args.child);
  if (!device) throw new NoDeviceError(`the device '${args.child}' has gone`);
  const sorter = await Sorter.open({ device: device.id, onWarning: () => undefined });
  try {
    const scope = { ...readScope(args), maxKeys: maxKeysOf(device) };
    for (const one of matrixCases(scope).slice(args.from)) {
      if (console.signal.aborted) return EXIT.interrupted; // the parent has gone
      const row: MatrixRow = await runCase(sorter, device, one);
      print(console, JSON.stringify({ row }));
    }
  } finally {
    await sorter.close();
  }
  return EXIT.ok;
}
