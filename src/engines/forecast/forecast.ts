/**
 * How long a sort over many machines would take. The workers of a stage do its tasks in waves; a stage takes as long as its
 * waves do, or as what all of them together want of cores, disks and networks. What the rates are was measured; what
 * nodes, networks and disks can do is what the user says of them.
 */
import { maxMemory } from '../../io/external/budget.js';
import { MAX_PARTITIONS } from '../../io/external/splitters.js';
import type { RecordOrdering } from '../../io/record-ordering.js';
import type { Stage } from '../job-runner.js';
import { partitionsFor, shardsFor } from '../make-job.js';
import { partMemory } from '../sort-part.js';
import { sampleSize } from '../stages.js';
import { type Cost, deviceCost, type Rates, type RecordKind } from './rates.js';

/** What is there. Rates are bytes a second; what is left out binds nothing. */
export interface Cluster {
  readonly nodes: number;
  /** Workers of a node: one for each of its devices. */
  readonly gpus: number;
  /** Cores of a node. */
  readonly cores: number;
  /** Of a node, each way. */
  readonly network?: number | undefined;
  /** Of the disks of a node, reading and writing together. */
  readonly disk?: number | undefined;
  /** Of a storage beside the nodes, all of it. */
  readonly storage?: number | undefined;
  /** Bytes of a node's memory that its workers may take. */
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

/** What a stage waits for: what workers do each by itself, or what they share. */
export type Bound = 'host' | 'device' | 'bus' | 'tasks' | 'cores' | 'disk' | 'network' | 'storage';

export interface StageForecast {
  readonly stage: Stage;
  readonly tasks: number;
  /** Workers that have one at a time, and how often. */
  readonly workers: number;
  readonly waves: number;
  readonly seconds: number;
  readonly binds: Bound;
  /** What each would take alone, in seconds; undefined of what no figure is known. */
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
  /** Bytes of a part on the average, and of memory that a node's workers take to sort in it. */
  readonly partBytes: number;
  readonly memoryPerNode: number;
  /** Why parts go by way of the disk once more: they are larger than memory, or than an array of Node.js; undefined if not. */
  readonly byDisk: 'memory' | 'array' | undefined;
}

/** Samples are so large that the largest part is about so much larger than the average one. */
const LARGEST_PART = 1.1;

/** An array of Node.js 20; newer ones have more room. */
const ARRAY_BYTES = 2 ** 32;

/** Beside parts: Node.js, the device's driver, buffers of files. */
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
  /** Tasks of the node that has most of them. */
  const maxTasks = Math.ceil(tasks / nodes);
  const cpu = host.cpu + fixed.cpu + (rates.device?.cpu ?? 0) * device;
  // What a node reads is on another one, but for its share; and others read and write what it has.
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

/** How long it would take with so many partitions: those that are asked for, or that a sort makes by itself. */
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

/** Numbers of partitions that take about as long as the best one count as that: the fewest are taken. */
const TIE_TOLERANCE = 1.01;

/** With which number of partitions it would take the least time. */
export function bestForecast(request: ForecastRequest): Forecast {
  const all = Array.from({ length: MAX_PARTITIONS }, (_, i) => forecast({ ...request, partitions: i + 1 }));
  const minSeconds = Math.min(...all.map(({ seconds }) => seconds));
  return all.find(({ seconds }) => seconds <= TIE_TOLERANCE * minSeconds) as Forecast;
}

/** The most bytes that are sorted within a time, to one part in a thousand; 0 where none are. */
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
