import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import type { Buffer as DeviceBuffer } from '../device/memory/buffer.js';
import { local, u32, u64 } from '../device/queue/queue.js';
import { StatusWords } from '../device/status-words.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { keyCodec } from '../keys/key-codec.js';
import { chain, type MaybePromise } from '../util/maybe-promise.js';
import { Memo, oncePer } from '../util/memo.js';
import { powerAtMost } from '../util/powers.js';
import { codeWords, enqueueGlobalHistogram, type HistogramWork } from './histogram.js';
import { passesSelfTest } from './look-back.js';
import {
  buildPrimitive,
  defaultPrimitiveTuning,
  gridStrideVectorGroups,
  nameOfTuning,
  type PrimitiveProgram,
  type PrimitiveTuning,
} from './primitive-program.js';

/** Bytes of local memory for counters; several groups should be resident on a compute unit. */
const COLUMN_BYTES = 32 * 1024;
/** Bytes of local memory that are reserved for the kernel's own declarations. */
const DECLARED_BYTES = 1024;
const MAX_COLUMNS = 32;
/** Fewest vectors per work-item: more groups leave more counters to add. */
const MIN_VECTORS = 2;
/** Words before the sums: CONTROL_MARGIN in cl/histogram_columns.cl. */
const MARGIN = 32;

/** A histogram, and the parameters that replace those of the device. */
export type HistogramColumnsWork = HistogramWork & { readonly tuning?: PrimitiveTuning };

/** Bins that start at `low` and are 2^shift codes wide; the last one ends at `high`. */
interface Even {
  readonly low: bigint;
  readonly high: bigint;
  readonly shift: number;
}

/** Returns edges as bins of equal widths, or undefined if the widths are not an equal power of two. */
const evenOf = oncePer((edges: readonly bigint[]): Even | undefined => {
  const [low, second] = edges as readonly [bigint, bigint];
  const bins = edges.length - 1;
  const high = edges.at(-1) as bigint;
  // A single bin is as wide as necessary.
  const width = bins === 1 ? 1n << 63n : second - low;
  const shift = width.toString(2).length - 1;
  if (width !== 1n << BigInt(shift)) return undefined;
  const isEven = edges.slice(0, -1).every((edge, i) => edge === low + BigInt(i) * width);
  return isEven && high <= low + BigInt(bins) * width ? { low, high, shift } : undefined;
});

/** Parameters that a histogram is compiled for. */
export interface HistogramColumnsShape {
  readonly dtype: Dtype;
  readonly by: 'bits' | 'even' | 'edges';
  /** Counters per bin, a power of two. */
  readonly columns: number;
  /** Whether the last group to finish writes the result to the status words. */
  readonly handsOver: boolean;
  readonly tuning: PrimitiveTuning;
}

const BY = { bits: 0, even: 1, edges: 2 } as const;

/** Buffer in which groups sum their counters, shared by consecutive launches; all zero between them. */
const sumsOf = oncePer(
  (device: Device): DeviceBuffer => device.allocatePersistent(4 * (MARGIN + StatusWords.MAX)),
);

const built = new Memo<PrimitiveProgram>();

/** Builds the program of a histogram. @throws BuildError */
export function buildHistogramColumns(
  device: Device,
  { dtype, by, columns, handsOver, tuning }: HistogramColumnsShape,
): MaybePromise<PrimitiveProgram> {
  return built.get(device, `${dtype} ${by} ${columns} ${handsOver} ${nameOfTuning(tuning)}`, async () => {
    const defines = { COLUMNS: columns, BY: BY[by], HAND_OVER: handsOver ? 1 : 0 };
    return buildPrimitive(device, 'histogram_columns.cl', ['histogram_columns'], dtype, defines, tuning);
  });
}

/**
 * Enqueues a histogram: groups count in private counters, in a grid-stride loop over all keys.
 *
 * Complexity: every key is read once. One launch; on NVIDIA devices the last group writes the result, elsewhere the
 * counters are zeroed first. If the counters exceed local memory (more than some thousand bins), counters in global memory
 * count instead.
 *
 * @returns a function that returns the counts; call it when the queue has finished
 */
export function enqueueHistogramColumns(
  device: Device,
  work: HistogramColumnsWork,
): MaybePromise<() => Uint32Array> {
  const handsOver = device.capabilities.hasAcquireRelease && handsOverWell(device, work);
  return chain(handsOver, (may) => enqueueAs(device, work, may));
}

const well = new Memo<boolean>();

/** Checks that the last group's result equals that of zeroed counters, in two consecutive launches. */
function handsOverWell(device: Device, work: HistogramColumnsWork): MaybePromise<boolean> {
  const { dtype, tuning = defaultPrimitiveTuning(device, dtype) } = work;
  return well.get(device, `${dtype} ${nameOfTuning(tuning)}`, () => testHandingOver(device, dtype, tuning));
}

