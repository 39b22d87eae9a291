import { dtypeInfo } from '../../keys/dtype.js';
import { CodeEdges } from '../../keys/value.js';
import { assertReducible, assertScannable, type ReduceOp, type ScanOp } from '../../primitives/possible.js';
import { InputError, UsageError } from '../../util/errors.js';
import { bitWindow, type HistogramBins } from '../api/options.js';
import { byteLengthOf, type Column } from '../backend/column.js';
import type { Call } from '../calls/call.js';

/** Bins of one histogram. */
const MAX_BINS = 65_536;
const MAX_DIGIT_BITS = 16;

/** Sum, minimum or maximum. Sums of integers are BigInts, of floats numbers of the keys' own type. */
export async function reduce(call: Call, keys: Column, op: ReduceOp): Promise<() => number | bigint> {
  const { columns } = call;
  assertReducible(keys.dtype, op, keys.n);
  if (keys.n === 0) return () => (keys.info.kind === 'float' ? 0 : 0n);
  if (op === 'sum' && columns.lacksDoubles(keys.dtype)) {
    const there = await call.onHost('sums of f64 need fp64', keys);
    return there.steps.reduce(there.keys, op);
  }
  return columns.steps.reduce(await call.bring(keys), op);
}

/** How `scan` goes about it. */
export interface ScanBy {
  readonly op: ScanOp;
  readonly inclusive: boolean;
}

/** A scan in the keys' own type. */
export async function scan(call: Call, keys: Column, to: Column, { op, inclusive }: ScanBy): Promise<void> {
  const { columns } = call;
  assertScannable(keys.dtype, op);
  if (keys.n === 0) return;
  if ((op === 'sum' || op === 'product') && columns.lacksDoubles(keys.dtype)) {
    const there = await call.onHost('prefix sums and products of f64 need fp64', keys);
    const sums = { ...there.keys, place: new Uint8Array(byteLengthOf(keys)) };
    await there.steps.scan(there.keys, sums, op, inclusive);
    await call.verify(() => there.checks.scan(there.keys, sums, op, inclusive));
    return call.copy(sums, to);
  }
  const input = await call.bring(keys);
  await call.into(to, async (out) => {
    await columns.steps.scan(input, out, op, inclusive);
    await call.verify((checks) => checks.scan(input, out, op, inclusive));
  });
}

/** Counts keys between edges, which need not be keys themselves. */
export async function histogram(
  call: Call,
  keys: Column,
  edges: readonly (number | bigint)[],
): Promise<() => Uint32Array> {
  if (keys.info.kind === 'float' && typeof edges[0] === 'bigint') {
    throw new UsageError(`bins of ${keys.dtype} keys are given by numbers, not by BigInts`);
  }
  const counts = new Uint32Array(edges.length - 1);
  const codes = codesOf(keys, edges);
  if (keys.n === 0 || !codes) return () => counts;
  // Bins that begin above every key are left out: no key has a code for their edges.
  const inside = await call.columns.steps.histogram(await call.bring(keys), { edges: codes });
  return () => {
    counts.set(inside());
    return counts;
  };
}

/** Counts keys by a digit of their codes. */
export async function digitHistogram(
  call: Call,
  keys: Column,
  window: HistogramBins['bits'],
): Promise<() => Uint32Array> {
  const bits = bitWindow(window, keys.info);
  const width = bits[1] - bits[0];
  if (width < 1 || width > MAX_DIGIT_BITS) {
    throw new UsageError(`a digit of ${width} bits: expected 1 to ${MAX_DIGIT_BITS}`);
  }
  if (keys.n === 0) return () => new Uint32Array(2 ** width);
  return call.columns.steps.histogram(await call.bring(keys), { bits });
}

/** Codes for the bins that keys can be in; undefined where there is none. */
function codesOf({ dtype }: Column, edges: readonly (number | bigint)[]): bigint[] | undefined {
  const codes = new CodeEdges(dtypeInfo(dtype));
  const lower = edges.slice(0, -1).flatMap((edge) => codes.from(edge) ?? []);
  const last = codes.upTo(edges.at(-1) ?? 0);
  return lower.length === 0 || last === undefined ? undefined : [...lower, last];
}

/**
 * The edges of bins: as given, or evenly over a range.
 *
 * @throws UsageError when neither or both are given, or the numbers do not make bins
 */
export function edgesOf({ bins, range, edges }: HistogramBins): readonly (number | bigint)[] {
  if (edges !== undefined) {
    if (bins !== undefined || range !== undefined) {
      throw new UsageError("option 'edges' says all of the bins: leave out 'bins' and 'range'");
    }
    const all: (number | bigint)[] = Array.from<number | bigint>(edges);
    assertBins(all.length - 1);
    const rising = all.every(
      (edge, i) => i === 0 || (typeof edge === typeof all[0] && edge > (all[i - 1] as number | bigint)),
    );
    if (!rising) throw new UsageError('edges do not rise: expected numbers, each above the one before');
    return all;
  }
  if (bins === undefined || range === undefined) {
    throw new UsageError("no bins: expected the options 'bins' and 'range', or 'edges', or 'bits'");
  }
  assertBins(bins);
  const [from, to] = range;
  if (typeof from === 'bigint' && typeof to === 'bigint' && from < to) {
    const count = BigInt(bins);
    // Keys are whole: an edge between two of them is as good as the upper one.
    return Array.from({ length: bins + 1 }, (_, i) => {
      return from + ((to - from) * BigInt(i) + count - 1n) / count;
    });
  }
  const width = Number(to) - Number(from);
  if (typeof from !== typeof to || !(width > 0 && Number.isFinite(width))) {
    throw new UsageError(`range is [${from}, ${to}]: expected two finite numbers, the smaller one first`);
  }
  const start = Number(from);
  return Array.from({ length: bins + 1 }, (_, i) => (i < bins ? start + (width * i) / bins : Number(to)));
}

function assertBins(bins: number): void {
  if (!Number.isInteger(bins) || bins < 1 || bins > MAX_BINS) {
    throw new UsageError(`a histogram of ${bins} bins: expected 1 to ${MAX_BINS}`);
  }
}

/**
 * `to[i] = from[indices[i]]` for each of some columns of as many elements. An index that is not inside gives zero bytes, and an error after the wait: nothing
 * waits in between for an answer.
 *
 * @returns throws InputError, when it is asked after the wait, if an index was not inside
 */
export async function gather(
  call: Call,
  from: readonly Column[],
  indices: Column,
  to: readonly Column[],
): Promise<() => void> {
  if (indices.n === 0 || from.length === 0) return () => undefined;
  const { steps } = call.columns;
  const positions = await call.bring(indices);
  const inputs: Column[] = [];
  for (const one of from) inputs.push(await call.bring(one));
  let outside: () => number | undefined = () => undefined;
  await intoAll(call, to, async (out) => {
    outside = await steps.gatherRows(inputs, positions, out);
  });
  return () => {
    const index = outside();
    if (index === undefined) return;
    throw new InputError(`index ${index} is outside of ${inputs[0]?.n} values`, { details: { index } });
  };
}

/** Lets `write` fill several columns where steps can, and brings them to where they belong. */
export async function intoAll(
  call: Call,
  to: readonly Column[],
  write: (to: readonly Column[]) => Promise<void>,
): Promise<void> {
  const [first, ...rest] = to;
  if (!first) return write([]);
  await call.into(first, (there) => intoAll(call, rest, (others) => write([there, ...others])));
}
