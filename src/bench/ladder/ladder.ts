/** Measures the ladders of the lectures: every step of each on the same keys, on devices and on the host. */
import type { Device } from '../../device/device.js';
import type { DeviceInfo } from '../../device/platform/platform.js';
import { openDevice } from '../../sort/backend/first-build.js';
import { UnsupportedError } from '../../util/errors.js';
import { Random } from '../../util/random.js';
import { copyBandwidth } from '../sorts.js';
import type { Timing } from '../statistics.js';
import { type Claim, claimsOf } from './claims.js';
import { histogramTasks } from './histogram.js';
import type { LadderRow } from './ladder-row.js';
import { measure, measureHost } from './measure.js';
import { reduceTasks } from './reduce.js';
import { scanTasks } from './scan.js';
import { sortTasks } from './sorts.js';
import { LADDERS, type LadderName, type Prepared, type StepMaker, type Task } from './task.js';

export { LADDERS, type LadderName };

/** A measured device. */
export interface LadderDevice {
  readonly info: DeviceInfo;
  /** Bytes read plus bytes written per second by a copy; null for devices without profiling times. */
  readonly copyBytesPerSecond: number | null;
}

export interface Ladder {
  readonly devices: readonly LadderDevice[];
  readonly rows: readonly LadderRow[];
  readonly claims: readonly Claim[];
}

export interface LadderRequest {
  /** Device specs, measured in turn. */
  readonly devices: readonly string[];
  readonly counts: readonly number[];
  readonly ladders?: readonly LadderName[];
  /** Timed runs of each step, after one untimed run; default 5. */
  readonly rounds?: number;
  readonly onRow?: (row: LadderRow) => void;
}

const TASKS: Readonly<Record<LadderName, (keys: Uint32Array) => Task[]>> = {
  reduce: reduceTasks,
  scan: scanTasks,
  histogram: histogramTasks,
  sorts: sortTasks,
};

/** A step is skipped when its time, extrapolated from fewer keys, exceeds this many seconds. */
const MAX_SECONDS = 20;
const COPY_BYTES = 256 * 2 ** 20;

const NO_TIMES = {
  ...{ kernelSeconds: null, seconds: null, endToEndSeconds: null, madSeconds: null },
  ...{ bytesPerSecond: null, copyShare: null, speedup: null },
};

function randomKeys(n: number): Uint32Array {
  const random = new Random(1);
  const keys = new Uint32Array(n);
  for (let i = 0; i < n; i++) keys[i] = random.u32();
  return keys;
}

/** Measures ladders on the same random u32 keys on all devices and on the host. Every result is checked. */
export async function ladder({
  devices: specs,
  counts,
  ladders = LADDERS,
  rounds = 5,
  onRow = () => undefined,
}: LadderRequest): Promise<Ladder> {
  const rows: LadderRow[] = [];
  const add = (row: LadderRow): void => {
    rows.push(row);
    onRow(row);
  };
  const devices: LadderDevice[] = [];
  const opened: Device[] = [];
  try {
    for (const spec of specs) {
      const device = await openDevice(spec);
      opened.push(device);
      const copied = await copyBandwidth(device, Math.min(COPY_BYTES, device.info.maxAllocation), 5);
      devices.push({ info: device.info, copyBytesPerSecond: copied });
    }
    const last = new Map<string, { n: number; seconds: number }>();
    for (const n of counts.toSorted((a, b) => a - b)) {
      const keys = randomKeys(n);
      for (const name of ladders) {
        for (const task of TASKS[name](keys)) {
          let first: number | undefined;
          for (const [i, device] of opened.entries()) {
            const copyBytesPerSecond = devices[i]?.copyBytesPerSecond ?? null;
            const own = await measureSteps({ device, task, n, rounds, copyBytesPerSecond, last, add });
            if (i === 0) first = own;
          }
          add(hostRow(task, n, measureHost(task.host, rounds), first));
        }
      }
    }
  } finally {
    for (const device of opened) await device.close();
  }
  const types = new Map(devices.map(({ info }) => [info.name, info.type]));
  return { devices, rows, claims: claimsOf(rows, types) };
}

interface StepsRequest {
  readonly device: Device;
  readonly task: Task;
  readonly n: number;
  readonly rounds: number;
  readonly copyBytesPerSecond: number | null;
  readonly last: Map<string, { n: number; seconds: number }>;
  readonly add: (row: LadderRow) => void;
}

/**
 * Measures all steps of a task on one device.
 *
 * @returns seconds of the first step; undefined unless it is right
 */
async function measureSteps(request: StepsRequest): Promise<number | undefined> {
  const { device, task, n, rounds, copyBytesPerSecond, last, add } = request;
  let first: number | undefined;
  for (const [number, maker] of task.steps.entries()) {
    const row = { primitive: task.ladder, task: task.task, step: maker.step, device: device.info.name, n };
    const key = `${device.info.id} ${task.ladder} ${task.task} ${maker.step}`;
    const before = last.get(key);
    const expected = before ? (before.seconds * n) / before.n : 0;
    if (expected > MAX_SECONDS) {
      const reason = `would take about ${Math.round(expected)} s, by what ${before?.n} keys took`;
      add({ ...row, result: 'skipped', reason, ...NO_TIMES });
      continue;
    }
    const prepared = await prepare(maker, device);
    if (typeof prepared === 'string') {
      add({ ...row, result: 'unsupported', reason: prepared, ...NO_TIMES });
      continue;
    }
    const times = await measure(device, task, prepared, rounds);
    if (!times) {
      add({ ...row, result: 'wrong', ...NO_TIMES });
      continue;
    }
    last.set(key, { n, seconds: times.device.median });
    const best = times.kernel ?? times.device;
    if (number === 0) first = best.median;
    const bytesPerSecond = task.bytes / best.median;
    add({
      ...{
        ...row,
        result: 'right',
        kernelSeconds: times.kernel?.median ?? null,
        seconds: times.device.median,
      },
      ...{ endToEndSeconds: times.endToEnd.median, madSeconds: best.mad, bytesPerSecond },
      copyShare: copyBytesPerSecond === null ? null : bytesPerSecond / copyBytesPerSecond,
      speedup: first === undefined ? null : first / best.median,
    });
  }
  return first;
}

/** Returns the prepared step, or the reason why the device does not support it. */
async function prepare(maker: StepMaker, device: Device): Promise<Prepared | string> {
  try {
    return await maker.make(device);
  } catch (error) {
    if (error instanceof UnsupportedError) return error.message;
    throw error;
  }
}

const hostRow = (
  { ladder: name, task, bytes }: Task,
  n: number,
  { median, mad }: Timing,
  first: number | undefined,
): LadderRow => ({
  ...{ primitive: name, task, step: 'host', device: 'host', n, result: 'right' },
  ...{ kernelSeconds: null, seconds: median, endToEndSeconds: median, madSeconds: mad },
  ...{
    bytesPerSecond: bytes / median,
    copyShare: null,
    speedup: first === undefined ? null : first / median,
  },
});
