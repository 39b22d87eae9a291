/**
 * Forecasts the duration of a sort on many machines. The workers of a stage run its tasks in waves. A stage takes as
 * long as its waves, or as its total demand on cores, disks or networks, whichever is longer. Rates are measured; the
 * capacities of nodes, networks and disks are specified by the user.
 */
import { maxMemory } from '../../io/external/budget.js';
import { MAX_PARTITIONS } from '../../io/external/splitters.js';
import type { RecordOrdering } from '../../io/records/record-ordering.js';
import type { Stage } from '../job-runner.js';
import { partitionsFor, shardsFor } from '../make-job.js';
import { partMemory } from '../sort-part.js';
import { sampleSize } from '../stages.js';
import { type Cost, deviceCost, type Rates, type RecordKind } from './rates.js';

/** The available hardware. Rates are in bytes per second; an absent value is no limit. */
export interface Cluster {
  readonly nodes: number;
  /** Workers per node, one per device. */
  readonly gpus: number;
  /** Cores per node. */
  readonly cores: number;
  /** Network rate per node and direction. */
  readonly network?: number | undefined;
  /** Total disk rate per node, for reads and writes together. */
  readonly disk?: number | undefined;
  /** Total rate of a storage outside the nodes. */
  readonly storage?: number | undefined;
  /** Memory per node that its workers may use, in bytes. */
  readonly memory?: number | undefined;
}

export interface ForecastRequest {
  readonly bytes: number;
  readonly order: RecordOrdering;
  readonly kind: RecordKind;
  readonly cluster: Cluster;
  readonly rates: Rates;
  readonly partitions?: number | undefined;
  readonly shards?: number | undefined;
}

/** The bottleneck of a stage: per worker, or shared between workers. */
export type Bound = 'host' | 'device' | 'bus' | 'tasks' | 'cores' | 'disk' | 'network' | 'storage';

export interface StageForecast {
  readonly stage: Stage;
  readonly tasks: number;
  /** Number of workers that run one task at a time, and number of waves. */
  readonly workers: number;
  readonly waves: number;
  readonly seconds: number;
  readonly binds: Bound;
  /** Duration in seconds if the bound were the only one; absent when its rate is unknown. */
  readonly alone: Readonly<Partial<Record<Bound, number>>>;
}

export interface Forecast {
  readonly bytes: number;
  readonly n: number;
  readonly nodes: number;
  readonly workers: number;
  readonly partitions: number;
  readonly shards: number;
  readonly seconds: number;
  readonly nodeHours: number;
  readonly stages: readonly StageForecast[];
  /** Average size of a part in bytes, and the memory that the workers of a node need to sort parts of it. */
  readonly partBytes: number;
  readonly memoryPerNode: number;
  /**
   * Why parts need an external sort: they exceed memory, or the maximum length of an array of Node.js. Undefined if
   * they do not.
   */
  readonly byDisk: 'memory' | 'array' | undefined;
}

/** Expected size of the largest part relative to the average, given the sample size. */
const LARGEST_PART = 1.1;

/** Maximum array size in Node.js 20; newer versions allow more. */
const ARRAY_BYTES = 2 ** 32;

/** Memory per worker in addition to parts: Node.js, device driver, and file buffers. */
const WORKER_BYTES = 512 * 2 ** 20;

interface Work {
  readonly host: Cost;
  readonly fixed: Cost;
  readonly device?: number;
  readonly bus?: number;
  readonly read: number;
  readonly written: number;
}

const NONE: Cost = { seconds: 0, cpu: 0 };
const scaleCost = ({ seconds, cpu }: Cost, factor: number): Cost => ({
  seconds: seconds * factor,
  cpu: cpu * factor,
});
const addCosts = (...costs: readonly Cost[]): Cost =>
  costs.reduce((a, b) => ({ seconds: a.seconds + b.seconds, cpu: a.cpu + b.cpu }), NONE);

function stageOf(
  stage: Stage,
  tasks: number,
  { host, fixed, device = 0, bus = 0, read, written }: Work,
  { cluster, rates }: ForecastRequest,
): StageForecast {
  const { nodes, gpus, cores, network, disk, storage } = cluster;
  const { engine } = rates;
  const workers = Math.min(tasks, nodes * gpus);
  const waves = Math.ceil(tasks / (nodes * gpus));
  /** Number of tasks on the node with the most tasks. */
  const maxTasks = Math.ceil(tasks / nodes);
  const cpu = host.cpu + fixed.cpu + rates.device.cpu * device;
  // Without separate storage, all data but a node's own share cross the network, in both directions.
  const remote = storage === undefined ? ((nodes - 1) / nodes) * (read + written) : Math.max(read, written);
  const alone: Record<Bound, number | undefined> = {
    host: waves * host.seconds,
    device: device > 0 ? waves * device : undefined,
    bus: bus > 0 ? waves * bus : undefined,
    tasks: waves * (fixed.seconds + engine.task),
    cores: (maxTasks * cpu) / (rates.host.full * cores),
    disk: disk === undefined ? undefined : ((tasks / nodes) * (read + written)) / disk,
    network: network === undefined ? undefined : (maxTasks * remote) / network,
    storage: storage === undefined ? undefined : (tasks * (read + written)) / storage,
  };
  const own = (['host', 'device', 'bus', 'tasks'] as const).map((name) => [name, alone[name] ?? 0] as const);
  const ownSeconds = own.reduce((sum, [, seconds]) => sum + seconds, 0);
  const shared = (['cores', 'disk', 'network', 'storage'] as const).map(
    (name) => [name, alone[name] ?? 0] as const,
  );
  const slowest = <T extends readonly [Bound, number]>(rows: readonly T[]): T =>
    rows.reduce((a, b) => (b[1] > a[1] ? b : a));
  const [sharedBound, sharedSeconds] = slowest(shared);
  const isShared = sharedSeconds > ownSeconds;
  return {
    ...{ stage, tasks, workers, waves },
    seconds: engine.stage + Math.max(ownSeconds, sharedSeconds),
    binds: isShared ? sharedBound : slowest(own)[0],
    alone: Object.fromEntries(Object.entries(alone).filter(([, seconds]) => seconds !== undefined)),
  };
}