function testHandingOver(device: Device, dtype: Dtype, tuning: PrimitiveTuning): Promise<boolean> {
  const name = JSON.stringify(['histogram', dtype, tuning]);
  return passesSelfTest(device, name, async () => {
    const { bytes, width } = dtypeInfo(dtype);
    const n = 2 ** 21 + 3;
    const words = Uint32Array.from({ length: Math.ceil((n * bytes) / 4) }, (_, i) =>
      Math.imul(i, 0x9e3779b1),
    );
    const bits = [width - 8, width] as const;
    const { queue, pool } = device;
    const counts: (() => Uint32Array)[] = [];
    const keys = pool.take(words.byteLength);
    try {
      queue.write(keys, words);
      const work = { keys, n, dtype, binning: { bits }, tuning };
      for (const well of [false, true, true]) counts.push(await enqueueAs(device, work, well));
    } finally {
      pool.give(keys);
    }
    await queue.finish();
    const [apart, ...handed] = counts.map((read) => Buffer.from(read().buffer));
    return handed.every((one) => apart?.equals(one));
  });
}

/** @param mayHandOver whether the last group may write the result */
function enqueueAs(
  device: Device,
  work: HistogramColumnsWork,
  mayHandOver: boolean,
): MaybePromise<() => Uint32Array> {
  const { dtype, binning } = work;
  const info = dtypeInfo(dtype);
  const byEdges = 'edges' in binning;
  const bins = byEdges ? binning.edges.length - 1 : 2 ** (binning.bits[1] - binning.bits[0]);
  const even = byEdges ? evenOf(binning.edges) : undefined;
  const edgeBytes = byEdges && !even ? (bins + 1) * info.bytes : 8;
  const available = Math.min(COLUMN_BYTES, device.capabilities.localBytes - DECLARED_BYTES) - edgeBytes;
  const maxColumns = Math.floor(available / (bins * 4));
  const { quirks } = device.capabilities;
  if (maxColumns < 1 || Number.isFinite(quirks.maxLoopIterations))
    return enqueueGlobalHistogram(device, work);
  const tuned = work.tuning ?? defaultPrimitiveTuning(device, dtype);
  // A work-item that counts alone uses enough columns for neighbouring updates not to depend on each other.
  const columns = Math.min(powerAtMost(maxColumns), tuned.groupSize === 1 ? 4 : MAX_COLUMNS);
  const by = byEdges ? (even ? 'even' : 'edges') : 'bits';
  const handsOver = mayHandOver && bins <= StatusWords.MAX;
  const shape = { dtype, by, columns, handsOver, tuning: tuned } as const;
  const count = (program: PrimitiveProgram) =>
    enqueue(device, work, program, { bins, columns, even, edgeBytes, handsOver });
  return chain(buildHistogramColumns(device, shape), count);
}

/** Parameters of one histogram. */
interface Counting {
  readonly bins: number;
  readonly columns: number;
  readonly even: Even | undefined;
  readonly edgeBytes: number;
  readonly handsOver: boolean;
}

function enqueue(
  device: Device,
  work: HistogramColumnsWork,
  { program, tuning }: PrimitiveProgram,
  { bins, columns, even, edgeBytes, handsOver }: Counting,
): () => Uint32Array {
  const { keys, n, dtype, binning } = work;
  const info = dtypeInfo(dtype);
  const byEdges = 'edges' in binning;
  const size = tuning.groupSize;
  const groups = gridStrideVectorGroups(device, work, tuning, MIN_VECTORS);
  const [low, high] = byEdges ? [binning.edges[0] as bigint, binning.edges.at(-1) as bigint] : [0n, 0n];
  const shift = even?.shift ?? (byEdges ? 0 : binning.bits[0]);
  const { queue } = device;
  const how = [u64(n), u32(bins), u32(shift), u64(low), u64(high), codecArgument(keyCodec(dtype))];
  const memory = [local(bins * columns * 4), local(Math.max(8, edgeBytes))];
  const run = (counts: DeviceBuffer, edges: DeviceBuffer, status: DeviceBuffer, at: number): void => {
    if (byEdges && !even) queue.write(edges, codeWords(binning.edges, info));
    const args = [keys, counts, edges, ...how, ...memory, status, u32(at)];
    queue.run(program.kernel('histogram_columns'), args, { global: groups * size, local: size });
  };
  if (handsOver) {
    const sums = sumsOf(device);
    const status = StatusWords.uninitialized(device, bins);
    device.pool.withBuffers([edgeBytes], (edges) => run(sums, edges, status.buffer, status.firstWord));
    return () => status.words();
  }
  const result = new Uint32Array(bins);
  device.pool.withBuffers([bins * 4, edgeBytes], (counts, edges) => {
    queue.fill(counts, 0, { bytes: bins * 4 });
    run(counts, edges, counts, 0);
    queue.read(counts, result);
  });
  return () => result;
}
