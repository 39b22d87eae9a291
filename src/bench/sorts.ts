import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { AlgorithmOption } from '../algorithms/algorithm-names.js';
import type { Device } from '../device/device.js';
import { findDevices } from '../device/platform/platform.js';
import { selectDevice } from '../device/platform/select-device.js';
import { type Distribution, generate } from '../io/operations/gen.js';
import { bytesOf, keyWords } from '../keys/array.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { Sorter } from '../sort/api/sorter.js';
import { openDevice } from '../sort/backend/first-build.js';
import type { SortOptions } from '../sort/model/options.js';
import type { SortReport } from '../sort/model/report.js';
import { hostChecksum } from '../sort/verification/checksum.js';
import { MismatchError, UnsupportedError } from '../util/errors.js';
import type { PreparationMessage } from '../util/preparation-channel.js';
import type { Mode } from './modes.js';
import { slowerRows, type Timing, timing } from './statistics.js';

/** One combination of the axes. */
export interface SortCase {
  readonly algorithm: string;
  readonly dtype: Dtype;
  readonly mode: Mode;
  readonly distribution: Distribution;
  readonly n: number;
}

/** Result of one case. Times are present only when it is `ok`. */
export interface SortRow extends SortCase {
  /** Name of the device; present when several devices were measured. */
  readonly device?: string;
  readonly result: 'ok' | 'wrong' | 'unsupported' | 'error';
  readonly reason?: string;
  /** Checked against the host engine's result, or for many keys by verification on the device. */
  readonly checked?: 'reference' | 'device';
  /** Sum of the kernel times by device events; absent for devices without profiling times. */
  readonly kernel?: Timing;
  /** Time from typed array to new typed array. */
  readonly endToEnd?: Timing;
  /** Seconds in which the first call compiled its programs, or loaded them from a cache; missing if it needed none. */
  readonly compileSeconds?: number;
  /** Based on kernel time if available, otherwise on end-to-end time. */
  readonly keysPerSecond?: number;
  /** Minimum traffic of an 8-bit LSD sort, per second of kernel time. */
  readonly bytesPerSecond?: number;
  /** `bytesPerSecond` as a share of the copy bandwidth of the same run. */
  readonly copyShare?: number;
}

export const SORT_SCHEMA = 'clsort.bench.sorts/1';

export interface SortBench {
  readonly schema: typeof SORT_SCHEMA;
  readonly device: string;
  readonly platform: string;
  readonly driver: string;
  readonly date: string;
  /** Bytes read plus bytes written per second by a buffer copy; null for devices without profiling times. */
  readonly copyBytesPerSecond: number | null;
  readonly rows: readonly SortRow[];
}

/** Several devices, measured with the same cases. */
export interface SortBenches {
  readonly schema: 'clsort.bench.sorts/2';
  readonly benches: readonly SortBench[];
}

/** Runs one case on an engine and returns the bytes of the result, and the report. */
export type SortRunner = (
  sort: SortCase,
  keys: Uint8Array,
  options: { readonly profile?: boolean; readonly verify?: boolean },
) => Promise<{ result: Uint8Array; report: SortReport }>;

/** Largest number of keys that the host engine sorts for comparison: more would take longer than all repetitions. */
const MAX_COMPARED = 2 ** 22;

/** Seed of the keys of every case, so that runs and peers sort the same keys. */
export const SEED = 1;

/** Returns a runner that calls a Sorter. */
export function runnerOf(sorter: Sorter): SortRunner {
  return async ({ algorithm, dtype, mode }, bytes, { profile = false, verify = false }) => {
    const keys = keyWords(bytes, dtypeInfo(dtype));
    let report: SortReport | undefined;
    const options = {
      dtype,
      profile,
      verify,
      // A fallback result would hide that the first one was wrong.
      ...(verify && { onMismatch: 'throw' as const }),
      onReport: (made: SortReport) => {
        report = made;
      },
      ...(sorter.device && { algorithm: algorithm as AlgorithmOption }),
    };
    const result = await sortAs(sorter, mode, keys, options);
    if (!report) throw new UnsupportedError('cannot measure the sort: it returned no report');
    return { result, report };
  };
}

