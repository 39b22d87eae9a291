/**
 * Model of the duration of a sort on many machines. The workers of a stage run its tasks in waves. A stage takes as long
 * as its waves, or as its total demand on cores, disks or networks, whichever is longer. Rates are measured; the user
 * specifies nodes, networks and disks.
 */
import { maxMemory } from '../io/external/budget.js';
import { MAX_PARTITIONS } from '../io/external/splitters.js';
import { wholeMemory } from '../io/file-sort/file-plan.js';
import type { RecordOrdering } from '../io/records/record-ordering.js';
import type { Stage } from './job-runner.js';
import { shardsFor } from './make-job.js';
import { sampleSize } from './stages.js';

/** Time of a worker, and processor time of all its threads, in seconds. */
type Cost = readonly [wall: number, cpu: number];

/** Costs of a worker on one host and device. */
interface WorkerRates {
  /** Per sampled record: reading it, and choosing splitters from it. */
  readonly sample: Cost;
  readonly splitters: Cost;
  /** Per byte: from a shard to pieces; from pieces to a part, without the device; and reading a part back. */
  readonly partition: Cost;
  readonly sort: Cost;
  readonly verify: Cost;
  /** Per piece: writing it, and opening it for reading. */
  readonly piece: Cost;
  readonly opened: Cost;
  /** Per task, in addition. */
  readonly task: Cost;
  /** Seconds of the device per record. */
  readonly device: number;
  /** Bytes per record on the bus, both ways. Of a record, a word is uploaded and its position downloaded. */
  readonly busBytes: number;
}

/**
 * Hosts: one worker on two cores of an AMD EPYC in a virtual machine, Node.js 20, files in the page cache, 2026-11-23.
 * Devices: NVIDIA H200, driver 580.159.04, 2^28 keys and 2^25 records, 2026-11-21.
 */
const WORKER_RATES: Readonly<Record<'keys32' | 'keys64' | 'records', WorkerRates>> = {
  keys32: {
    sample: [2.0e-6, 3.2e-6],
    splitters: [0.92e-6, 1.5e-6],
    partition: [3.26e-9, 5.47e-9],
    sort: [3.46e-9, 3.79e-9],
    verify: [2.11e-10, 4.2e-10],
    piece: [8.9e-4, 9.4e-4],
    opened: [2.1e-4, 1e-4],
    task: [0.0168, 0.0268],
    device: 3.57e-3 / 2 ** 28,
    busBytes: 8,
  },
  keys64: {
    sample: [3.4e-6, 5.8e-6],
    splitters: [1.1e-6, 1.7e-6],
    partition: [3.37e-9, 5.22e-9],
    sort: [3.2e-9, 2.83e-9],
    verify: [2.25e-10, 3.4e-10],
    piece: [7.2e-4, 6.2e-4],
    opened: [0.7e-4, 0.7e-4],
    task: [0.0166, 0.0267],
    device: 11.56e-3 / 2 ** 28,
    busBytes: 16,
  },
  records: {
    sample: [2.0e-6, 2.0e-6],
    splitters: [1.15e-6, 1.7e-6],
    partition: [3.77e-9, 5.17e-9],
    sort: [5.03e-9, 5.79e-9],
    verify: [1.08e-9, 1.22e-9],
    piece: [8.0e-4, 7.4e-4],
    opened: [1.8e-4, 1.2e-4],
    task: [0.0188, 0.0299],
    device: 6.83e-3 / 3 / 2 ** 25,
    busBytes: 12,
  },
};

/** Speed of a core while all cores of a host work, relative to its speed alone. */
const BUSY_CORE = 0.8;

/** Bytes per second and direction between the host and an H200. */
const BUS_RATE = 55e9;

/** Seconds that an engine adds per task, stage and job. Slurm is approximate, Kubernetes assumed. */
const ENGINE_RATES: Readonly<
  Record<string, { readonly task: number; readonly stage: number; readonly job: number }>
