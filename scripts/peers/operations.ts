/** Operations on keys in device memory, as calls enqueue them, with their expected results. */
import type { Algorithm, SortRequest } from '../../src/algorithms/algorithm.js';
import { untestedAlgorithm } from '../../src/algorithms/registry.js';
import { enqueueWithScratch } from '../../src/algorithms/run.js';
import type { Device } from '../../src/device/device.js';
import type { Buffer } from '../../src/device/memory/buffer.js';
import { generate } from '../../src/io/operations/gen.js';
import { bytesOf, newArray } from '../../src/keys/array.js';
import type { Dtype } from '../../src/keys/dtype.js';
import { keyCodec } from '../../src/keys/key-codec.js';
import type { PrimitiveTuning } from '../../src/primitives/primitive-program.js';
import type { Sorter } from '../../src/sort/api/sorter.js';
import { DeviceColumnKernels } from '../../src/sort/backend/device-column-kernels.js';
import { DeviceColumns } from '../../src/sort/backend/device-columns.js';
import { devicePlans } from '../../src/sort/backend/planner.js';
import type { Call } from '../../src/sort/calls/call.js';
import { equalOffsets, zipfOffsets } from '../../src/sort/cases/segments.js';
import { type Column, column } from '../../src/sort/model/column.js';
import type { SortSettings } from '../../src/sort/model/options.js';
import { parse } from '../../src/sort/operations/arguments.js';
import { HISTOGRAM } from '../../src/sort/operations/histogram/histogram.js';
import { segmentColumn } from '../../src/sort/operations/segments/segment-column.js';
import { enqueueTopSegments } from '../../src/sort/operations/segments/top-segments.js';
import { COMPACT } from '../../src/sort/operations/select/selection.js';
import { enqueueTopK } from '../../src/sort/operations/top-k/top-k.js';
import { CheckedTransfers } from '../../src/sort/transfer/checked-transfers.js';
import { UnsupportedError } from '../../src/util/errors.js';
import type { MaybePromise } from '../../src/util/maybe-promise.js';
import { Random } from '../../src/util/random.js';

/** Distributions of keys. CUB has more, but these two cover the range of results. */
export type KeyDtype = 'u32' | 'u64';
type Keys = Uint32Array | BigUint64Array;

/** Inputs of an operation. */
export interface OperationInputs {
  readonly dtype: KeyDtype;
  readonly keys: Keys;
  /** Segment offsets, with n at the end. */
  readonly offsets?: Uint32Array;
}

/** An operation whose inputs are in device memory. */
export interface Prepared {
  /** Enqueues the operation. */
  readonly enqueue: () => Promise<void>;
  /** Overwrites results, so that leftovers of an earlier run cannot pass as results. */
  readonly poison: () => void;
  /** Returns the bytes of each result, after a wait. */
  readonly read: () => Promise<Uint8Array[]>;
  readonly release: () => void;
}

export interface Operation {
  readonly name: string;
  readonly inputs: (dtype: KeyDtype, n: number) => OperationInputs;
  /** Returns the bytes of each result, computed by the host engine. */
  readonly expected: (host: Sorter, inputs: OperationInputs) => Promise<Uint8Array[]>;
  /**
   * @param sizes bytes of each expected result
   * @param tuning parameters that override those of the device
   */
  readonly prepare: (
    device: Device,
    inputs: OperationInputs,
    sizes: readonly number[],
    tuning?: Partial<PrimitiveTuning>,
  ) => Promise<Prepared>;
}

const SEED = 1;
/** Number of distinct keys in inputs with runs. */
const DISTINCT = 1000;
const POISON = 0xa5a5a5a5;

const bitsOf = (dtype: KeyDtype): 32 | 64 => (dtype === 'u32' ? 32 : 64);

