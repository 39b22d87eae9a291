/** Runs the trials of a tuning search for primitives on a device: compared with the host, then timed. */
import type { Tuning } from '../algorithms/parameters.js';
import type { Device } from '../device/device.js';
import type { Buffer } from '../device/memory/buffer.js';
import { generate } from '../io/operations/gen.js';
import { bytesOf, type KeyWords, keyWords, newArray } from '../keys/array.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { Compaction } from '../primitives/compact.js';
import { enqueueHistogramColumns } from '../primitives/histogram-columns.js';
import { PrefixScan } from '../primitives/prefix-scan.js';
import type { PrimitiveTuning } from '../primitives/primitive-program.js';
import { enqueueReduce, reducesOnce } from '../primitives/reduce.js';
import { HostColumnKernels } from '../sort/backend/host-column-kernels.js';
import {
  isPrimitive,
  isTilePrimitive,
  PRIMITIVES,
  type Primitive,
  primitiveTuningFor,
} from '../sort/backend/primitive-tuning.js';
import { type Column, column } from '../sort/model/column.js';
import { HISTOGRAM } from '../sort/operations/histogram/histogram.js';
import { COMPACT } from '../sort/operations/select/selection.js';
import { BuildError, MemoryError, UnsupportedError } from '../util/errors.js';
import { invalidName } from '../util/suggest.js';
import { BusyWork } from './busy-work.js';
import { SEED } from './sorts.js';
import { timing } from './statistics.js';
import type { Trial, TuneCase, TuneShape } from './tune.js';

const DTYPES = { 8: 'u8', 16: 'u16', 32: 'u32', 64: 'u64' } as const satisfies Record<number, Dtype>;

/** Number of keys by device type: a CPU takes longer. */
const KEYS = { gpu: 2 ** 24, cpu: 2 ** 22 } as const;
/** Calls before timing, and timed calls, of which the median counts. */
const WARM_UPS = 3;
const REPEATS = 15;

/** Maximum number of distinct keys for `unique`, and size of a position in bytes. */
const MAX_DISTINCT = 1000;
const PLACE_BYTES = 4;

/** Bits of a digit, as in most histograms. */
const DIGIT_BITS = 8;

/** Returns the searches for the given primitives, for shapes without values. */
export function primitiveCases(
  { capabilities }: Pick<Device, 'capabilities'>,
  primitives: readonly Primitive[],
  shapes: readonly TuneShape[],
): TuneCase[] {
  const n = KEYS[capabilities.type === 'cpu' ? 'cpu' : 'gpu'];
  const possible = primitives.filter((primitive) => primitive !== 'reduce' || reducesOnce({ capabilities }));
  return shapes
    .filter(({ valueBytes }) => valueBytes === 0)
    .flatMap((shape) => possible.map((algorithm) => ({ algorithm, which: { ...shape }, n })));
}

/** Runs one primitive, on arrays that all trials share. */
export class PrimitiveBench {
  readonly #device: Device;
  readonly #primitive: Primitive;
  readonly #dtype: Dtype;
  readonly #n: number;
  readonly #busyWork: BusyWork | undefined;
  readonly #arrays: Buffer[] = [];
  readonly #expected: Uint8Array;