> = {
  local: { task: 0, stage: 0, job: 0.1 },
  bullmq: { task: 0.005, stage: 0.01, job: 0.15 },
  slurm: { task: 0.8, stage: 2.5, job: 5 },
  kubernetes: { task: 5, stage: 10, job: 10 },
};

/** Size of the largest part relative to the average, given the sample size. */
const LARGEST_PART = 1.1;

/** Maximum array size in Node.js 20; newer versions allow more. */
const ARRAY_BYTES = 2 ** 32;

/** Memory per worker in addition to parts: Node.js, device driver, and file buffers. */
const WORKER_BYTES = 512 * 2 ** 20;

/** Numbers of partitions within this factor of the shortest time count as equal; the smallest is chosen. */
const TIE_TOLERANCE = 1.01;

/** The hardware. Rates are in bytes per second; an absent value is no limit. */
export interface Cluster {
  readonly nodes: number;
  /** Workers per node, one per device. */
  readonly gpus: number;
  readonly coresPerNode: number;
  /** Network rate per node and direction. */
  readonly network: number | undefined;
  /** Disk rate per node, for reads and writes together. */
  readonly disk: number | undefined;
  /** Total rate of a storage outside the nodes. */
  readonly storage: number | undefined;
  /** Memory per node that its workers may use, in bytes. */
  readonly memory: number | undefined;
}

export interface PlanRequest {
  readonly bytes: number;
  readonly order: RecordOrdering;
  readonly kind: keyof typeof WORKER_RATES;
  readonly engine: string;
  readonly cluster: Cluster;
}

/** What limits a stage: a part of each worker, or something that workers share. */
export type Bound = 'host' | 'device' | 'bus' | 'tasks' | 'cores' | 'disk' | 'network' | 'storage';

interface StagePlan {
  readonly stage: Stage;
  readonly tasks: number;
  readonly seconds: number;
  readonly limitedBy: Bound;
}

export interface SortPlan {
  readonly bytes: number;
  readonly nodes: number;
  readonly partitions: number;
  readonly shards: number;
  readonly seconds: number;
  readonly nodeHours: number;
  readonly memoryPerNode: number;
  /** Whether parts exceed memory, or the maximum length of an array of Node.js. */
  readonly external: boolean;
  readonly limitedBy: Bound;
  readonly stages: readonly StagePlan[];
}

/** Demand of a task: costs of the host per data and per task, seconds of device and bus, bytes of files. */
interface Demand {
  readonly host: Cost;
  readonly fixed: Cost;
  readonly device?: number;
  readonly bus?: number;
  readonly read: number;
  readonly written: number;
}

const times = ([wall, cpu]: Cost, factor: number): Cost => [wall * factor, cpu * factor];
const plus = ([wall, cpu]: Cost, other: Cost): Cost => [wall + other[0], cpu + other[1]];

const longest = (rows: Readonly<Partial<Record<Bound, number>>>): readonly [Bound, number] =>
  (Object.entries(rows) as [Bound, number][]).reduce((a, b) => (b[1] > a[1] ? b : a));

function stagePlan(stage: Stage, tasks: number, demand: Demand, { cluster, engine }: PlanRequest): StagePlan {
  const { nodes, gpus, coresPerNode, network, disk, storage } = cluster;
  const { host, fixed, device = 0, bus = 0, read, written } = demand;
  const rates = ENGINE_RATES[engine] ?? { task: 0, stage: 0, job: 0 };
  const waves = Math.ceil(tasks / (nodes * gpus));
  const tasksOfNode = Math.ceil(tasks / nodes);
  const bytes = read + written;
  // Without separate storage, all data but a node's own share cross the network, in both directions.
  const remote = storage === undefined ? ((nodes - 1) / nodes) * bytes : Math.max(read, written);
  const inTurn = {
    host: waves * host[0],
    device: waves * device,
    bus: waves * bus,
    tasks: waves * (fixed[0] + rates.task),
  };
  const [sharedBound, shared] = longest({
    cores: (tasksOfNode * (host[1] + fixed[1])) / (BUSY_CORE * coresPerNode),
    disk: disk === undefined ? 0 : ((tasks / nodes) * bytes) / disk,
    network: network === undefined ? 0 : (tasksOfNode * remote) / network,
    storage: storage === undefined ? 0 : (tasks * bytes) / storage,
  });
  const own = Object.values(inTurn).reduce((sum, seconds) => sum + seconds, 0);
  return {
    ...{ stage, tasks },
    seconds: rates.stage + Math.max(own, shared),
    limitedBy: shared > own ? sharedBound : longest(inTurn)[0],
  };
}