function uniform(dtype: KeyDtype, n: number): Keys {
  const { buffer, byteOffset } = generate({ dtype, count: n, distribution: 'uniform', seed: SEED });
  return dtype === 'u32' ? new Uint32Array(buffer, byteOffset, n) : new BigUint64Array(buffer, byteOffset, n);
}

/** Returns sorted keys with at most `DISTINCT` distinct values, whose runs have random lengths. */
function runs(dtype: KeyDtype, n: number): Keys {
  const random = new Random(SEED);
  const cuts = Uint32Array.from({ length: DISTINCT - 1 }, () => random.below(n)).sort();
  const keys = dtype === 'u32' ? new Uint32Array(n) : new BigUint64Array(n);
  for (let run = 0; run < DISTINCT; run++) {
    const [from, to] = [run === 0 ? 0 : cuts[run - 1], run === DISTINCT - 1 ? n : cuts[run]];
    if (keys instanceof Uint32Array) keys.fill(run, from, to);
    else keys.fill(BigInt(run) << 32n, from, to);
  }
  return keys;
}

const word = (value: number | bigint): BigUint64Array => BigUint64Array.of(BigInt.asUintN(64, BigInt(value)));

/** Device columns that are released together. */
class Columns {
  readonly #device: Device;
  readonly #all: Buffer[] = [];

  constructor(device: Device) {
    this.#device = device;
  }

  room(dtype: KeyDtype, n: number): Column {
    const buffer = this.#device.buffer(Math.max(16, n * (bitsOf(dtype) / 8)));
    this.#all.push(buffer);
    return column(dtype, n, buffer);
  }

  upload(dtype: KeyDtype, keys: Keys): Column {
    const to = this.room(dtype, keys.length);
    this.#device.queue.write(to.place as Buffer, keys);
    return to;
  }

  poison(to: Column): void {
    this.#device.queue.fill(to.place as Buffer, POISON);
  }

  /** Downloads the first n keys. */
  async read(from: Column, n: number): Promise<Uint8Array> {
    const keys = newArray(from.dtype, n);
    this.#device.queue.read(from.place as Buffer, keys);
    await this.#device.queue.finish();
    return bytesOf(keys);
  }

