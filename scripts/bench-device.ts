/**
 * Device time of the sorts, data already on the device, beside CUB on the same keys.
 *
 *     node dist/scripts/bench-device.js --device nvidia --algorithms onesweep,tiled --shapes u32,u64,u32+4 \
 *       --sizes 16,20,24,28 --distributions uniform --cub ./cub --json results.json
 *
 * A size is an exponent of two; a shape is a dtype, with +BYTES for values that travel along. Every row is
 * verified on the device before it is timed. `--tuning` overrides parameters (JSON). CUB is left out without
 * `--cub`, the program made from scripts/peers/cub.cu.
 */
import { execFileSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { closeSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { untestedAlgorithm } from '../src/algorithms/registry.js';
import { enqueueWithScratch, measureWithScratch } from '../src/algorithms/run.js';
import { BusyWork } from '../src/bench/busy-work.js';
import { readShape } from '../src/cli/arguments.js';
import { Device } from '../src/device/device.js';
import { type Dtype, dtypeInfo } from '../src/keys/dtype.js';
import { keyCodec } from '../src/keys/key-codec.js';
import { Verifier, verdict } from '../src/sort/verify.js';

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
  readonly result: 'ok' | 'wrong' | 'gave up' | 'unsupported' | 'error';
  readonly reason?: string;
  /** Between a marker before the sort and one behind it, median. */
  readonly milliseconds?: number;
  /**
   * The kernels alone, without the gaps between them, median. Small sorts end before the next launch is enqueued:
   * the gaps are the host's.
   */
  readonly busyMilliseconds?: number;
  /** Between the markers when the device has other work before: nobody waits for the host. Median. */
  readonly queuedMilliseconds?: number;
  readonly gigakeysPerSecond?: number;
  /** Of CUB, for a count passed as int and as size_t; `queued` as above. */
  readonly cub?: CubTimes & { readonly queued: CubTimes };
  /** Time of CUB's faster form over ours. */
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
      '  --cub PROGRAM (from scripts/peers/cub.cu)  --json FILE  --stages',
  );
  process.exit(0);
}
const list = (text: string): string[] => text.split(',').filter(Boolean);
const repeats = Number(options.repeats);
const median = (times: number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN;

/** Raw keys; made by word operations, since a generator per key would take minutes for 2^28. */
function makeKeys(distribution: string, bytes: number, unit: number): Uint8Array {
  const keys = new Uint8Array(bytes);
  const words = new Uint32Array(keys.buffer);
  const random = (into: Uint8Array) => {
    for (let at = 0; at < bytes; at += 2 ** 30) randomFillSync(into, at, Math.min(2 ** 30, bytes - at));
  };
  const step = unit / 4;
  if (distribution === 'uniform') random(keys);
  else if (distribution === 'constant') words.fill(0x12345678);
  else if (distribution === 'two') {
    random(keys);
    for (let i = 0; i < words.length; i++) words[i] = (words[i - (i % step)] ?? 0) & 1 ? 0xf0000001 : 5;
  } else if (distribution === 'low-byte') {
    random(keys);
    for (let i = 0; i < words.length; i++) words[i] = i % step === 0 ? (words[i] ?? 0) & 255 : 0;
  } else if (distribution === 'high-byte') {
    random(keys);
    for (let i = 0; i < words.length; i++)
      words[i] = i % step === step - 1 ? (words[i] ?? 0) & 0xff000000 : 0;
  } else if (distribution === 'multiples') {
    random(keys); // of 16, as addresses are
    for (let i = 0; i < words.length; i += step) words[i] = ((words[i] ?? 0) & ~15) >>> 0;
  } else if (distribution === 'sorted' || distribution === 'reversed') {
    const spread = Math.floor(2 ** 32 / (words.length / step));
    const count = words.length / step;
    for (let i = 0; i < count; i++) {
      words[i * step + step - 1] = (distribution === 'sorted' ? i : count - 1 - i) * spread;
    }
  } else if (/^and\d+$/.test(distribution)) {
    const draw = new Uint8Array(bytes);
    const drawn = new Uint32Array(draw.buffer);
    words.fill(0xffffffff);
    for (let round = 0; round < Number(distribution.slice(3)); round++) {
      random(draw);
      for (let i = 0; i < words.length; i++) words[i] = (words[i] ?? 0) & (drawn[i] ?? 0);
    }
  } else throw new Error(`unknown distribution '${distribution}'`);
  return keys;
}

/** Positions as values of any width. */
function positions(n: number, valueBytes: number): Uint8Array {
  const bytes = new Uint8Array(n * valueBytes);
  if (valueBytes === 8) {
    const words = new Uint32Array(bytes.buffer);
    for (let i = 0; i < n; i++) words[2 * i] = i;
  } else for (let i = 0; i < n; i++) bytes[i * valueBytes] = i;
  return bytes;
}

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

const device = await Device.open(options.device);
const { queue } = device;
/** As scripts/peers/cub.cu has it. */
const busyWork = BusyWork.open(device);

/** Verifies one algorithm on keys that lie on the device, then times it. */
async function measure(
  name: string,
  dtype: Dtype,
  valueBytes: number,
  n: number,
  keys: Uint8Array,
): Promise<Omit<Row, 'algorithm' | 'dtype' | 'valueBytes' | 'n' | 'distribution' | 'cub' | 'timesCub'>> {
  const { width } = dtypeInfo(dtype);
  const bits = [0, width] as const;
  const request = { dtype, n, bits, valueBytes, stable: true };
  const algorithm = await untestedAlgorithm(device, name, request, JSON.parse(String(options.tuning)));
  if (typeof algorithm === 'string') return { result: 'unsupported', reason: algorithm };

  const input = device.buffer(keys.byteLength);
  const output = device.buffer(keys.byteLength);
  const outputValues = valueBytes ? device.buffer(n * valueBytes) : undefined;
  // Values are read like any others in the timed sorts; positions show in the check whether they kept their order.
  const inputValues = valueBytes ? device.buffer(n * valueBytes) : undefined;
  try {
    queue.write(input, keys);
    const codec = keyCodec(dtype);
    const work = { n, input, output, codec, bits, ...(outputValues && { outputValues }) };
    // Positions of 4 bytes are made by the sort and show whether equal keys kept their order.
    const indices = valueBytes === 4;
    if (inputValues && !indices) queue.write(inputValues, positions(n, valueBytes));
    const verifier = await Verifier.create(device, { keyBits: width, valueBytes });
    const checked = { n, codec, bits, indices };
    const sort = (indices: boolean) =>
      enqueueWithScratch(algorithm, queue, {
        ...work,
        indices,
        ...(inputValues && !indices && { inputValues }),
      });

    queue.fill(output, 0xdeadbeef);
    const before = verifier.input(
      { keys: input, ...(inputValues && !indices && { values: inputValues }) },
      checked,
    );
    const sorted = sort(indices);
    const status = new Uint32Array(1);
    if (sorted.status) queue.read(sorted.status, status);
    const after = verifier.output({ keys: output, ...(outputValues && { values: outputValues }) }, checked);
    await queue.finish();
    sorted.release();
    if (status[0]) return { result: 'gave up' };
    const { order, permutation } = verdict(before, after);
    if (!order || !permutation) return { result: 'wrong', reason: order ? 'no permutation' : 'not in order' };

    if (indices && inputValues && outputValues)
      queue.copy(outputValues, inputValues, { bytes: n * valueBytes });
    const time = async (ahead?: () => void): Promise<number> =>
      ((await measureWithScratch(queue, () => sort(false), ahead)) ?? Number.NaN) * 1e3;
    const warmUps = n <= 2 ** 24 ? 200 : 2; // until the host's part is compiled, which small sorts wait for
    for (let i = 0; i < warmUps; i++) await time();
    const times: number[] = [];
    for (let i = 0; i < repeats; i++) times.push(await time());
    const queued: number[] = [];
    for (let i = 0; busyWork && i < repeats; i++) queued.push(await time(() => busyWork.enqueue()));
    const busy: number[] = [];
    for (let i = 0; i < repeats + 2; i++) {
      await queue.finish();
      queue.startProfile();
      const timed = sort(false);
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
      milliseconds,
      busyMilliseconds: median(busy),
      ...(queued.length > 0 && { queuedMilliseconds: median(queued) }),
      gigakeysPerSecond: n / milliseconds / 1e6,
    };
  } finally {
    for (const buffer of [input, output, inputValues, outputValues]) buffer?.release();
    device.pool.clear();
    await queue.finish();
  }
}

const rows: Row[] = [];
for (const shape of list(options.shapes)) {
  const { dtype, valueBytes } = readShape(shape);
  const { width, bytes: unit } = dtypeInfo(dtype);
  for (const exponent of list(options.sizes)) {
    const n = Math.round(2 ** Number(exponent));
    for (const distribution of list(options.distributions)) {
      const keys = makeKeys(distribution, n * unit, unit);
      const cub = runCub(keys, width, valueBytes);
      for (const algorithm of list(options.algorithms)) {
        const measured = await measure(algorithm, dtype, valueBytes, n, keys).catch((error: unknown) => ({
          result: 'error' as const,
          reason: String(error),
        }));
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
          ...measured,
          ...(cub && { cub }),
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
          `${measured.result} ${algorithm} ${shape} 2^${exponent} ${distribution} ${text}` +
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
  const { name, platform, driver } = device.info;
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
busyWork?.close();
await device.close();