  private constructor(device: Device, primitive: Primitive, keys: Column, expected: Uint8Array) {
    this.#device = device;
    this.#primitive = primitive;
    this.#dtype = keys.dtype;
    this.#n = keys.n;
    this.#expected = expected;
    this.#busyWork = BusyWork.open(device);
    try {
      const bytes = keys.n * keys.info.bytes;
      for (let i = 0; i < 2; i++) this.#arrays.push(device.buffer(bytes));
      if (primitive === 'unique') this.#arrays.push(device.buffer(keys.n * PLACE_BYTES));
      device.queue.write(this.#input, keys.place as ArrayBufferView);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /**
   * Allocates the arrays, and computes the expected result on the host engine.
   *
   * @throws UsageError when the algorithm is no primitive
   * @throws MemoryError when the arrays cannot be allocated
   */
  static async open(device: Device, { algorithm: primitive, which, n }: TuneCase): Promise<PrimitiveBench> {
    if (!isPrimitive(primitive)) throw invalidName('algorithm', primitive, PRIMITIVES);
    const dtype = DTYPES[which.keyBits];
    const keys = column(dtype, n, primitive === 'unique' ? few(dtype, n) : uniform(dtype, n));
    const bench = new PrimitiveBench(device, primitive, keys, await expectedOf(primitive, keys));
    await device.queue.finish();
    return bench;
  }

  close(): void {
    this.#busyWork?.close();
    for (const array of this.#arrays.splice(0)) array.release();
  }

  /** The current parameters. */
  get currentTuning(): Tuning {
    return { ...primitiveTuningFor(this.#device, this.#primitive, this.#dtype, this.#n) };
  }

  /** Tries parameters: compiles the primitive, compares its result, and times it when it is correct. */
  async attempt(parameters: Tuning): Promise<Trial> {
    const tuning = parameters as unknown as PrimitiveTuning;
    try {
      const { queue } = this.#device;
      queue.fill(this.#output, 0);
      const readOutput = await this.#enqueue(tuning);
      await queue.finish();
      if (globalThis.Buffer.compare(await readOutput(), this.#expected) !== 0) {
        return { result: 'wrong', reason: 'other bytes than those of the host' };
      }
      const seconds: number[] = [];
      for (let i = -WARM_UPS; i < REPEATS; i++) {
        const started = performance.now();
        const enqueue = async (): Promise<void> => {
          await this.#enqueue(tuning);
        };
        const measured = await queue.measure(enqueue, () => this.#busyWork?.enqueue());
        if (i >= 0) seconds.push(measured ?? (performance.now() - started) / 1000);
      }
      return { result: 'ok', time: timing(seconds) };
    } catch (error) {
      // A group that is too large causes an error at compilation or at launch.
      const types = [BuildError, MemoryError, UnsupportedError];
      if (!(error instanceof Error) || !types.some((type) => error instanceof type)) throw error;
      return { result: 'unsupported', reason: error.message };
    }
  }

  /**
   * Enqueues the primitive.
   *
   * @returns a function that reads the result; call it after the wait
   */
  async #enqueue(tuning: PrimitiveTuning): Promise<() => Promise<Uint8Array>> {
    const [device, dtype, n] = [this.#device, this.#dtype, this.#n];
    const [input, output] = [this.#input, this.#output];
    switch (this.#primitive) {
      case 'scan': {
        const scan = await PrefixScan.create(device, { dtype, op: 'sum', tuning });
        scan.enqueue({ input, output, n, inclusive: false });
        return () => this.#read(n);
      }
      case 'compact': {
        const compaction = await Compaction.create(device, { dtype, by: 'range', tuning });
        const predicate = lowerHalfRange(dtype);
        const readCount = compaction.enqueue({ keys: input, n, choice: predicate, to: output });
        return () => this.#read(readCount());
      }
      case 'unique': {
        const compaction = await Compaction.create(device, { dtype, by: 'heads', tuning });
        const to = { keys: output, places: this.#arrays[2] as Buffer };
        const found = compaction.enqueue({ keys: input, n, choice: 'heads', to });
        return () => this.#read(found());
      }
      case 'reduce': {
        const readResult = await enqueueReduce(device, { keys: input, n, dtype, op: 'sum', tuning });
        return async () => bytesOf(BigUint64Array.of(BigInt(readResult())));
      }
      case 'histogram': {
        const binning = { bits: topDigit(dtype) };
        const readResult = await enqueueHistogramColumns(device, { keys: input, n, dtype, binning, tuning });
        return async () => bytesOf(readResult());
      }
    }
  }

  async #read(n: number): Promise<Uint8Array> {
    const keys = newArray(this.#dtype, Math.min(n, this.#n));
    this.#device.queue.read(this.#output, keys);
    await this.#device.queue.finish();
    return bytesOf(keys);
  }

  get #input(): Buffer {
    return this.#arrays[0] as Buffer;
  }

  get #output(): Buffer {
    return this.#arrays[1] as Buffer;
  }
}

const uniform = (dtype: Dtype, n: number): KeyWords =>
  keyWords(generate({ dtype, count: n, distribution: 'uniform', seed: SEED }), dtypeInfo(dtype));

/** Returns sorted keys with few distinct values, each repeated many times. */
function few(dtype: Dtype, n: number): KeyWords {
  const info = dtypeInfo(dtype);
  const keys = keyWords(newArray(dtype, n), info);
  const distinct = Math.min(MAX_DISTINCT, 2 ** info.width);
  const each = Math.ceil(n / distinct);
  for (let i = 0; i < distinct; i++)
    keys.fill((info.bytes === 8 ? BigInt(i) : i) as never, i * each, (i + 1) * each);
  return keys;
}

const lowerHalfRange = (dtype: Dtype) => ({
  low: 0n,
  high: (1n << BigInt(dtypeInfo(dtype).width - 1)) - 1n,
  not: false,
});

const topDigit = (dtype: Dtype): readonly [number, number] => {
  const { width } = dtypeInfo(dtype);
  return [width - DIGIT_BITS, width];
};

async function expectedOf(primitive: Primitive, keys: Column): Promise<Uint8Array> {
  const kernels = new HostColumnKernels(undefined);
  const { dtype, n } = keys;
  const output = newArray(dtype, isTilePrimitive(primitive) ? n : 0);
  const to = column(dtype, n, output);
  switch (primitive) {
    case 'scan':
      await kernels.scan(keys, to, 'sum', false);
      return bytesOf(output);
    case 'compact': {
      const readCount = await kernels.run(COMPACT, keys, lowerHalfRange(dtype), to, false);
      return bytesOf(output, 0, readCount() * keys.info.bytes);
    }
    case 'unique': {
      const places = column('u32', n, new Uint32Array(n));
      const found = await kernels.distinct(keys, { keys: to, places });
      return bytesOf(output, 0, found() * keys.info.bytes);
    }
    case 'reduce': {
      const sum = await kernels.reduce(keys, 'sum');
      return bytesOf(BigUint64Array.of(BigInt(sum())));
    }
    case 'histogram': {
      const counts = await kernels.run(HISTOGRAM, keys, { bits: topDigit(dtype) });
      return bytesOf(counts());
    }
  }
}
