/**
 * Measures rates on this machine: sorts records with tasks in this process, twice with different divisions, and once on
 * the device alone.
 */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordOrdering } from '../../io/records/record-ordering.js';
import { ioError } from '../../io/streams/raw.js';
import type { Sorter } from '../../sort/api/sorter.js';
import type { SortReport } from '../../sort/model/report.js';
import { Random } from '../../util/random.js';
import { runSort } from '../coordinator.js';
import { LocalJobRunner } from '../local-job-runner.js';
import type { SortRequest } from '../make-job.js';
import { openSortJob } from '../open-job.js';
import { hostFacts, RunTimes } from '../run-times.js';
import type { WorkerContext } from '../worker-context.js';
import { measureFull } from './cores.js';
import { hostRatesOf, type RunReport } from './fit.js';
import {
  busBytes,
  type Cost,
  type DeviceRates,
  deviceKind,
  type HostRates,
  type RecordKind,
} from './rates.js';
import { runReport } from './report.js';

export interface MeasureRequest {
  readonly sorter: Sorter;
  readonly order: RecordOrdering;
  readonly kind: RecordKind;
  /** Keys or records to sort, as in a request for a distributed sort. */
  readonly request: Pick<SortRequest, 'keys' | 'records'>;
  /** Folder in which a temporary folder is created. */
  readonly folder: string;
  /** Size of the file to sort in bytes; default 256 MiB. */
  readonly bytes?: number | undefined;
  readonly memory: number;
  readonly signal: AbortSignal;
  readonly onProgress?: ((what: string) => void) | undefined;
}

/** Bytes of each measured file: more than the caches of most CPUs hold. */
const BYTES = 256 * 2 ** 20;

/** Few pieces and many pieces of the same file; the difference determines the cost per piece and task. */
const CUTS = [
  { shards: 4, partitions: 4 },
  { shards: 24, partitions: 48 },
] as const;

const PIECE_BYTES = 2 ** 22;

export async function measureRates(
  request: MeasureRequest,
): Promise<{ readonly host: HostRates; readonly device: DeviceRates | undefined }> {
  const { folder, kind, order, sorter, onProgress } = request;
  const own = await mkdtemp(join(folder, 'clsort-measure-')).catch((error) => {
    throw ioError('write', folder, error);
  });
  try {
    const bytes = Math.floor((request.bytes ?? BYTES) / (8 * kind.unit)) * 8 * kind.unit;
    const path = join(own, 'in');
    onProgress?.('writing the test file');
    await writeRandom(path, bytes);
    const maxPartitions = CUTS[0].partitions;
    onProgress?.('measuring the device');
    const device = await measureDevice(sorter, order, kind, bytes / maxPartitions);
    const runs: RunReport[] = [];
    for (const cut of CUTS) {
      onProgress?.(`sorting ${cut.shards} shards into ${cut.partitions} partitions`);
      runs.push(await run(request, { own, path, ...cut }));
    }
    onProgress?.('measuring all cores together');
    const all = { ...hostRatesOf(runs, undefined), full: await measureFull() };
    return { host: device ? subtractDevice(all, device, kind) : all, device };
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

/** Writes records of random bits, since the values do not affect the duration. */
async function writeRandom(path: string, bytes: number): Promise<void> {
  const random = new Random(1);
  try {
    const file = await open(path, 'wx');
    try {
      for (let done = 0; done < bytes; done += PIECE_BYTES) {
        await file.write(random.bytes(Math.min(PIECE_BYTES, bytes - done)));
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    throw ioError('write', path, error);
  }
}

interface Cut {
  readonly own: string;
  readonly path: string;
  readonly shards: number;
  readonly partitions: number;
}

async function run(
  { request, sorter, memory, signal }: MeasureRequest,
  { own, path, shards, partitions }: Cut,
): Promise<RunReport> {
  const out = join(own, 'out');
  const job = await openSortJob({ ...request, inputs: [path], out, shards, partitions, how: {} }, { signal });
  try {
    const context: WorkerContext = { shared: job.shared, sorter: async () => sorter, memory, signal };
    const engine = new LocalJobRunner(context);
    const times = new RunTimes();
    const report = await runSort({ job: job.job, folder: job.folder, context }, engine, times.handle);
    return runReport(job.job, report, { engine: engine.name, ...times.facts });
  } finally {
    await job.release();
  }
}

/** Returns the rates of device and bus for records of a part; undefined when no device sorts them. */
async function measureDevice(
  sorter: Sorter,
  order: RecordOrdering,
  kind: RecordKind,
  bytes: number,
): Promise<DeviceRates | undefined> {
  const records = new Random(2).bytes(Math.floor(bytes / kind.unit) * kind.unit);
  const reports: SortReport[] = [];
  const onReport = (report: SortReport): void => void reports.push(report);
  // The first sort compiles kernels.
  for (let i = 0; i < 3; i++) await order.sort(sorter, records, { profile: true, onReport });
  const { device: on, n, stages } = reports.at(-1) as SortReport;
  if (on.type === 'host') return undefined;
  const all = (isOne: (stage: string) => boolean): number =>
    stages.reduce((sum, { stage, seconds }) => sum + (isOne(stage) ? (seconds ?? 0) : 0), 0);
  const isTransfer = (stage: string): boolean => stage === 'upload' || stage === 'download';
  const [kernels, transfers] = [all((stage) => !isTransfer(stage)), all(isTransfer)];
  if (kernels === 0) return undefined;
  const isCpu = on.type === 'cpu';
  return {
    ...{ name: on.name, driver: on.driver ?? '', date: today(), source: 'measured here' },
    [deviceKind(kind)]: kernels / n,
    bus: isCpu || transfers === 0 ? undefined : (busBytes(kind) * n) / transfers,
    cpu: isCpu ? hostFacts().cores : 0,
  };
}

/** Subtracts the time of the device from the sort rate. */
function subtractDevice(rates: HostRates, device: DeviceRates, kind: RecordKind): HostRates {
  const { unit: recordBytes } = kind;
  const perByte = (device[deviceKind(kind)] ?? 0) / recordBytes;
  const bus = device.bus === undefined ? 0 : busBytes(kind) / recordBytes / device.bus;
  const sort: Cost = {
    seconds: Math.max(0, rates.sort.seconds - perByte - bus),
    cpu: Math.max(0, rates.sort.cpu - device.cpu * perByte),
  };
  return { ...rates, sort };
}

const today = (): string => new Date().toISOString().slice(0, 10);
