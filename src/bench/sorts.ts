import { Device } from '../device/device.js';
import { type Distribution, generate } from '../io/gen.js';
import { bytesOf, keyWords } from '../keys/array.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import type { SortOptions } from '../sort/options.js';
import type { SortReport } from '../sort/report.js';
import { Sorter } from '../sort/sorter.js';
import { UnsupportedError } from '../util/errors.js';
import { isSlower, type Timing, timing } from './statistics.js';

/** What is sorted: keys alone, keys with a 4-byte value, or positions. */
export const MODES = ['keys', 'pairs', 'argsort'] as const;
export type Mode = (typeof MODES)[number];

/** One point of the axes. */
export interface SortCase {
  readonly algorithm: string;
  readonly dtype: Dtype;
  readonly mode: Mode;
  readonly distribution: Distribution;
  readonly n: number;
}

/** What came of one case. Times stand only beside `ok`. */
export interface SortRow extends SortCase {
  readonly result: 'ok' | 'wrong' | 'unsupported' | 'error';
  readonly reason?: string;
  /** Sum of the kernels by device events; left out where the device does not measure. */
  readonly kernel?: Timing;
  /** From typed array to new typed array. */
  readonly endToEnd?: Timing;
  /** By kernel time where there is one, else end to end. */
  readonly keysPerSecond?: number;
  /** Traffic of the fewest bytes an 8-bit LSD sort moves, in kernel time. */
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
  /** Bytes read plus bytes written by a buffer copy; null where the device does not measure. */
  readonly copyBytesPerSecond: number | null;
  readonly rows: readonly SortRow[];
}

/** Runs one case on some engine: the bytes of its result, and the report. */
export type SortRunner = (
  sort: SortCase,
  keys: Uint8Array,
  profile: boolean,
) => Promise<{ result: Uint8Array; report: SortReport }>;

/** Keys of every case come from this seed, so that runs and peers sort the same ones. */
export const SEED = 1;

/** A case as calls of a Sorter. */
export function runnerOf(sorter: Sorter): SortRunner {
  return async ({ algorithm, dtype, mode }, bytes, profile) => {
    const keys = keyWords(bytes, dtypeInfo(dtype));
    let report: SortReport | undefined;
    const options = {
      dtype,
      profile,
      onReport: (made: SortReport) => {
        report = made;
      },
      ...(sorter.device && { algorithm }),
    };
    const result = await sortAs(sorter, mode, keys, options);
    if (!report) throw new UnsupportedError('the sort made no report');
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
  const values = Uint32Array.from(keys, (_: number | bigint, i: number) => i);
  const pairs = await sorter.sortPairs(keys, values, options);
  return Buffer.concat([bytesOf(pairs.keys), bytesOf(pairs.values)]);
}

/** Fewest bytes that a least-significant-digit sort of 8-bit digits, one pass per digit, must move. */
export function leastBytes({ dtype, mode, n }: Pick<SortCase, 'dtype' | 'mode' | 'n'>): number {
  const { bytes } = dtypeInfo(dtype);
  const perValue = mode === 'keys' ? 0 : 4;
  return n * (bytes * (1 + 2 * bytes) + perValue * 2 * bytes);
}

export interface MeasureOptions {
  readonly repeats: number;
  readonly copyBytesPerSecond?: number | null;
}

/** Checks one case against the reference engine, then times it; a wrong result gets no time. */
export async function measureSort(
  sort: SortCase,
  engine: SortRunner,
  reference: SortRunner,
  { repeats, copyBytesPerSecond = null }: MeasureOptions,
): Promise<SortRow> {
  const { dtype, distribution, n } = sort;
  try {
    const keys = generate({ dtype, count: n, distribution, seed: SEED });
    const expected = (await reference(sort, keys, false)).result;
    const first = await engine(sort, keys, false);
    const made = first.report.algorithm;
    if (sort.algorithm !== 'auto' && made !== sort.algorithm) {
      return { ...sort, result: 'error', reason: `'${made}' sorted instead` };
    }
    if (Buffer.compare(first.result, expected) !== 0) return { ...sort, result: 'wrong' };

    const ends: number[] = [];
    const kernels: (number | null)[] = [];
    for (let i = 0; i < repeats; i++) {
      const { result, report } = await engine(sort, keys, false);
      if (Buffer.compare(result, expected) !== 0) return { ...sort, result: 'wrong' };
      ends.push(report.seconds);
    }
    for (let i = 0; i < repeats; i++) {
      const { result, report } = await engine(sort, keys, true);
      if (Buffer.compare(result, expected) !== 0) return { ...sort, result: 'wrong' };
      kernels.push(kernelSeconds(report));
    }
    const measured = kernels.filter((seconds) => seconds !== null);
    const kernel = measured.length === repeats ? timing(measured) : undefined;
    const endToEnd = timing(ends);
    const bytesPerSecond = kernel && leastBytes(sort) / kernel.median;
    return {
      ...sort,
      algorithm: made,
      result: 'ok',
      ...(kernel && { kernel }),
      endToEnd,
      keysPerSecond: n / (kernel ?? endToEnd).median,
      ...(bytesPerSecond && { bytesPerSecond }),
      ...(bytesPerSecond && copyBytesPerSecond && { copyShare: bytesPerSecond / copyBytesPerSecond }),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ...sort, result: error instanceof UnsupportedError ? 'unsupported' : 'error', reason };
  }
}

/** Device seconds without transfers; null when there are none or the device does not tell. */
function kernelSeconds({ stages }: SortReport): number | null {
  const kernels = stages.filter(({ stage }) => stage !== 'upload' && stage !== 'download');
  if (kernels.length === 0) return null;
  return kernels.reduce<number | null>(
    (sum, { seconds }) => (sum === null || seconds === null ? null : sum + seconds),
    0,
  );
}

/** Bytes read plus written per second by the best of `repeats` copies; null where nothing is measured. */
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

/** Most bytes of the copy that the bandwidth is taken from: beyond every cache, and quick. */
const COPY_BYTES = 256 * 2 ** 20;

/** Measures every case on one device, the host engine as the reference. */
export async function benchSorts({ device: spec, cases, repeats, onRow }: BenchRequest): Promise<SortBench> {
  const device = await Device.open(spec);
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

/** Rows of `now` that are slower than the same case of `before` beyond noise, or no longer right. */
export function regressions(before: SortBench, now: SortBench): SortRow[] {
  const caseOf = ({ algorithm, dtype, mode, distribution, n }: SortCase): string =>
    [algorithm, dtype, mode, distribution, n].join(' ');
  const known = new Map(before.rows.map((row) => [caseOf(row), row]));
  return now.rows.filter((row) => {
    const old = known.get(caseOf(row));
    if (old?.result !== 'ok') return false;
    if (row.result !== 'ok') return true;
    const slower = (a?: Timing, b?: Timing) => a !== undefined && b !== undefined && isSlower(a, b);
    return slower(old.kernel, row.kernel) || slower(old.endToEnd, row.endToEnd);
  });
}
