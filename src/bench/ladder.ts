/** The ladders of the lectures, measured: every step of reduce, scan and histogram on the same keys. */
import type { Buffer } from '../device/buffer.js';
import type { Device } from '../device/device.js';
import { HISTOGRAM_STEPS, Histogram } from '../primitives/histogram.js';
import { REDUCE_STEPS, Reduction } from '../primitives/reduce.js';
import { SCAN_STEPS, Scan } from '../primitives/scan.js';
import { Random } from '../util/random.js';

/** One step on the device, or the host's loop. A wrong result has no times: all numbers are null. */
export interface LadderRow {
  readonly primitive: 'reduce' | 'scan' | 'histogram';
  readonly step: string;
  readonly result: 'right' | 'wrong';
  /** Seconds of the kernels by their events; null where the device does not tell, and for the host. */
  readonly kernelSeconds: number | null;
  /** Seconds from the first command to the end of the last, as the host sees it, without transfers. */
  readonly seconds: number | null;
  /** Seconds with the keys' way to the device and the result's way back. */
  readonly endToEndSeconds: number | null;
  /** Bytes that have to be read and written once, per second of the kernels, else of the host's clock. */
  readonly bytesPerSecond: number | null;
  /** How many times as fast as the first step; null where that one is wrong. */
  readonly speedup: number | null;
}

/** What a right result cost. */
interface Times {
  readonly kernelSeconds: number | null;
  readonly seconds: number;
  readonly endToEndSeconds: number;
}

/** A step that is ready to run. */
interface Prepared {
  readonly step: string;
  /** Bytes of its result, and of the temporary buffers it takes. */
  readonly resultBytes: number;
  readonly scratchBytes: readonly number[];
  /** @returns where the result is */
  enqueue(keys: Buffer, result: Buffer, scratch: readonly Buffer[]): Buffer;
  right(result: Uint8Array): boolean;
}

interface Primitive {
  readonly name: LadderRow['primitive'];
  /** Bytes that the task itself has to read and write. */
  readonly bytes: number;
  readonly host: () => void;
  readonly steps: readonly Prepared[];
}

const BINS = 64;
const same = (a: Uint8Array, b: ArrayBufferView): boolean => {
  const other = new Uint8Array(b.buffer, b.byteOffset, b.byteLength);
  return a.length === other.length && a.every((byte, i) => byte === other[i]);
};

function hostSum(keys: Uint32Array): bigint {
  // The halves of the words stay exact in numbers up to 2^37 keys.
  let [low, high] = [0, 0];
  for (const key of keys) {
    low += key & 0xffff;
    high += key >>> 16;
  }
  return BigInt(low) + (BigInt(high) << 16n);
}

function hostScan(keys: Uint32Array): Uint32Array {
  const out = new Uint32Array(keys.length);
  let sum = 0;
  for (let i = 0; i < keys.length; i++) {
    out[i] = sum;
    sum = (sum + (keys[i] as number)) | 0;
  }
  return out;
}

function hostHistogram(keys: Uint32Array): Uint32Array {
  const counts = new Uint32Array(BINS);
  for (const key of keys) counts[key % BINS] = (counts[key % BINS] as number) + 1;
  return counts;
}

async function reduceLadder(device: Device, keys: Uint32Array): Promise<Primitive> {
  const n = keys.length;
  const expected = hostSum(keys);
  const reduction = await Reduction.create(device, { dtype: 'u32', op: 'sum' });
  return {
    name: 'reduce',
    bytes: n * 4,
    host: () => hostSum(keys),
    steps: REDUCE_STEPS.map((step) => ({
      step,
      resultBytes: 8,
      scratchBytes: [reduction.partialBytes(n, step)],
      enqueue: (buffer, result, [other = result]) =>
        reduction.enqueue(device.queue, { keys: buffer, n, partials: [other, result] }, step),
      right: (bytes) => reduction.value(bytes) === expected,
    })),
  };
}

async function scanLadder(device: Device, keys: Uint32Array): Promise<Primitive> {
  const n = keys.length;
  const expected = hostScan(keys);
  return {
    name: 'scan',
    bytes: n * 8,
    host: () => hostScan(keys),
    steps: await Promise.all(
      SCAN_STEPS.map(async (step): Promise<Prepared> => {
        const scan = await Scan.create(device, { dtype: 'u32', step });
        return {
          step,
          resultBytes: n * 4,
          scratchBytes: scan.sumBytes(n),
          enqueue: (input, output, sums) => {
            scan.enqueue(device.queue, { input, output, n, sums });
            return output;
          },
          right: (bytes) => same(bytes, expected),
        };
      }),
    ),
  };
}

