/**
 * Measures the device time of operations other than sorts on device arrays, compared with CUB on the same keys:
 *
 *     nvcc -O3 -arch=native scripts/peers/cub-operations.cu -o cub-operations
 *     node dist/scripts/bench-operations.js --device nvidia --dtypes u32,u64 --sizes 20,24,26 \
 *       --cub ./cub-operations --json operations.json
 *
 * A size is an exponent of two; `--operations` selects some of those in scripts/peers/operations.ts. `--tunings` sets the
 * parameters of the primitives behind scans, filters and unique, instead of those tuned for the device, with one row
 * per set:
 *
 *     --tunings '[{}, {"held": true}, {"held": true, "maxRegisters": 40, "rounds": 8}]'
 *
 * Every result of clsort and CUB is compared with that of the host engine before and after timing. CUB is omitted
 * without `--cub`.
 *
 * Kernel times exclude transfers; `queued` is the time between a marker before the operation and one after it while the
 * device is busy beforehand, as in CUB's times of that name.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkTuning, type Tuning } from '../src/algorithms/parameters.js';
import { BusyWork } from '../src/bench/busy-work.js';
import { markdownOf, milliseconds } from '../src/bench/format.js';
import { Device } from '../src/device/device.js';
import { Sorter } from '../src/sort/api/sorter.js';
import { PRIMITIVE_PARAMETERS } from '../src/sort/backend/primitive-tuning.js';
import { UsageError } from '../src/util/errors.js';
import { invalidName } from '../src/util/suggest.js';
import { cubVersion } from './peers/cub.js';
import {
  type KeyDtype,
  OPERATIONS,
  type Operation,
  type OperationInputs,
  type Prepared,
} from './peers/operations.js';

/** Times of one form of an operation in CUB, in milliseconds. */
type CubForm =
  | { readonly ok: false }
  | { readonly ok: true; readonly alone: number; readonly queued: number };

interface Row {
  readonly operation: string;
  readonly dtype: KeyDtype;
  readonly n: number;
  /** Parameters from `--tunings`. */
  readonly tuning?: Tuning;
  readonly result: 'ok' | 'wrong' | 'unsupported' | 'error';
  readonly reason?: string;
  /** Median device busy time. */
  readonly kernelMilliseconds?: number;
  /** Median time between two markers: alone, and queued behind other work. */
  readonly milliseconds?: number;
  readonly queuedMilliseconds?: number;
  readonly cub?: Readonly<Record<string, CubForm>>;
  readonly cubVersion?: string | undefined;
  /** Time of CUB's fastest form divided by ours: queued, and relative to our kernel time. */
  readonly timesCub?: number;
  readonly kernelsTimesCub?: number;
}

const { values: options } = parseArgs({
  options: {
    device: { type: 'string', default: 'auto' },
    operations: { type: 'string', default: OPERATIONS.map(({ name }) => name).join(',') },
    dtypes: { type: 'string', default: 'u32,u64' },
    sizes: { type: 'string', default: '20,24' },
    repeats: { type: 'string', default: '9' },
    cub: { type: 'string' },
    tunings: { type: 'string', default: '[{}]' },
    json: { type: 'string' },
    stages: { type: 'boolean', default: false },
  },
});
const list = (text: string): string[] => text.split(',').filter(Boolean);
const repeats = Number(options.repeats);
const dtypes = list(options.dtypes).map((word): KeyDtype => {
  if (word !== 'u32' && word !== 'u64') throw new UsageError(`dtype '${word}': expected u32 or u64`);
  return word;
});
const tunings = JSON.parse(options.tunings) as Tuning[];
for (const tuning of tunings) checkTuning({ name: 'primitives', parameters: PRIMITIVE_PARAMETERS }, tuning);
const operations = list(options.operations).flatMap((word) => {
  const found = OPERATIONS.filter(({ name }) => name === word || name.startsWith(`${word}-`));
  if (found.length > 0) return found;
  const names = OPERATIONS.map(({ name }) => name);
  throw invalidName('operation', word, names);
});
/** Number of buffer fills before an operation: the host needs time between the launches of one operation. */
const BUSY_FILLS = 4;
/** Warm-up until V8 has compiled the host code, which affects short operations. */
const WARM_UPS = 200;
const WARM_UP_MILLISECONDS = 300;