export function planWith(partitions: number, request: PlanRequest): SortPlan {
  const { bytes, order, kind, cluster, engine } = request;
  const { nodes, gpus, memory } = cluster;
  const { recordBytes } = order;
  const rates = WORKER_RATES[kind];
  const shards = shardsFor(bytes, undefined);
  const samples = sampleSize(partitions, recordBytes);
  const [shard, part] = [bytes / shards, bytes / partitions];
  const needed = wholeMemory(part * LARGEST_PART, order) + WORKER_BYTES;
  const share = memory === undefined ? Number.POSITIVE_INFINITY : memory / gpus;
  const external = part * LARGEST_PART > ARRAY_BYTES || needed > share;
  const again = external ? 1 : 0;
  const fixed = rates.task;
  const sampled = (samples / shards) * recordBytes;
  const demands: readonly (readonly [Stage, tasks: number, Demand])[] = [
    [
      'sample',
      shards,
      {
        ...{ host: times(rates.sample, samples / shards), fixed },
        ...{ read: (samples / shards) * Math.max(recordBytes, 4096), written: sampled },
      },
    ],
    [
      'splitters',
      1,
      { host: times(rates.splitters, samples), fixed, read: samples * recordBytes, written: 0 },
    ],
    [
      'partition',
      shards,
      {
        ...{ host: times(rates.partition, shard), fixed: plus(fixed, times(rates.piece, partitions)) },
        ...{ read: shard, written: shard },
      },
    ],
    [
      'sort',
      partitions,
      {
        host: plus(times(rates.sort, part), times(rates.partition, again * part)),
        fixed: plus(fixed, times(rates.opened, shards)),
        device: rates.device * (part / recordBytes),
        bus: (rates.busBytes / BUS_RATE) * (part / recordBytes),
        ...{ read: (1 + again) * part, written: (1 + again) * part },
      },
    ],
    ['verify', partitions, { host: times(rates.verify, part), fixed, read: part, written: 0 }],
  ];
  const stages = demands.map(([stage, tasks, demand]) => stagePlan(stage, tasks, demand, request));
  const seconds = stages.reduce((sum, stage) => sum + stage.seconds, ENGINE_RATES[engine]?.job ?? 0);
  const perWorker = external ? Math.min(share, maxMemory(order) + WORKER_BYTES) : needed;
  return {
    ...{ bytes, nodes, partitions, shards, seconds, nodeHours: (nodes * seconds) / 3600 },
    memoryPerNode: Math.min(gpus, Math.ceil(partitions / nodes)) * perWorker,
    external,
    limitedBy: stages.reduce((a, b) => (b.seconds > a.seconds ? b : a)).limitedBy,
    stages,
  };
}

/** Returns the plan with the smallest number of partitions that has the shortest time. */
export function planSort(request: PlanRequest): SortPlan {
  const plans = Array.from({ length: MAX_PARTITIONS }, (_, i) => planWith(i + 1, request));
  const shortest = Math.min(...plans.map(({ seconds }) => seconds));
  return plans.find(({ seconds }) => seconds <= TIE_TOLERANCE * shortest) as SortPlan;
}