async function histogramLadder(device: Device, keys: Uint32Array): Promise<Primitive> {
  const n = keys.length;
  const expected = hostHistogram(keys);
  const binning = { bits: [0, Math.log2(BINS)] } as const;
  return {
    name: 'histogram',
    bytes: n * 4,
    host: () => hostHistogram(keys),
    steps: await Promise.all(
      HISTOGRAM_STEPS.map(async (step): Promise<Prepared> => {
        const made = await Histogram.create(device, { dtype: 'u32', step });
        const { partials, edges } = made.scratch(n, binning);
        return {
          step,
          resultBytes: BINS * 4,
          scratchBytes: [partials, edges],
          enqueue: (buffer, counts, [groups = counts, none = counts]) => {
            made.enqueue(device.queue, binning, { keys: buffer, n, counts, partials: groups, edges: none });
            return counts;
          },
          right: (bytes) => same(bytes, expected),
        };
      }),
    ),
  };
}

const seconds = (since: number): number => (performance.now() - since) / 1000;

/** The best of a few runs, since the others were disturbed; undefined when any of them was wrong. */
async function measure(
  device: Device,
  keys: Uint32Array,
  step: Prepared,
  rounds: number,
): Promise<Times | undefined> {
  const { queue, pool } = device;
  const input = pool.take(keys.byteLength);
  // A reduction may leave its result in either of two buffers, so both are as large as the other.
  const scratch = step.scratchBytes.map((bytes) => pool.take(bytes));
  const result = pool.take(Math.max(step.resultBytes, step.scratchBytes[0] ?? 0));
  const bytes = new Uint8Array(step.resultBytes);
  let best: Times = {
    kernelSeconds: null,
    seconds: Number.POSITIVE_INFINITY,
    endToEndSeconds: Number.POSITIVE_INFINITY,
  };
  let right = true;
  try {
    for (let round = 0; round <= rounds; round++) {
      bytes.fill(0xa5);
      const started = performance.now();
      queue.write(input, keys);
      await queue.finish();
      queue.startProfile();
      const launched = performance.now();
      const where = step.enqueue(input, result, scratch);
      await queue.finish();
      const onDevice = seconds(launched);
      const stages = queue.endProfile();
      queue.read(where, bytes);
      await queue.finish();
      const whole = seconds(started);
      right &&= step.right(bytes);
      if (round === 0) continue; // the first run may compile
      const known = stages.every((stage) => stage.seconds !== null);
      const kernel = known ? stages.reduce((sum, stage) => sum + (stage.seconds ?? 0), 0) : null;
      best = {
        kernelSeconds: kernel === null ? best.kernelSeconds : Math.min(kernel, best.kernelSeconds ?? kernel),
        seconds: Math.min(best.seconds, onDevice),
        endToEndSeconds: Math.min(best.endToEndSeconds, whole),
      };
    }
  } finally {
    for (const buffer of [input, result, ...scratch]) pool.give(buffer);
  }
  return right ? best : undefined;
}

function measureHost(run: () => void, rounds: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round <= rounds; round++) {
    const started = performance.now();
    run();
    best = Math.min(best, seconds(started));
  }
  return best;
}

/**
 * Measures every step of every primitive on n random u32 keys (histograms of 64 bins), and the host.
 *
 * @param onRow gets each row as it is measured
 */
export async function ladder(
  device: Device,
  {
    n,
    rounds = 5,
    onRow = () => undefined,
  }: { n: number; rounds?: number; onRow?: (row: LadderRow) => void },
): Promise<LadderRow[]> {
  const random = new Random(1);
  const keys = Uint32Array.from({ length: n }, () => random.u32());
  const rows: LadderRow[] = [];
  for (const make of [reduceLadder, scanLadder, histogramLadder]) {
    const primitive = await make(device, keys);
    let first: number | undefined;
    const add = (step: string, times: Times | undefined) => {
      const time = times && (times.kernelSeconds ?? times.seconds);
      if (step === primitive.steps[0]?.step) first = time;
      const row: LadderRow = {
        primitive: primitive.name,
        step,
        result: times ? 'right' : 'wrong',
        kernelSeconds: times?.kernelSeconds ?? null,
        seconds: times?.seconds ?? null,
        endToEndSeconds: times?.endToEndSeconds ?? null,
        bytesPerSecond: time ? primitive.bytes / time : null,
        speedup: time && first ? first / time : null,
      };
      rows.push(row);
      onRow(row);
    };
    for (const step of primitive.steps) add(step.step, await measure(device, keys, step, rounds));
    const host = measureHost(primitive.host, rounds);
    add('host', { kernelSeconds: null, seconds: host, endToEndSeconds: host });
  }
  return rows;
}
