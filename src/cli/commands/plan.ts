import { type Bound, planSort } from '../../engines/plan-model.js';
import { layoutOrdering } from '../../io/records/layout-ordering.js';
import { keyOrdering, type RecordOrdering } from '../../io/records/record-ordering.js';
import { dtypeInfo } from '../../keys/dtype.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { assertWholeNumber } from '../../util/whole-number.js';
import { listed } from '../arguments.js';
import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { cannotCombine } from '../option-errors.js';
import type { PlanArguments } from '../options/plan.js';
import { grouped, table } from '../table.js';

/** Sizes of the Sort Benchmark: 10^8 to 10^10 records (JouleSort), and 100 TB (GraySort, CloudSort). */
const BENCHMARK = ['10G', '100G', '1T', '100T'];

/** Default number of cores per device of a node. */
const CORES_OF_DEVICE = 16;

const BOUNDS: Readonly<Record<Bound, string>> = {
  host: "workers' hosts",
  device: 'devices',
  bus: 'buses',
  tasks: 'tasks and pieces',
  cores: 'cores',
  disk: 'disks',
  network: 'the network',
  storage: 'the storage',
};

export async function run(args: PlanArguments, console: Console): Promise<ExitCode> {
  const { gpus, disk, storage, dtype, engine } = args;
  if (disk !== undefined && storage !== undefined) {
    throw cannotCombine('--disk', '--storage', 'files are on disks of the nodes or on shared storage');
  }
  assertWholeNumber('--gpus', gpus, { max: 1024 });
  const { cores = CORES_OF_DEVICE * gpus } = args;
  assertWholeNumber('--cores', cores, { max: 1e5 });
  const hardware = {
    ...{ gpus, coresPerNode: cores },
    network: readAmount(args.network, '--network', 'bits'),
    disk: readAmount(disk, '--disk', 'bytes'),
    storage: readAmount(storage, '--storage', 'bytes'),
    memory: readAmount(args.memory, '--memory', 'size'),
  };
  const sizes = args.size
    .flatMap(listed)
    .flatMap((text) => (text === 'benchmark' ? BENCHMARK : [text]))
    .map((text) => readAmount(text, '--size', 'size'));
  const order = orderOf(dtype);
  const kind = dtype === undefined ? 'records' : order.recordBytes <= 4 ? 'keys32' : 'keys64';
  const plans = listed(args.nodes).flatMap((word) => {
    const nodes = Number(word);
    assertWholeNumber('--nodes', nodes, { max: 1e6 }, word);
    return sizes.map((bytes) => planSort({ bytes, order, kind, engine, cluster: { nodes, ...hardware } }));
  });
  if (args.json) {
    print(console, JSON.stringify({ schema: 'clsort.plan/2', cluster: hardware, plans }, null, 2));
    return EXIT.ok;
  }
  const rows = plans.map((plan) => [
    decimalText(plan.bytes),
    grouped(plan.nodes),
    timeText(plan.seconds),
    String(Number(plan.nodeHours.toPrecision(3))),
    `${grouped(plan.partitions)}${plan.external ? ', external' : ''}`,
    decimalText(plan.memoryPerNode),
    BOUNDS[plan.limitedBy],
  ]);
  const heading = ['size', 'nodes', 'time', 'node hours', 'partitions', 'memory per node', 'limited by'];
  print(console, table([heading, ...rows], ['right', 'right', 'right', 'right', 'right', 'right', 'left']));
  return EXIT.ok;
}

/** Returns the order of keys; of records of 100 bytes by a key of 10 bytes without a dtype. */
function orderOf(dtype: string | undefined): RecordOrdering {
  if (dtype === undefined) return layoutOrdering({ record: 100, keys: [{ offset: 0, length: 10 }] });
  const { name, width } = dtypeInfo(dtype);
  return keyOrdering({ dtype: name, descending: false, nan: 'last', bits: [0, width] });
}

const POWERS: Readonly<Record<string, number>> = { '': 0, K: 1, M: 2, G: 3, T: 4, P: 5 };

/** Units after the number and its prefix, and what an error says was expected. */
const AMOUNTS = {
  size: [/^B?$/, 'a size such as 100T (10^14 bytes), 512M or 64GiB'],
  bytes: [/^B?\/s$/, 'bytes per second such as 20G/s or 500MB/s'],
  bits: [/^(bit\/s)?$/, 'bits per second such as 400G or 400Gbit/s'],
} as const;

/**
 * Parses a size in bytes, or a rate into bytes per second.
 *
 * @throws UsageError when the text is none
 */
function readAmount(text: string, option: string, of: keyof typeof AMOUNTS): number;
function readAmount(text: string | undefined, option: string, of: keyof typeof AMOUNTS): number | undefined;
function readAmount(text: string | undefined, option: string, of: keyof typeof AMOUNTS): number | undefined {
  if (text === undefined) return undefined;
  const [unit, expected] = AMOUNTS[of];
  const [, number, prefix = '', binary, rest = ''] =
    /^(\d+(?:\.\d+)?(?:e\d+)?)([KkMGTP]?)(i?)(.*)$/.exec(text) ?? [];
  const amount = Number(number) * (binary ? 1024 : 1000) ** (POWERS[prefix.toUpperCase()] ?? 0);
  if (amount > 0 && amount <= Number.MAX_SAFE_INTEGER && unit.test(rest))
    return of === 'bits' ? amount / 8 : amount;
  throw invalidArgument(option, expected, text);
}

const STEPS = ['', 'k', 'M', 'G', 'T', 'P'];

/** Formats bytes with a decimal prefix, as disks and networks are sold: 100 TB. */
function decimalText(bytes: number): string {
  const step = Math.min(STEPS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${Number((bytes / 1000 ** step).toPrecision(3))} ${STEPS[step]}B`;
}

/** Formats a time: 95 s, 12.3 min, 4.5 h. */
function timeText(seconds: number): string {
  const [unit, of] = seconds < 120 ? ['s', 1] : seconds < 7200 ? ['min', 60] : ['h', 3600];
  return `${Number((seconds / Number(of)).toPrecision(3))} ${unit}`;
}