async function sortAs(
  sorter: Sorter,
  mode: Mode,
  keys: ReturnType<typeof keyWords>,
  options: SortOptions,
): Promise<Uint8Array> {
  if (mode === 'keys') return bytesOf(await sorter.sort(keys, options));
  if (mode === 'argsort') return bytesOf(await sorter.argsort(keys, options));
  // `Uint32Array.from` first builds a list, which exhausts the memory when there are many keys.
  const values = new Uint32Array(keys.length);
  for (let i = 0; i < values.length; i++) values[i] = i;
  const pairs = await sorter.sortPairs(keys, values, options);
  return Buffer.concat([bytesOf(pairs.keys), bytesOf(pairs.values)]);
}

/** Returns the minimum number of bytes that an LSD sort with 8-bit digits moves, with one pass per digit. */
export function minTrafficBytes({ dtype, mode, n }: Pick<SortCase, 'dtype' | 'mode' | 'n'>): number {
  const { bytes } = dtypeInfo(dtype);
  const perValue = mode === 'keys' ? 0 : 4;
  return n * (bytes * (1 + 2 * bytes) + perValue * 2 * bytes);
}

export interface MeasureOptions {
  readonly repeats: number;
  readonly copyBytesPerSecond?: number | null;
  /** Above this number of keys, the device verifies the result. */
  readonly maxCompared?: number;
}

/** Checks one case against the reference engine, then times it. A wrong result yields no times. */
export async function measureSort(
  sort: SortCase,
  host: SortRunner,
  reference: SortRunner,
  { repeats, copyBytesPerSecond = null, maxCompared = MAX_COMPARED }: MeasureOptions,
): Promise<SortRow> {
  const { dtype, distribution, n } = sort;
  const checked = n <= maxCompared ? 'reference' : 'device';
  try {
    const keys = generate({ dtype, count: n, distribution, seed: SEED });
    // Verification on the device is not timed; timed results must equal the verified one.
    let compileSeconds = 0;
    const onPreparation = (message: unknown): void => {
      const { step, seconds } = message as PreparationMessage;
      if (step === 'build') compileSeconds += seconds;
    };
    subscribe('clsort:preparation', onPreparation);
    const first = await host(sort, keys, { verify: checked === 'device' }).finally(() =>
      unsubscribe('clsort:preparation', onPreparation),
    );
    let made = sort.algorithm === 'auto' ? undefined : sort.algorithm;
    const replaced = ({ report: { algorithm } }: Sorted): SortRow | undefined =>
      made === undefined || algorithm === made
        ? undefined
        : { ...sort, result: 'error', reason: `'${algorithm}' sorted instead of '${made}'` };
    const other = replaced(first);
    if (other) return other;
    const isRight =
      checked === 'device' ? await sameAsVerified(first) : sameAs((await reference(sort, keys, {})).result);
    if (!(await isRight(first))) return { ...sort, result: 'wrong', checked };

    const ends: number[] = [];
    const kernels: (number | null)[] = [];
    for (let i = 0; i < 2 * repeats; i++) {
      const profile = i >= repeats;
      const timed = await host(sort, keys, { profile });
      if (!(await isRight(timed))) return { ...sort, result: 'wrong', checked };
      const changed = replaced(timed);
      if (changed) return changed;
      // With `auto`, an unverified sort may use another algorithm, in parts: the first timed sort decides.
      made ??= timed.report.algorithm;
      if (profile) kernels.push(kernelSeconds(timed.report));
      else ends.push(timed.report.seconds);
    }
    const measured = kernels.filter((seconds) => seconds !== null);
    const kernel = measured.length === repeats ? timing(measured) : undefined;
    const endToEnd = timing(ends);
    const bytesPerSecond = kernel && minTrafficBytes(sort) / kernel.median;
    return {
      ...sort,
      algorithm: made ?? sort.algorithm,
      result: 'ok',
      checked,
      ...(compileSeconds > 0 && { compileSeconds }),
      ...(kernel && { kernel }),
      endToEnd,
      keysPerSecond: n / (kernel ?? endToEnd).median,
      ...(bytesPerSecond && { bytesPerSecond }),
      ...(bytesPerSecond && copyBytesPerSecond && { copyShare: bytesPerSecond / copyBytesPerSecond }),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof MismatchError) return { ...sort, result: 'wrong', checked, reason };
    return { ...sort, result: error instanceof UnsupportedError ? 'unsupported' : 'error', reason };
  }
}

type Sorted = Awaited<ReturnType<SortRunner>>;

