import { type KeyCodec, keyCodec } from '../../keys/key-codec.js';
import type { ScanOp } from '../../primitives/possible.js';
import { ElementSum } from '../host/element-sum.js';
import { SLICE } from '../host/policy.js';
import { inSlices, runYielding, type Steps } from '../host/steps.js';
import { type Column, column, wordsOf } from '../model/column.js';
import { ColumnCodes } from './column-codes.js';
import type { ColumnSelection } from './column-kernels.js';
import type { ColumnVerifier, DeferredVerdict, TopResult } from './column-verifier.js';
import { HostColumnKernels } from './host-column-kernels.js';
import { findScanMismatch } from './scan-mismatch.js';
import {
  wrongCounts,
  wrongDistinctKeys,
  wrongSelection,
  wrongSelectionCount,
  wrongTopCount,
  wrongTopKeys,
} from './verification-failures.js';

/** The number of selected keys, and whether the result has the right ones in order. */
export interface SelectionFindings {
  readonly chosen: number;
  readonly same: boolean;
}

/** Distinct keys out of order or with the count 0, and whether the counted keys are those of the input. */
export interface DistinctFindings {
  readonly wrong: number;
  readonly same: boolean;
}

export interface TopFindings {
  /** Segments with more or fewer results. */
  readonly wrongSegments: number;
  /** Results that are out of order or differ from the key at their position. */
  readonly wrong: number;
  /** Keys that are not after the last result of their segment. */
  readonly counted: number;
}

/** Column verifiers on the host. Their verdicts are known when they return. */
export class HostColumnVerifier implements ColumnVerifier {
  protected readonly signal: AbortSignal | undefined;

  /** @param signal makes a check throw an AbortedError */
  constructor(signal: AbortSignal | undefined) {
    this.signal = signal;
  }

  async scan(from: Column, to: Column, op: ScanOp, inclusive: boolean): Promise<DeferredVerdict> {
    const wrong = await this.scanMismatch(from, to, op, inclusive);
    return () => (wrong < 0 ? undefined : `result ${wrong} of ${from.n} is incorrect`);
  }

  async compact(
    keys: Column,
    selection: ColumnSelection,
    to: Column,
    rest: boolean,
    count: () => number,
  ): Promise<DeferredVerdict> {
    const reported = count();
    const { chosen, same } = await this.selectionFindings(keys, selection, to, rest, reported);
    if (chosen !== reported) return () => wrongSelectionCount(reported, chosen);
    return () => (same && (rest || to.n === reported) ? undefined : wrongSelection);
  }

  async unique(keys: Column, distinct: Column, counts: Column, codec: KeyCodec): Promise<DeferredVerdict> {
    const { wrong, same } = await this.distinctFindings(keys, distinct, counts, codec);
    return () => (wrong > 0 ? wrongDistinctKeys(wrong, distinct.n) : same ? undefined : wrongCounts);
  }

  async top(keys: Column, result: TopResult): Promise<DeferredVerdict> {
    const { n } = result.keys;
    const { wrongSegments, wrong, counted } = await this.topFindings(keys, result);
    return () => {
      if (wrongSegments > 0) return `${wrongSegments} segments have more or fewer results than ${result.k}`;
      if (wrong > 0) return wrongTopKeys(wrong, n);
      return counted === n ? undefined : wrongTopCount(counted, n);
    };
  }

  /** Returns the index of the first wrong result, or -1. */
  protected scanMismatch(from: Column, to: Column, op: ScanOp, inclusive: boolean): Promise<number> {
    return this.#run(findScanMismatch(from, to, op, inclusive));
  }

  protected selectionFindings(
    keys: Column,
    selection: ColumnSelection,
    to: Column,
    rest: boolean,
    reported: number,
  ): Promise<SelectionFindings> {
    return this.#run(findSelectionMismatch(keys, selection, to, rest, reported));
  }

  protected async distinctFindings(
    keys: Column,
    distinct: Column,
    counts: Column,
    codec: KeyCodec,
  ): Promise<DistinctFindings> {
    const kernels = new HostColumnKernels(this.signal);
    const canonical = async (from: Column): Promise<Column> => {
      const copy = column(from.dtype, from.n, wordsOf(from).slice());
      await kernels.canonical(from, copy);
      return copy;
    };
    return this.#run(findDistinctMismatch(await canonical(keys), await canonical(distinct), counts, codec));
  }

  protected topFindings(keys: Column, result: TopResult): Promise<TopFindings> {
    return this.#run(findTopMismatch(keys, result));
  }

  #run<T>(steps: Steps<T>): Promise<T> {
    return runYielding(steps, this.signal);
  }
}

/** Returns where the segments of keys begin and the last one ends, and the same of their results. */
export const segmentArrays = (
  keys: Column,
  { keys: top, segments }: TopResult,
): [offsets: Uint32Array, begins: Uint32Array] =>
  segments
    ? [wordsOf(segments.offsets) as Uint32Array, wordsOf(segments.begins) as Uint32Array]
    : [Uint32Array.of(0, keys.n), Uint32Array.of(0, top.n)];

