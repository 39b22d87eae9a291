/**
 * Measures the device time of sorts on device arrays, compared with CUB on the same keys.
 *
 *     node dist/scripts/bench-device.js --device nvidia --algorithms onesweep,tiled --shapes u32,u64,u32+4 \
 *       --sizes 16,20,24,28 --distributions uniform --cub ./cub --json results.json
 *
 * A size is an exponent of two; a shape is a dtype, with +BYTES for values. Every result is verified on the device
 * before it is timed. `--tuning` overrides parameters (JSON). CUB is omitted without `--cub`, the program built from
 * scripts/peers/cub.cu.
 *
 * `--algorithms planned` selects the algorithm that the planner prefers for the number of keys.
 *
 * `--local-kib 227,163,99,64,48` measures the device with limited local memory per work-group, one limit after the
 * other, and `--modelled` also with the parameters of the model (src/algorithms/tile-model.ts):
 *
 *     node dist/scripts/bench-device.js --device nvidia --algorithms onesweep --shapes u32,u64,u32+4 --sizes 24,28 \
 *       --local-kib 227,163,99,64,48 --modelled --cub ./cub --json local-memory.json
 */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkTuning, type Tuning } from '../src/algorithms/parameters.js';
import { algorithmNamed, untestedAlgorithm } from '../src/algorithms/registry.js';
import { measureWithScratch } from '../src/algorithms/run.js';
import { BusyWork } from '../src/bench/busy-work.js';
import { SortArrays } from '../src/bench/sort-arrays.js';
import { SEED } from '../src/bench/sorts.js';
import { readShape } from '../src/cli/arguments.js';
import { Device } from '../src/device/device.js';
import { DISTRIBUTIONS, generate } from '../src/io/operations/gen.js';
import { type Dtype, dtypeInfo } from '../src/keys/dtype.js';
import { devicePlans } from '../src/sort/backend/planner.js';
import { UsageError } from '../src/util/errors.js';
import { invalidName } from '../src/util/suggest.js';
import { cubVersion } from './peers/cub.js';

interface CubTimes {
  readonly int: number;
  readonly size_t: number;
}

interface Row {
  readonly algorithm: string;
  readonly dtype: string;
  readonly valueBytes: number;
  readonly n: number;
  readonly distribution: string;
  /** Local memory limit of a work-group in KiB; absent without a limit. */
  readonly localKib?: number;
  /** Set when the parameters come from the model. */
  readonly modelled?: true;
  /** Parameters of the compiled algorithm. */
  readonly tuning?: Tuning;
  readonly result: 'ok' | 'wrong' | 'gave up' | 'unsupported' | 'error';
  readonly reason?: string;
  /** Median time between a marker before the sort and one after it. */
  readonly milliseconds?: number;
  /**
   * Median kernel time without the gaps between kernels. Small sorts end before the next launch is enqueued, so the
   * gaps depend on the host.
   */
  readonly busyMilliseconds?: number;
  /** Median time between the markers when the device is busy beforehand, so that it never waits for the host. */
  readonly queuedMilliseconds?: number;
  readonly gigakeysPerSecond?: number;
  /** Times of CUB, for a count passed as int and as size_t; `queued` as above. */
  readonly cub?: CubTimes & { readonly queued: CubTimes };
  readonly cubVersion?: string | undefined;
  /** Time of CUB's faster form divided by ours. */
  readonly timesCub?: number;
}