  release = (): void => {
    for (const buffer of this.#all.splice(0)) buffer.release();
  };
}

type Steps = { readonly columns: Columns; readonly steps: DeviceColumnKernels; readonly keys: Column };

/** Columns with the keys. Releases partial columns if one cannot be created. */
async function prepared(
  device: Device,
  { dtype, keys }: OperationInputs,
  tuning: Partial<PrimitiveTuning> | undefined,
  make: (with_: Steps) => Omit<Prepared, 'release'> | Promise<Omit<Prepared, 'release'>>,
): Promise<Prepared> {
  const columns = new Columns(device);
  try {
    const steps = new DeviceColumnKernels(device, tuning);
    const made = await make({ columns, steps, keys: columns.upload(dtype, keys) });
    await device.queue.finish();
    return { ...made, release: columns.release };
  } catch (error) {
    columns.release();
    throw error;
  }
}

type Top = { readonly keys: Column; readonly positions: Column };

/** Returns an operation whose result is one column, with the key count that `enqueue` returns. */
function oneColumn(
  { columns }: Steps,
  to: Column,
  enqueue: () => MaybePromise<(() => number) | undefined>,
): Omit<Prepared, 'release'> {
  let readResult: (() => number) | undefined;
  return {
    enqueue: async () => {
      readResult = await enqueue();
    },
    poison: () => columns.poison(to),
    read: async () => [await columns.read(to, readResult?.() ?? to.n)],
  };
}

/** Returns an operation whose results are numbers that are available after the wait. */
function numbers(enqueue: () => MaybePromise<() => ArrayBufferView>): Omit<Prepared, 'release'> {
  let readResult: (() => ArrayBufferView) | undefined;
  return {
    enqueue: async () => {
      readResult = await enqueue();
    },
    poison: () => {
      readResult = undefined;
    },
    read: async () => (readResult ? [bytesOf(readResult())] : []),
  };
}

const ofKeys = (dtype: KeyDtype, n: number): OperationInputs => ({ dtype, keys: uniform(dtype, n) });
const ofRuns = (dtype: KeyDtype, n: number): OperationInputs => ({ dtype, keys: runs(dtype, n) });

const scan = (name: string, op: 'sum' | 'max', inclusive: boolean): Operation => ({
  name,
  inputs: ofKeys,
  expected: async (host, { keys }) => [bytesOf(await host.scan(keys, { op, inclusive }))],
  prepare: (device, inputs, _, tuning) =>
    prepared(device, inputs, tuning, (with_) => {
      const to = with_.columns.room(inputs.dtype, inputs.keys.length);
      return oneColumn(with_, to, async () => {
        await with_.steps.scan(with_.keys, to, op, inclusive);
        return undefined;
      });
    }),
});

/** Returns the results in the form of CUB: sums of 64 bits, and maxima of the keys' dtype. */
const reduce = (name: string, op: 'sum' | 'max'): Operation => {
  const asResult = (value: number | bigint, dtype: KeyDtype): ArrayBufferView =>
    op === 'max' && dtype === 'u32' ? Uint32Array.of(Number(value)) : word(value);
  return {
    name,
    inputs: ofKeys,
    expected: async (host, { keys, dtype }) => [bytesOf(asResult(await host.reduce(keys, op), dtype))],
    prepare: (device, inputs, _, tuning) =>
      prepared(device, inputs, tuning, ({ steps, keys }) =>
        numbers(async () => {
          const readResult = await steps.reduce(keys, op);
          return () => asResult(readResult(), inputs.dtype);
        }),
      ),
  };
};

const histogram: Operation = {
  name: 'histogram',
  inputs: ofKeys,
  expected: async (host, { keys, dtype }) => [
    bytesOf(await host.histogram(keys, { bitRange: [bitsOf(dtype) - 8, bitsOf(dtype)] })),
  ],
  prepare: (device, inputs, _, walk) =>
    prepared(device, inputs, walk, ({ steps, keys }) => {
      const bits = [bitsOf(inputs.dtype) - 8, bitsOf(inputs.dtype)] as const;
      return numbers(() => steps.run(HISTOGRAM, keys, { bits }));
    }),
};

const filter: Operation = {
  name: 'filter',
  inputs: ofKeys,
  expected: async (host, { keys, dtype }) => [
    bytesOf(await host.filter(keys, { below: 1n << BigInt(bitsOf(dtype) - 1) })),
  ],
  prepare: (device, inputs, _, walk) =>
    prepared(device, inputs, walk, (with_) => {
      const to = with_.columns.room(inputs.dtype, inputs.keys.length);
      const predicate = { low: 0n, high: (1n << BigInt(bitsOf(inputs.dtype) - 1)) - 1n, not: false };
      return oneColumn(with_, to, () => with_.steps.run(COMPACT, with_.keys, predicate, to, false));
    }),
};

/** Unique keys of a sorted array, and with `lengths` the length of each run. */
const unique = (name: string, lengths: boolean): Operation => ({
  name,
  inputs: ofRuns,
  expected: async (host, inputs) => {
    const { keys, counts } = await host.unique(inputs.keys);
    return [bytesOf(keys), ...(lengths ? [bytesOf(counts)] : [])];
  },
  prepare: (device, inputs, [bytes = 0], tuning) =>
    prepared(device, inputs, tuning, ({ columns, steps, keys }) => {
      const { n } = keys;
      // A call allocates its results when it knows their number; the kernels are timed without that wait.
      const distinct = (bytes * 8) / bitsOf(inputs.dtype);
      const [to, places, counts] = [
        columns.room(inputs.dtype, n),
        columns.room('u32', n),
        columns.room('u32', distinct),
      ];
      let readResult = () => 0;
      return {
        enqueue: async () => {
          readResult = await steps.distinct(keys, { keys: to, places });
          if (lengths) await steps.counts(places, n, counts);
        },
        poison: () => {
          for (const one of [to, counts]) columns.poison(one);
        },
        read: async () => {
          const n = Math.min(readResult(), distinct);
          return [await columns.read(to, n), ...(lengths ? [await columns.read(counts, n)] : [])];
        },
      };
    }),
});

const segments = (length: number | 'zipf'): Operation => ({
  name: `segments-${length}`,
  inputs: (dtype, n) => ({
    ...ofKeys(dtype, n),
    offsets: length === 'zipf' ? zipfOffsets(n) : equalOffsets(n, length),
  }),
  expected: async (host, { keys, offsets = new Uint32Array() }) => [
    bytesOf(await host.segmentedSort(keys, offsets)),
  ],
  prepare: (device, inputs, _, tuning) =>
    prepared(device, inputs, tuning, async (with_) => {
      const { dtype, keys, offsets = new Uint32Array() } = inputs;
      const { length: n } = keys;
      const bits = [0, bitsOf(dtype)] as const;
      const algorithm = await untestedAlgorithm(device, 'segmented', { dtype, n, bits, valueBytes: 0 });
      if (typeof algorithm === 'string') throw new UnsupportedError(algorithm);
      const to = with_.columns.room(dtype, n);
      const { longest } = segmentColumn(offsets, n);
      const where = {
        offsets: with_.columns.upload('u32', offsets).place as Buffer,
        count: offsets.length - 1,
        ...(longest !== undefined && { longest }),
      };
      const work = {
        n,
        input: with_.keys.place as Buffer,
        output: to.place as Buffer,
        codec: keyCodec(dtype),
        bits,
        segments: where,
      };
      return oneColumn(with_, to, async () => {
        enqueueWithScratch(algorithm, device.queue, work).release();
        return undefined;
      });
    }),
});

/**
 * Returns what a call provides to the steps of an operation, without its checks: it verifies nothing, and sorts with the
 * first plan.
 */
function uncheckedCall(device: Device, columns: DeviceColumns, settings: SortSettings): Call {
  const codecOf = (dtype: Dtype) => keyCodec(dtype, settings);
  const algorithms = new Map<string, Promise<Algorithm | string>>();
  const algorithmFor = (name: 'auto' | 'segmented', request: SortRequest): Promise<Algorithm | string> => {
    const [plan] = devicePlans(device, { ...request, algorithm: name });
    if (!plan) throw new UnsupportedError(`nothing is planned for ${request.n} keys`);
    const made = algorithms.get(plan.algorithm) ?? untestedAlgorithm(device, plan.algorithm, request);
    algorithms.set(plan.algorithm, made);
    return made;
  };
  type Used =
    | 'columns'
    | 'settings'
    | 'bindInput'
    | 'bindOutput'
    | 'copy'
    | 'verify'
    | 'prepare'
    | 'prepareVerify'
    | 'canSort'
    | 'sort';
  const call: Pick<Call, Used> = {
    columns,
    settings,
    bindInput: (from) => columns.bindInput(from),
    bindOutput: (to, write) => columns.bindOutput(to, write),
    copy: (from, to) => columns.copy(from, to),
    verify: () => undefined,
    prepare: () => undefined,
    prepareVerify: () => undefined,
    canSort: async () => true,
    sort: async ({ keys, sorted, moved, values, segments }) => {
      const { n, dtype, info } = keys;
      const bits = [0, info.width] as const;
      const valueBytes = moved ? (values?.bytes ?? 4) : 0;
      const sort = await algorithmFor(segments ? 'segmented' : 'auto', { dtype, n, bits, valueBytes });
      if (typeof sort === 'string') throw new UnsupportedError(sort);
      const work = {
        n,
        bits,
        input: keys.place as Buffer,
        ...(values && { inputValues: values.place as Buffer }),
        output: (sorted ?? columns.temporary(dtype, n).place) as Buffer,
        ...(moved && { outputValues: moved as Buffer, indices: !values }),
        codec: codecOf(dtype),
        ...(segments && {
          segments: { ...segments, offsets: segments.offsets.place as Buffer, count: segments.offsets.n - 1 },
        }),
      };
      enqueueWithScratch(sort, device.queue, work).release();
    },
  };
  return call as Call;
}

/** First keys in descending order with their positions, as `enqueue` computes them in a call. */
function firstKeys(
  device: Device,
  { columns, steps, keys }: Steps,
  count: number,
  enqueue: (call: Call, to: Top) => Promise<unknown>,
): Omit<Prepared, 'release'> {
  const settings = parse({ descending: true });
  const to = { keys: columns.room(keys.dtype as KeyDtype, count), positions: columns.room('u32', count) };
  const own = new DeviceColumns(device, settings, new CheckedTransfers(), steps);
  const call = uncheckedCall(device, own, settings);
  return {
    enqueue: async () => {
      await enqueue(call, to);
      own.release();
    },
    poison: () => {
      for (const one of [to.keys, to.positions]) columns.poison(one);
    },
    read: async () => [await columns.read(to.keys, count), await columns.read(to.positions, count)],
  };
}

/** The largest keys in descending order, with their positions. CUB returns the same keys in any order. */
const topK = (k: number | 'half'): Operation => ({
  name: `topK-${k}`,
  inputs: ofKeys,
  expected: async (host, { keys }) => {
    const top = await host.topK(keys, k === 'half' ? keys.length / 2 : k);
    return [bytesOf(top.keys), bytesOf(top.indices)];
  },
  prepare: (device, inputs, [bytes = 0], tuning) =>
    prepared(device, inputs, tuning, (with_) =>
      firstKeys(device, with_, (bytes * 8) / bitsOf(inputs.dtype), (call, to) =>
        enqueueTopK(call, with_.keys, to),
      ),
    ),
});

/**
 * The largest keys of each whole row in descending order, with their positions in the row. CUB returns the same keys in any
 * order.
 */
const topRows = (length: number, k: number): Operation => ({
  name: `topRows-${length}-${k}`,
  inputs: (dtype, n) => {
    const whole = Math.max(1, Math.floor(n / length)) * length;
    return { ...ofKeys(dtype, whole), offsets: equalOffsets(whole, length) };
  },
  expected: async (host, { keys, offsets = new Uint32Array() }) => {
    const top = await host.topKSegments(keys, offsets, k, { positions: 'segment' });
    return [bytesOf(top.keys), bytesOf(top.indices)];
  },
  prepare: (device, inputs, _, tuning) =>
    prepared(device, inputs, tuning, (with_) => {
      const { keys, columns } = with_;
      const { offsets = new Uint32Array() } = inputs;
      const begins = columns.room('u32', offsets.length);
      const segments = {
        ...segmentColumn(offsets, keys.n),
        ...{ offsets: columns.upload('u32', offsets), isRows: true, k, fromSegment: true },
      };
      return firstKeys(device, with_, (offsets.length - 1) * k, (call, to) =>
        enqueueTopSegments(call, keys, segments, () => ({ ...to, offsets: begins })),
      );
    }),
});

/** Operations that scripts/peers/cub-operations.cu implements, under the same names. */
export const OPERATIONS: readonly Operation[] = [
  scan('scan', 'sum', false),
  scan('scanMax', 'max', true),
  reduce('reduce', 'sum'),
  reduce('reduceMax', 'max'),
  histogram,
  filter,
  unique('unique', false),
  unique('runLengths', true),
  ...([1, 128, 2048, 'half'] as const).map(topK),
  ...[256, 4096, 65536].flatMap((length) => [1, 16, 128].map((k) => topRows(length, k))),
  ...([32, 256, 4096, 65536, 'zipf'] as const).map(segments),
];