function* findSelectionMismatch(
  keys: Column,
  selection: ColumnSelection,
  to: Column,
  rest: boolean,
  reported: number,
): Steps<SelectionFindings> {
  const [words, out] = [wordsOf(keys), wordsOf(to)];
  const mask = 'mask' in selection ? (wordsOf(selection.mask) as Uint8Array) : undefined;
  const range = 'low' in selection ? selection : { low: 0n, high: 0n, not: false };
  const codes = new ColumnCodes(keys, keyCodec(keys.dtype));
  const wordOf = (code: bigint, word: number): number => Number((code >> BigInt(32 * word)) & 0xffff_ffffn);
  const [lowFrom, highFrom] = [wordOf(range.low, 0), wordOf(range.low, 1)];
  const [lowTo, highTo] = [wordOf(range.high, 0), wordOf(range.high, 1)];
  const isInside = (i: number): boolean => {
    const [low, high] = [codes.low(i), codes.high(i)];
    const isBelow = high < highFrom || (high === highFrom && low < lowFrom);
    const isAbove = high > highTo || (high === highTo && low > lowTo);
    return (!isBelow && !isAbove) !== range.not;
  };
  let [chosen, others, same] = [0, 0, true];
  yield* inSlices(keys.n, (start, end) => {
    if (!mask) codes.encode(start, end);
    for (let i = start; i < end; i++) {
      const isChosen = mask ? mask[i] !== 0 : isInside(i);
      if (!isChosen && !rest) continue;
      const place = isChosen ? chosen++ : reported + others++;
      if (out[place] !== words[i]) same = false;
    }
  });
  return { chosen, same };
}

/** @param keys canonicalized, as is `distinct` */
function* findDistinctMismatch(
  keys: Column,
  distinct: Column,
  counts: Column,
  codec: KeyCodec,
): Steps<DistinctFindings> {
  const times = wordsOf(counts) as Uint32Array;
  const codes = new ColumnCodes(distinct, codec);
  let [wrong, low, high] = [0, -1, -1];
  yield* inSlices(distinct.n, (start, end) => {
    codes.encode(start, end);
    for (let i = start; i < end; i++) {
      const [l, h] = [codes.low(i), codes.high(i)];
      if (times[i] === 0 || h < high || (h === high && l <= low)) wrong++;
      [low, high] = [l, h];
    }
  });
  if (wrong > 0) return { wrong, same: false };
  const [before, after] = [new ElementSum(), new ElementSum()];
  yield* before.addKeys(wordsOf(keys), {});
  yield* after.addKeys(wordsOf(distinct), { times });
  return { wrong, same: before.equals(after) };
}

function* findTopMismatch(keys: Column, result: TopResult): Steps<TopFindings> {
  const { keys: top, positions, segments, k, codec, bits } = result;
  const [words, found, at] = [wordsOf(keys), wordsOf(top), wordsOf(positions) as Uint32Array];
  const [offsets, begins] = segmentArrays(keys, result);
  const count = offsets.length - 1;
  const codes = new ColumnCodes(top, codec, bits);
  const lastCodes = new LastCodes(begins);
  let [wrongSegments, wrong, counted] = [begins[0] === 0 ? 0 : 1, 0, 0];
  for (let s = 0; s < count; s++) {
    const length = (offsets[s + 1] as number) - (offsets[s] as number);
    if ((begins[s + 1] as number) - (begins[s] as number) !== Math.min(length, k)) wrongSegments++;
    if (s % SLICE === SLICE - 1) yield;
  }
  if (begins[count] !== top.n) wrongSegments++;
  if (wrongSegments > 0) return { wrongSegments, wrong, counted };
  let [segment, low, high] = [0, 0, 0];
  yield* inSlices(top.n, (start, end) => {
    codes.encode(start, end);
    for (let i = start; i < end; i++) {
      while (i >= (begins[segment + 1] as number)) segment++;
      const begin = offsets[segment] as number;
      const position = (at[i] as number) + (segments?.fromSegment ? begin : 0);
      const isInside = position >= begin && position < (offsets[segment + 1] as number);
      if (!isInside || words[position] !== found[i]) wrong++;
      const [l, h] = [codes.low(i), codes.high(i)];
      if (i > (begins[segment] as number)) {
        const isEqual = l === low && h === high;
        if (h < high || (h === high && l < low) || (isEqual && (at[i] as number) <= (at[i - 1] as number))) {
          wrong++;
        }
      }
      [low, high] = [l, h];
      lastCodes.record(i, segment, l, h);
    }
  });
  if (wrong > 0) return { wrongSegments, wrong, counted };
  const ofKeys = new ColumnCodes(keys, codec, bits);
  segment = 0;
  yield* inSlices(keys.n, (start, end) => {
    ofKeys.encode(start, end);
    for (let i = start; i < end; i++) {
      while (i >= (offsets[segment + 1] as number)) segment++;
      const last = (begins[segment + 1] as number) - 1;
      if (last < (begins[segment] as number)) continue;
      const [l, h] = [ofKeys.low(i), ofKeys.high(i)];
      const [lastLow, lastHigh] = [lastCodes.low[segment] as number, lastCodes.high[segment] as number];
      const position = (at[last] as number) + (segments?.fromSegment ? (offsets[segment] as number) : 0);
      const isEqual = h === lastHigh && l === lastLow;
      if (h < lastHigh || (h === lastHigh && l < lastLow) || (isEqual && i <= position)) counted++;
    }
  });
  return { wrongSegments, wrong, counted };
}

/** Code of the last result of each segment. */
class LastCodes {
  readonly low: Uint32Array;
  readonly high: Uint32Array;
  readonly #begins: Uint32Array;

  constructor(begins: Uint32Array) {
    this.#begins = begins;
    this.low = new Uint32Array(begins.length);
    this.high = new Uint32Array(begins.length);
  }

  record(i: number, segment: number, low: number, high: number): void {
    if (i + 1 !== this.#begins[segment + 1]) return;
    this.low[segment] = low;
    this.high[segment] = high;
  }
}