const { values: options } = parseArgs({
  options: {
    device: { type: 'string', default: 'auto' },
    algorithms: { type: 'string', default: 'onesweep,tiled,serial,amd' },
    help: { type: 'boolean', default: false },
    shapes: { type: 'string', default: 'u32,u64,u32+4' },
    sizes: { type: 'string', default: '16,20,24' },
    distributions: { type: 'string', default: 'uniform' },
    repeats: { type: 'string', default: '9' },
    tuning: { type: 'string', default: '{}' },
    'local-kib': { type: 'string' },
    modelled: { type: 'boolean', default: false },
    cub: { type: 'string' },
    json: { type: 'string' },
    stages: { type: 'boolean', default: false },
  },
});
if (options.help) {
  console.log(
    'Times sorts of data on the device and verifies each one. Options, with their defaults:\n' +
      '  --device auto  --algorithms onesweep,tiled,serial,amd  --shapes u32,u64,u32+4 (dtype + bytes of a value)\n' +
      '  --sizes 16,20,24 (exponents of 2)  --distributions uniform  --repeats 9  --tuning JSON\n' +
      '  --local-kib KIB,… (as if groups had so much local memory)  --modelled (parameters of the model as well)\n' +
      '  --cub PROGRAM (from scripts/peers/cub.cu)  --json FILE  --stages',
  );
  process.exit(0);
}
/** The name that stands for the planner's first choice. */
const PLANNED = 'planned';
const list = (text: string): string[] => text.split(',').filter(Boolean);
const repeats = Number(options.repeats);
const median = (times: number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN;

const version = options.cub ? cubVersion(options.cub) : undefined;

function runCub(keys: Uint8Array, keyBits: number, valueBytes: number): Row['cub'] {
  if (!options.cub) return undefined;
  const file = join(tmpdir(), `keys-${process.pid}.bin`);
  const handle = openSync(file, 'w');
  for (let at = 0; at < keys.length; at += 2 ** 30) writeSync(handle, keys.subarray(at, at + 2 ** 30));
  closeSync(handle);
  try {
    const line = execFileSync(options.cub, [keyBits, valueBytes, file, repeats].map(String), {
      encoding: 'utf8',
    });
    return JSON.parse(line) as NonNullable<Row['cub']>;
  } finally {
    rmSync(file);
  }
}

const distributions = list(options.distributions).map((word) => {
  const known = DISTRIBUTIONS.find((one) => one === word);
  if (!known) throw invalidName('distribution', word, DISTRIBUTIONS);
  return known;
});

/** Parameters for all measured algorithms. They are checked, since an unknown name would have no effect. */
const tuning = JSON.parse(options.tuning);
for (const name of list(options.algorithms)) {
  if (name !== PLANNED) checkTuning(algorithmNamed(name), tuning);
}

/** The device with all or part of its local memory; `busyWork` as in scripts/peers/cub.cu. */
interface Bench {
  readonly localKib?: number;
  readonly device: Device;
  readonly busyWork: BusyWork | undefined;
}

async function openBench(localKib?: number): Promise<Bench> {
  if (localKib !== undefined) process.env.CLSORT_LOCAL_BYTES = String(localKib * 1024);
  const device = await Device.open(options.device);
  return { ...(localKib !== undefined && { localKib }), device, busyWork: BusyWork.open(device) };
}

const benches: Bench[] = [];
for (const kib of list(options['local-kib'] ?? '')) benches.push(await openBench(Number(kib)));
const [first = await openBench()] = benches;
if (benches.length === 0) benches.push(first);

type Measured = Omit<
  Row,
  | 'algorithm'
  | 'dtype'
  | 'valueBytes'
  | 'n'
  | 'distribution'
  | 'localKib'
  | 'modelled'
  | 'cub'
  | 'cubVersion'
  | 'timesCub'
>;

/** Returns the name of an algorithm, resolving the planner's choice. */
function nameOf(word: string, { device }: Bench, dtype: Dtype, valueBytes: 0 | 4 | 8, n: number): string {
  if (word !== PLANNED) return word;
  const bits = [0, dtypeInfo(dtype).width] as const;
  const [plan] = devicePlans(device, { n, dtype, bits, valueBytes, algorithm: 'auto' });
  if (!plan) throw new UsageError(`nothing is planned for ${n} keys`);
  return plan.algorithm;
}

/** Verifies one algorithm on keys on the device, then times it. */
async function measure(
  { device, busyWork }: Bench,
  name: string,
  dtype: Dtype,
  valueBytes: 0 | 4 | 8,
  n: number,
  keys: Uint8Array,
  modelled: boolean,
): Promise<Measured> {
  const { queue } = device;
  const { width } = dtypeInfo(dtype);
  const bits = [0, width] as const;
  const request = { dtype, n, bits, valueBytes };
  const shape = { keyBits: width, valueBytes };
  const model = modelled ? algorithmNamed(name).modelled?.(device, shape, n) : {};
  if (!model) return { result: 'unsupported', reason: 'has no model' };
  const algorithm = await untestedAlgorithm(device, name, request, { ...model, ...tuning });
  if (typeof algorithm === 'string') return { result: 'unsupported', reason: algorithm };

  const arrays = await SortArrays.open(device, { dtype, valueBytes, n });
  try {
    arrays.upload(keys);
    const { gaveUp, wrong } = await arrays.trial(algorithm);
    if (gaveUp !== undefined) return { result: 'gave up', reason: gaveUp };
    if (wrong !== undefined) return { result: 'wrong', reason: wrong };

    const sort = () => arrays.enqueue(algorithm);
    const time = async (ahead?: () => void): Promise<number> =>
      ((await measureWithScratch(queue, sort, ahead)) ?? Number.NaN) * 1e3;
    const warmUps = n <= 2 ** 24 ? 200 : 2; // waits until the host's part is compiled, which small sorts wait for
    for (let i = 0; i < warmUps; i++) await time();
    const times: number[] = [];
    for (let i = 0; i < repeats; i++) times.push(await time());
    const queued: number[] = [];
    for (let i = 0; busyWork && i < repeats; i++) queued.push(await time(() => busyWork.enqueue()));
    const busy: number[] = [];
    for (let i = 0; i < repeats + 2; i++) {
      await queue.finish();
      queue.startProfile();
      const timed = sort();
      await queue.finish();
      timed.release();
      const stages = queue.endProfile();
      if (i >= 2) busy.push(stages.reduce((sum, { seconds }) => sum + (seconds ?? Number.NaN), 0) * 1e3);
      if (options.stages && i === repeats + 1) {
        console.log(
          stages.map(({ stage, seconds }) => `${stage} ${((seconds ?? 0) * 1e6).toFixed(1)}`).join(', '),
        );
      }
    }
    const milliseconds = median(times);
    return {
      result: 'ok',
      ...(algorithm.shape.tuning && { tuning: algorithm.shape.tuning }),
      milliseconds,
      busyMilliseconds: median(busy),
      ...(queued.length > 0 && { queuedMilliseconds: median(queued) }),
      gigakeysPerSecond: n / milliseconds / 1e6,
    };
  } finally {
    arrays.close();
    device.pool.clear();
    await queue.finish();
  }
}

const rows: Row[] = [];
for (const shape of list(options.shapes)) {
  const { dtype, valueBytes } = readShape(shape);
  const { width } = dtypeInfo(dtype);
  for (const exponent of list(options.sizes)) {
    const n = Math.round(2 ** Number(exponent));
    for (const distribution of distributions) {
      const keys = generate({ dtype, count: n, distribution, seed: SEED });
      const cub = runCub(keys, width, valueBytes);
      const forms = benches.flatMap((bench) =>
        list(options.algorithms).flatMap((word) =>
          (options.modelled ? [false, true] : [false]).map((modelled) => ({
            bench,
            algorithm: nameOf(word, bench, dtype, valueBytes, n),
            modelled,
          })),
        ),
      );
      for (const { bench, algorithm, modelled } of forms) {
        const measured = await measure(bench, algorithm, dtype, valueBytes, n, keys, modelled).catch(
          (error: unknown): Measured => ({ result: 'error', reason: String(error) }),
        );
        const { localKib } = bench;
        const timesCub =
          cub && 'milliseconds' in measured && measured.milliseconds
            ? Math.min(cub.int, cub.size_t) / measured.milliseconds
            : undefined;
        const row: Row = {
          algorithm,
          dtype,
          valueBytes,
          n,
          distribution,
          ...(localKib !== undefined && { localKib }),
          ...(modelled && { modelled }),
          ...measured,
          ...(cub && { cub, cubVersion: version }),
          ...(timesCub && { timesCub }),
        };
        rows.push(row);
        const text =
          'milliseconds' in measured && measured.milliseconds
            ? `${measured.milliseconds.toFixed(4)} ms (busy ${measured.busyMilliseconds?.toFixed(4)}${
                measured.queuedMilliseconds ? `, queued ${measured.queuedMilliseconds.toFixed(4)}` : ''
              }) ${(n / measured.milliseconds / 1e6).toFixed(2)} Gkeys/s`
            : ('reason' in measured && measured.reason) || '';
        console.log(
          `${measured.result} ${algorithm}${localKib === undefined ? '' : ` ${localKib} KiB`}${modelled ? ' modelled' : ''} ` +
            `${shape} 2^${exponent} ${distribution} ${text}` +
            (cub
              ? ` | cub ${cub.int.toFixed(4)} ${cub.size_t.toFixed(4)} ms, queued ${cub.queued.int.toFixed(4)} ${cub.queued.size_t.toFixed(4)}`
              : '') +
            (timesCub ? ` | x${timesCub.toFixed(3)}` : ''),
        );
      }
    }
  }
}
if (options.json) {
  const { name, platform, driver } = first.device.info;
  const record = {
    device: name,
    platform,
    driver,
    date: new Date().toISOString().slice(0, 10),
    command: process.argv.slice(2),
    rows,
  };
  writeFileSync(options.json, `${JSON.stringify(record, null, 1)}\n`);
}
for (const { device, busyWork } of benches) {
  busyWork?.close();
  await device.close();
}