const median = (times: readonly number[]): number | undefined =>
  times.toSorted((a, b) => a - b)[times.length >> 1];

const isSame = (a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean =>
  a.length === b.length && a.every((part, i) => Buffer.compare(part, b[i] ?? new Uint8Array()) === 0);

const version = options.cub ? cubVersion(options.cub) : undefined;

/** Runs the CUB program on the files of a folder. */
function askCub(operation: string, dtype: KeyDtype, folder: string): Row['cub'] {
  if (!options.cub) return undefined;
  const args = [operation, dtype === 'u32' ? '32' : '64', folder, String(repeats)];
  return JSON.parse(execFileSync(options.cub, args, { encoding: 'utf8' })) as NonNullable<Row['cub']>;
}

type Measured = Pick<Row, 'result' | 'reason' | 'kernelMilliseconds' | 'milliseconds' | 'queuedMilliseconds'>;

/** Times an operation, and checks its results before and after. */
async function measure(
  { queue }: Device,
  busyWork: BusyWork | undefined,
  { enqueue, poison, read }: Prepared,
  expected: readonly Uint8Array[],
): Promise<Measured> {
  const isRight = async (): Promise<boolean> => {
    poison();
    await enqueue();
    await queue.finish();
    return isSame(await read(), expected);
  };
  if (!(await isRight())) return { result: 'wrong' };
  const time = async (ahead?: () => void): Promise<number> => {
    const seconds = await queue.measure(enqueue, ahead);
    return seconds === null ? Number.NaN : seconds * 1e3;
  };
  const begin = performance.now();
  for (let i = 0; i < WARM_UPS && performance.now() - begin < WARM_UP_MILLISECONDS; i++) await time();
  const alone: number[] = [];
  for (let i = 0; i < repeats; i++) alone.push(await time());
  const queued: number[] = [];
  const ahead = () => {
    for (let i = 0; i < BUSY_FILLS; i++) busyWork?.enqueue();
  };
  for (let i = 0; busyWork && i < repeats; i++) queued.push(await time(ahead));
  const kernels: number[] = [];
  for (let i = 0; i < repeats + 2; i++) {
    await queue.finish();
    queue.startProfile();
    await enqueue();
    await queue.finish();
    const stages = queue.endProfile().filter(({ stage }) => stage !== 'upload' && stage !== 'download');
    if (i >= 2) kernels.push(stages.reduce((sum, { seconds }) => sum + (seconds ?? Number.NaN), 0) * 1e3);
    if (options.stages && i === repeats + 1) {
      const text = stages.map(({ stage, seconds }) => `${stage} ${((seconds ?? 0) * 1e6).toFixed(1)}`);
      console.error(text.join(', '));
    }
  }
  if (!(await isRight())) return { result: 'wrong' };
  const [kernel, between, behind] = [kernels, alone, queued].map(median);
  return {
    result: 'ok',
    ...(kernel !== undefined && !Number.isNaN(kernel) && { kernelMilliseconds: kernel }),
    ...(between !== undefined && !Number.isNaN(between) && { milliseconds: between }),
    ...(behind !== undefined && { queuedMilliseconds: behind }),
  };
}

/** Times an operation with given parameters; unsupported parameters yield a row as well. */
async function measuredBy(
  device: Device,
  busyWork: BusyWork | undefined,
  operation: Operation,
  inputs: OperationInputs,
  expected: readonly Uint8Array[],
  tuning: Tuning,
): Promise<Measured> {
  let prepared: Prepared | undefined;
  try {
    const sizes = expected.map(({ byteLength }) => byteLength);
    prepared = await operation.prepare(device, inputs, sizes, tuning);
    return await measure(device, busyWork, prepared, expected);
  } catch (error) {
    return { result: 'error', reason: String(error) };
  } finally {
    prepared?.release();
    device.pool.clear();
    await device.queue.finish();
  }
}

/** Yields the rows of an operation, one per set of `tunings`: writes files for CUB, and measures both. */
async function* rowsOf(
  device: Device,
  busyWork: BusyWork | undefined,
  host: Sorter,
  operation: Operation,
  dtype: KeyDtype,
  n: number,
): AsyncGenerator<Row> {
  const what = { operation: operation.name, dtype, n };
  const folder = mkdtempSync(join(tmpdir(), 'clsort-operations-'));
  try {
    const inputs = operation.inputs(dtype, n);
    const expected = await operation.expected(host, inputs);
    if (options.cub) {
      writeFileSync(join(folder, 'keys'), inputs.keys);
      if (inputs.offsets) writeFileSync(join(folder, 'offsets'), inputs.offsets);
      for (const [i, part] of expected.entries()) writeFileSync(join(folder, `expected.${i}`), part);
    }
    const cub = askCub(operation.name, dtype, folder);
    const theirs = Object.values(cub ?? {}).flatMap((form) => (form.ok ? [form.queued] : []));
    const times = (ours?: number): number | undefined =>
      theirs.length > 0 && ours ? Math.min(...theirs) / ours : undefined;
    for (const tuning of tunings) {
      const measured = await measuredBy(device, busyWork, operation, inputs, expected, tuning);
      const { queuedMilliseconds, kernelMilliseconds } = measured;
      const [timesCub, kernelsTimesCub] = [times(queuedMilliseconds), times(kernelMilliseconds)];
      yield {
        ...what,
        ...(tunings.length > 1 && { tuning }),
        ...measured,
        ...(cub && { cub, cubVersion: version }),
        ...(timesCub !== undefined && { timesCub }),
        ...(kernelsTimesCub !== undefined && { kernelsTimesCub }),
      };
    }
  } catch (error) {
    yield { ...what, result: 'error', reason: String(error) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const [load = 0] = loadavg();
const device = await Device.open(options.device);
const host = await Sorter.open({ device: 'host' });
const busyWork = BusyWork.open(device);
const rows: Row[] = [];
const { name, platform, driver } = device.info;

/** Writes the rows so far: large sizes take minutes. */
function save(file: string): void {
  const date = new Date().toISOString().slice(0, 10);
  const command = process.argv.slice(2);
  const record = {
    schema: 'clsort.bench.operations/1',
    device: name,
    platform,
    driver,
    date,
    load,
    command,
    rows,
  };
  writeFileSync(file, `${JSON.stringify(record, null, 1)}\n`);
}

const inMilliseconds = (value?: number): string =>
  milliseconds(value === undefined ? undefined : value / 1e3);
const times = (value?: number): string => (value === undefined ? '' : `× ${value.toFixed(2)}`);
try {
  for (const exponent of list(options.sizes)) {
    for (const dtype of dtypes) {
      for (const operation of operations) {
        const n = Math.round(2 ** Number(exponent));
        for await (const made of rowsOf(device, busyWork, host, operation, dtype, n)) {
          rows.push(made);
          if (options.json) save(options.json);
          console.error(`${made.result} ${operation.name} ${dtype} 2^${exponent} ${made.reason ?? ''}`);
        }
      }
    }
  }
} finally {
  busyWork?.close();
  await host.close();
  await device.close();
}
const forms = [...new Set(rows.flatMap(({ cub = {} }) => Object.keys(cub)))];
console.log(
  markdownOf([
    [
      'operation',
      'dtype',
      'keys',
      ...(tunings.length > 1 ? ['tuning'] : []),
      'result',
      'kernels ms',
      'alone ms',
      'queued ms',
      ...forms,
      'queued',
      'kernels',
    ],
    ...rows.map((made) => [
      ...[made.operation, made.dtype, String(made.n)],
      ...(tunings.length > 1 ? [JSON.stringify(made.tuning ?? {})] : []),
      made.result,
      ...[made.kernelMilliseconds, made.milliseconds, made.queuedMilliseconds].map(inMilliseconds),
      ...forms.map((form) => {
        const cub = made.cub?.[form];
        return cub ? (cub.ok ? inMilliseconds(cub.queued) : 'wrong') : '';
      }),
      ...[made.timesCub, made.kernelsTimesCub].map(times),
    ]),
  ]),
);
const failed = (made: Row): boolean =>
  made.result === 'wrong' || made.result === 'error' || Object.values(made.cub ?? {}).some(({ ok }) => !ok);
if (rows.some(failed)) process.exitCode = 1;
