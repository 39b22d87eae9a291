import { deviceSpecs } from '../../device/platform/select-device.js';
import {
  bestForecast,
  type Cluster,
  type Forecast,
  type ForecastRequest,
  forecast,
  maxBytesWithin,
} from '../../engines/forecast/forecast.js';
import { DEVICE_RATES, HOST_RATES, RUNNER_RATES } from '../../engines/forecast/measured-rates.js';
import { readByteRate, readBytes, readNetworkRate } from '../../engines/forecast/quantity.js';
import { deviceNamed, hostRatesFor, type Rates, type RecordKind } from '../../engines/forecast/rates.js';
import { MAX_PARTITIONS } from '../../io/external/splitters.js';
import { layoutOrdering } from '../../io/records/layout-ordering.js';
import { keyOrdering, type RecordOrdering } from '../../io/records/record-ordering.js';
import { dtypeInfo } from '../../keys/dtype.js';
import { UsageError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { invalidName } from '../../util/suggest.js';
import { assertWholeNumber } from '../../util/whole-number.js';
import { listed, readSeconds } from '../arguments.js';
import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { cannotCombine, missingOption } from '../option-errors.js';
import type { PlanArguments } from '../options/plan.js';
import { decimalText, forecastLines, forecastTable } from '../plan-text.js';
import { readRecords } from '../record-options.js';

/** Sizes of the Sort Benchmark: 10^8 to 10^10 records (JouleSort), and 100 TB (GraySort, CloudSort). */
const BENCHMARK = ['10G', '100G', '1T', '100T'];

const SCHEMA = 'clsort.plan/1';

/** Default number of cores per device of a node. */
const CORES_OF_DEVICE = 16;

interface PlanRecords {
  readonly kind: RecordKind;
  readonly order: RecordOrdering;
}

export async function run(args: PlanArguments, console: Console): Promise<ExitCode> {
  const records = readRecordFormat(args);
  const sizes = readSizes(args);
  const clusters = readNodes(args.nodes).map((nodes) => readCluster(args, nodes));
  assertWholeNumber('--partitions', args.partitions, { max: MAX_PARTITIONS });
  assertWholeNumber('--shards', args.shards);
  const rates = ratesFor(args, records.kind);
  const notes = notesOf(rates, records.kind);
  const plans: (readonly [plan: Forecast, best: Forecast])[] = [];
  for (const cluster of clusters) {
    const common = {
      ...{ cluster, rates, order: records.order, kind: records.kind },
      ...{ partitions: args.partitions, shards: args.shards },
    };
    for (const size of sizes ?? [within(args.within, common)]) {
      const request = { ...common, bytes: size };
      const best = bestForecast(request);
      plans.push([args.partitions === undefined ? best : forecast(request), best]);
    }
  }
  if (args.json) {
    const rows = plans.map(([plan, best]) => ({ ...plan, best: best.partitions, bestSeconds: best.seconds }));
    const cluster = clusters.map(({ nodes: _, ...one }) => one)[0];
    print(console, JSON.stringify({ schema: SCHEMA, cluster, plans: rows, rates, notes }, null, 2));
    return EXIT.ok;
  }
  const [cluster] = clusters as [Cluster];
  const [only] = plans.length === 1 ? plans : [];
  const lines = only
    ? [`${decimalText(only[0].bytes, 'B')} of ${records.order.description}`, ...forecastLines(...only)]
    : [records.order.description, forecastTable(plans.map(([plan]) => plan))];
  for (const line of [...lines, ...sourceText(args, cluster, rates), ...notes]) print(console, line);
  return EXIT.ok;
}

function readRecordFormat(args: PlanArguments): PlanRecords {
  if (args.dtype !== undefined && args.record === undefined) {
    const { name: dtype, bytes: recordBytes, width } = dtypeInfo(args.dtype);
    const order = keyOrdering({ dtype, descending: false, nan: 'last', bits: [0, width] });
    return { kind: { of: 'keys', unit: recordBytes }, order };
  }
  const { record, key = record === undefined ? ['0:10'] : undefined } = args;
  const none = { descending: false, nan: 'last', bits: undefined };
  const layout = readRecords({ dtype: args.dtype, record: record ?? 100, key, ...none });
  if (!layout) throw missingOption('estimate', '--record', 'Pass its size'); // unreachable: it has a default
  return { kind: { of: 'records', unit: layout.record }, order: layoutOrdering(layout) };
}

/** @throws UsageError when the device or the kind of records was not measured */
function ratesFor({ device, engine: name }: PlanArguments, kind: RecordKind): Rates {
  const specs = deviceSpecs(device ?? ['gpu']);
  if (specs.length > 1)
    throw invalidArgument('--device', 'one kind of device for all nodes', specs.join(','));
  const engine = RUNNER_RATES.find((one) => one.name === name);
  if (!engine)
    throw invalidName(
      '--engine',
      name,
      RUNNER_RATES.map((one) => one.name),
    ); // yargs checks it
  return {
    host: hostRatesFor(HOST_RATES, kind),
    device: deviceNamed(DEVICE_RATES, specs[0] ?? 'gpu'),
    engine,
  };
}

/** Returns remarks to print with the estimate. */
const notesOf = ({ host }: Rates, { of, unit }: RecordKind): string[] =>
  host.unit === unit
    ? []
    : [`The rates are those of ${of} of ${host.unit} bytes, the nearest measured size.`];

/** Returns the sizes in bytes; undefined with `--within`, where the size is the unknown. */
function readSizes({ size, within }: PlanArguments): number[] | undefined {
  if (size === undefined && within === undefined) {
    throw missingOption('estimate a sort', '--size', 'Pass --size 100T, or --within 60 (seconds)');
  }
  if (size !== undefined && within !== undefined) {
    throw cannotCombine('--size', '--within', 'one of them is estimated from the other');
  }
  if (within !== undefined) readSeconds('--within', within);
  return size
    ?.flatMap(listed)
    .flatMap((text) => (text === 'benchmark' ? BENCHMARK : [text]))
    .map((text) => readBytes(text, '--size'));
}

function within(seconds: number | undefined, request: Omit<ForecastRequest, 'bytes'>): number {
  const bytes = maxBytesWithin(seconds ?? 0, request);
  if (bytes > 0) return bytes;
  throw new UsageError(
    `cannot sort anything within ${seconds} s: engine ${request.rates.engine.name} alone takes longer. Raise --within`,
  );
}

function readNodes(text: string): number[] {
  return listed(text).map((word) => {
    const nodes = Number(word);
    assertWholeNumber('--nodes', nodes, { max: 1e6 }, word);
    return nodes;
  });
}

function readCluster(args: PlanArguments, nodes: number): Cluster {
  const { gpus, network, disk, storage, memory } = args;
  assertWholeNumber('--gpus', gpus, { max: 1024 });
  const { cores = CORES_OF_DEVICE * gpus } = args;
  assertWholeNumber('--cores', cores, { max: 1e5 });
  if (disk !== undefined && storage !== undefined) {
    throw cannotCombine('--disk', '--storage', 'files are on disks of the nodes or on shared storage');
  }
  return {
    ...{ nodes, gpus, cores },
    network: network === undefined ? undefined : readNetworkRate(network, '--network'),
    disk: disk === undefined ? undefined : readByteRate(disk, '--disk'),
    storage: storage === undefined ? undefined : readByteRate(storage, '--storage'),
    memory: memory === undefined ? undefined : readBytes(memory, '--memory'),
  };
}

/** Lists the sources of the forecast: options, measurements and assumptions. */
function sourceText(
  args: PlanArguments,
  { gpus, cores, network, disk, storage }: Cluster,
  rates: Rates,
): string[] {
  const { host, device, engine } = rates;
  const source = [
    `${gpus} ${gpus === 1 ? 'device' : 'devices'} and ${cores} cores${args.cores === undefined ? ' (assumed; see --cores)' : ''} per node`,
    network === undefined
      ? 'unlimited network (see --network)'
      : `network ${decimalText(network * 8, 'bit/s')} each way`,
    storage !== undefined
      ? `storage ${decimalText(storage, 'B/s')}`
      : disk === undefined
        ? 'unlimited disks (see --disk)'
        : `disks ${decimalText(disk, 'B/s')} per node`,
  ];
  return [
    'Sources:',
    `  options: ${source.join(', ')};`,
    `  device: ${device.name}, driver ${device.driver}, ${device.date} (${device.source});`,
    `  host: ${host.of} of ${host.unit} bytes on ${host.name} with ${host.cores} cores, at ${Math.round(host.full * 100)} % of their speed when all are busy, ${host.date};`,
    `  engine: ${engine.name}, ${engine.source}.`,
  ];
}