/** Returns the forecast for the requested number of partitions, or for the default one. */
export function forecast(request: ForecastRequest): Forecast {
  const { bytes, order, kind, cluster, rates } = request;
  const { host } = rates;
  const { nodes, gpus, memory } = cluster;
  const { unit: recordBytes } = kind;
  const n = Math.max(1, Math.floor(bytes / recordBytes));
  const partitions = request.partitions ?? partitionsFor(bytes);
  const shards = shardsFor(bytes, request.shards);
  const samples = sampleSize(partitions, recordBytes);
  const partBytes = bytes / partitions;
  const needed = partMemory(partBytes * LARGEST_PART, order) + WORKER_BYTES;
  const share = memory === undefined ? Number.POSITIVE_INFINITY : memory / gpus;
  const isTooLong = partBytes * LARGEST_PART > ARRAY_BYTES;
  const byDisk = isTooLong ? 'array' : needed > share ? 'memory' : undefined;
  const deviceSeconds = byDisk ? Math.min(share, maxMemory(order) + WORKER_BYTES) : needed;
  const ofShard = bytes / shards;
  const { device, bus } = deviceCost(rates.device, kind);
  const inPart = partBytes / recordBytes;
  const again = byDisk ? 1 : 0;
  const add = (stage: Stage, tasks: number, work: Work) => stageOf(stage, tasks, work, request);
  const stages = [
    add('sample', shards, {
      host: scaleCost(host.sample, samples / shards),
      fixed: host.task,
      ...{
        read: (samples / shards) * Math.max(recordBytes, 4096),
        written: (samples / shards) * recordBytes,
      },
    }),
    add('splitters', 1, {
      host: scaleCost(host.splitters, samples),
      fixed: host.task,
      read: samples * recordBytes,
      written: 0,
    }),
    add('partition', shards, {
      host: scaleCost(host.partition, ofShard),
      fixed: addCosts(host.task, scaleCost(host.piece, partitions)),
      ...{ read: ofShard, written: ofShard },
    }),
    add('sort', partitions, {
      host: addCosts(scaleCost(host.sort, partBytes), scaleCost(host.partition, again * partBytes)),
      fixed: addCosts(host.task, scaleCost(host.opened, shards)),
      ...{ device: device * inPart, bus: bus * inPart },
      ...{ read: (1 + again) * partBytes, written: (1 + again) * partBytes },
    }),
    add('verify', partitions, {
      host: scaleCost(host.verify, partBytes),
      fixed: host.task,
      ...{ read: partBytes, written: 0 },
    }),
  ];
  const seconds = stages.reduce((sum, stage) => sum + stage.seconds, rates.engine.job);
  return {
    ...{ bytes, n, nodes, workers: nodes * gpus, partitions, shards, seconds, stages, partBytes, byDisk },
    nodeHours: (nodes * seconds) / 3600,
    memoryPerNode: Math.min(gpus, Math.ceil(partitions / nodes)) * deviceSeconds,
  };
}

/** Numbers of partitions within this factor of the best duration count as equal; the smallest is chosen. */
const TIE_TOLERANCE = 1.01;

/** Returns the forecast with the number of partitions that minimises the duration. */
export function bestForecast(request: ForecastRequest): Forecast {
  const all = Array.from({ length: MAX_PARTITIONS }, (_, i) => forecast({ ...request, partitions: i + 1 }));
  const minSeconds = Math.min(...all.map(({ seconds }) => seconds));
  return all.find(({ seconds }) => seconds <= TIE_TOLERANCE * minSeconds) as Forecast;
}

/** Returns the maximum bytes that can be sorted within a time, with a precision of 0.1 %; 0 when none can. */
export function maxBytesWithin(seconds: number, request: Omit<ForecastRequest, 'bytes'>): number {
  const { unit: recordBytes } = request.kind;
  let [lower, upper] = [recordBytes, 2 ** 52];
  if (bestForecast({ ...request, bytes: lower }).seconds > seconds) return 0;
  while (upper / lower > 1.001) {
    const bytes = Math.sqrt(lower * upper);
    if (bestForecast({ ...request, bytes }).seconds <= seconds) lower = bytes;
    else upper = bytes;
  }
  return Math.floor(lower / recordBytes) * recordBytes;
}
