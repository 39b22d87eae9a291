import { plannedOn } from '../../algorithms/registry.js';
import { basisFor } from '../../algorithms/tuning.js';
import type { KnownDevice } from '../../device/device.js';
import { knownDevices } from '../../device/known-devices.js';
import type { DeviceInfo } from '../../index.js';
import { rowsOfChildren } from '../../matrix/children.js';
import { launchSelf } from '../../matrix/matrix.js';
import {
  hasFailed,
  type SelfTestRow,
  selfTestCases,
  selfTestDevice,
  VARIANTS,
} from '../../matrix/self-tests.js';
import { endWithParent } from '../../util/end-with-parent.js';
import { readSeconds } from '../arguments.js';
import { type Console, print } from '../console.js';
import { childName, deviceOfChild, readAlgorithms, readDevices } from '../device-arguments.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import type { DevicesArguments } from '../options/devices.js';
import { ProgressBar } from '../progress-bar.js';
import { bytesText, secondsText, table } from '../table.js';

export async function run(args: DevicesArguments, console: Console): Promise<ExitCode> {
  if (args.child !== undefined) {
    endWithParent();
    return runChild(args, console);
  }
  const found = readDevices(args.device);
  if (args['self-test'] || args.certify) return selfTestAll(found, args, console);
  if (args.json) {
    const ids = new Set(found.map(({ id }) => id));
    const devices = knownDevices().filter(({ info }) => ids.has(info.id));
    const described = devices.map((device) => ({ ...device.info, ...abilitiesOf(device) }));
    print(console, JSON.stringify({ schema: 'clsort.devices/1', devices: described }, null, 2));
    return EXIT.ok;
  }
  const rows = found.map(({ id, type, name, platform, driver, version, computeUnits, globalBytes }) => [
    id,
    type,
    name,
    platform,
    driver,
    version,
    String(computeUnits),
    bytesText(globalBytes),
  ]);
  const heading = ['id', 'type', 'name', 'platform', 'driver', 'OpenCL', 'units', 'memory'];
  const align = ['left', 'left', 'left', 'left', 'left', 'left', 'right', 'right'] as const;
  print(console, table([heading, ...rows], align));
  return EXIT.ok;
}

/**
 * Returns the capabilities of a device beside its limits, and per algorithm whether its parameters were measured or
 * modelled.
 */
function abilitiesOf(device: KnownDevice) {
  const { capabilities } = device;
  const { architecture, computeUnits, groupLocalBytes, unit, subGroupSizes, unifiedMemory, ptx } =
    capabilities;
  const bases = plannedOn(device).flatMap((algorithm) => {
    const basis = basisFor(algorithm, device, { keyBits: 32, valueBytes: 0 });
    return basis ? [[algorithm.name, basis] as const] : [];
  });
  return {
    architecture: architecture ?? null,
    groupLocalBytes,
    unit: { count: computeUnits, ...unit },
    subGroupSizes,
    unifiedMemory,
    ptx: ptx ?? null,
    parameters: Object.fromEntries(bases),
  };
}

/** Runs the self-tests of each device in a child process, so that a crashing driver fails only its own cells. */
async function selfTestAll(
  found: readonly DeviceInfo[],
  args: DevicesArguments,
  console: Console,
): Promise<ExitCode> {
  const cases = selfTestCases(readAlgorithms(args.algorithm));
  const caseTimeout = readSeconds('--timeout', args.timeout);
  const bar = new ProgressBar(console);
  const all: SelfTestRow[] = [];
  for (const device of found) {
    const { platform, name, driver } = device;
    const rows: SelfTestRow[] = [];
    const children = rowsOfChildren(cases, {
      caseTimeout,
      signal: console.signal,
      launch: (from) => launchSelf(childArguments(args, device, from)),
      lost: (one, { outcome, reason, seconds }): SelfTestRow => {
        return { platform, device: name, driver, ...one, outcome, reason, seconds };
      },
    });
    for await (const row of children) {
      rows.push(row);
      bar.update(name, rows.length, cases.length);
    }
    bar.clear();
    if (console.signal.aborted) return EXIT.interrupted;
    if (!args.json) print(console, `${all.length > 0 ? '\n' : ''}${selfTestText(device, rows)}`);
    all.push(...rows);
  }
  if (args.json) print(console, JSON.stringify({ schema: 'clsort.self-tests/1', rows: all }, null, 2));
  return all.some(hasFailed) ? EXIT.notSorted : EXIT.ok;
}

/** Formats the table of one device, followed by the distinct reasons for failures. */
function selfTestText({ name, platform, driver }: DeviceInfo, rows: readonly SelfTestRow[]): string {
  const variants = Object.keys(VARIANTS);
  const algorithms = [...new Set(rows.map(({ algorithm }) => algorithm))];
  const cells = algorithms.map((algorithm) => [
    algorithm,
    ...variants.map((variant) => {
      const row = rows.find((one) => one.algorithm === algorithm && one.variant === variant);
      if (!row) return '';
      return row.outcome === 'passed' ? `passed, ${secondsText(row.seconds)}` : row.outcome;
    }),
  ]);
  const reasons = rows.flatMap(({ algorithm, reason }) => (reason ? `${algorithm}: ${reason}` : []));
  return [
    `${name} (${platform}, driver ${driver})`,
    table([['algorithm', ...variants], ...cells]),
    ...new Set(reasons),
  ].join('\n');
}

function childArguments(args: DevicesArguments, device: DeviceInfo, from: number): string[] {
  const algorithms = args.algorithm ? ['--algorithm', ...args.algorithm] : [];
  return ['devices', ...algorithms, '--child', childName(device), '--from', String(from)];
}

/** Runs the self-tests of one device, starting at case number `from`. The parent process parses the output. */
async function runChild(args: DevicesArguments, console: Console): Promise<ExitCode> {
  const device = deviceOfChild(args.child ?? '');
  const cases = selfTestCases(args.algorithm).slice(args.from);
  for await (const row of selfTestDevice(device, cases)) {
    print(console, JSON.stringify({ row }));
    if (console.signal.aborted) return EXIT.interrupted; // the parent process has exited
  }
  return EXIT.ok;
}