const sameAs =
  (expected: Uint8Array) =>
  async ({ result }: Sorted): Promise<boolean> =>
    Buffer.compare(result, expected) === 0;

/** Returns a check against a result that the device has verified, by a checksum over all words and their positions. */
async function sameAsVerified({ result, report }: Sorted): Promise<(sorted: Sorted) => Promise<boolean>> {
  const { order, permutation } = report.verified ?? { order: false, permutation: false };
  if (!order || !permutation) return async () => false;
  const expected = await hostChecksum(result);
  return async (sorted) => (await hostChecksum(sorted.result)) === expected;
}

/** Returns the device seconds without transfers; null when there are none, or without profiling times. */
export function kernelSeconds({ stages }: SortReport): number | null {
  const kernels = stages.filter(({ stage }) => stage !== 'upload' && stage !== 'download');
  if (kernels.length === 0) return null;
  return kernels.reduce<number | null>(
    (sum, { seconds }) => (sum === null || seconds === null ? null : sum + seconds),
    0,
  );
}

/** Returns bytes read plus written per second by the fastest of `repeats` copies; null without profiling times. */
export async function copyBandwidth(device: Device, bytes: number, repeats: number): Promise<number | null> {
  using from = device.buffer(bytes);
  using to = device.buffer(bytes);
  device.queue.fill(from, 0x12345678);
  await device.queue.finish();
  device.queue.startProfile();
  for (let i = 0; i < repeats; i++) device.queue.copy(from, to, { bytes });
  await device.queue.finish();
  const times = device.queue.endProfile().flatMap(({ seconds }) => (seconds === null ? [] : [seconds]));
  return times.length === 0 ? null : (2 * bytes) / Math.min(...times);
}

export interface BenchRequest {
  readonly device: string;
  readonly cases: readonly SortCase[];
  readonly repeats: number;
  readonly onRow?: (row: SortRow) => void;
}

/** Largest copy, in bytes, for measuring the bandwidth: it exceeds every cache and is quick. */
const COPY_BYTES = 256 * 2 ** 20;

/** Measures every case on one device, with the host engine as reference. */
export async function benchSorts({ device: spec, cases, repeats, onRow }: BenchRequest): Promise<SortBench> {
  const device = await openDevice(spec);
  let copyBytesPerSecond: number | null;
  try {
    copyBytesPerSecond = await copyBandwidth(device, Math.min(COPY_BYTES, device.info.maxAllocation), 5);
  } finally {
    await device.close();
  }
  const sorter = await Sorter.open({ device: device.info.id });
  const host = await Sorter.open({ device: 'host' });
  try {
    const rows: SortRow[] = [];
    for (const sort of cases) {
      const row = await measureSort(sort, runnerOf(sorter), runnerOf(host), { repeats, copyBytesPerSecond });
      rows.push(row);
      onRow?.(row);
    }
    const { name, platform, driver } = device.info;
    const date = new Date().toISOString().slice(0, 10);
    return { schema: SORT_SCHEMA, device: name, platform, driver, date, copyBytesPerSecond, rows };
  } finally {
    await Promise.all([sorter.close(), host.close()]);
  }
}

/** Measures every case on several devices in turn; the rows name their device. */
export async function benchDevices({
  devices,
  onRow,
  ...request
}: Omit<BenchRequest, 'device'> & { readonly devices: readonly string[] }): Promise<SortBench[]> {
  const benches: SortBench[] = [];
  for (const device of devices) {
    const several = devices.length > 1;
    const { name } = several ? selectDevice(device, findDevices()).info : { name: '' };
    const onDeviceRow = (row: SortRow): SortRow => (several ? { device: name, ...row } : row);
    const bench = await benchSorts({ ...request, device, onRow: (row) => onRow?.(onDeviceRow(row)) });
    benches.push({ ...bench, rows: bench.rows.map(onDeviceRow) });
  }
  return benches;
}

/** Returns the rows of `now` that are slower than in `before`, or no longer correct. Both are of one device. */
export const regressions = (before: SortBench, now: SortBench): SortRow[] =>
  slowerRows(
    before.rows,
    now.rows,
    ({ algorithm, dtype, mode, distribution, n }) => [algorithm, dtype, mode, distribution, n].join(' '),
    ({ kernel, endToEnd }) => [kernel, endToEnd],
  );
