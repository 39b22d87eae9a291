/** Compaction, search, merge and reduction by runs in host memory, with the semantics of the kernels. */
import type { HostColumn, KeyWords } from '../../keys/array.js';
import { codeWordsOf, encodeRecords } from '../../keys/codec-records.js';
import type { DtypeInfo } from '../../keys/dtype.js';
import { type KeyCodec, keyCodec } from '../../keys/key-codec.js';
import type { CodeRange } from '../../primitives/compact.js';
import type { ReduceOp } from '../../primitives/possible.js';
import { hostReduce } from './host-primitives.js';
import { inSlices, type Steps } from './steps.js';

/** Keys that are encoded at a time: their codes stay in the cache. */
const BLOCK = 2 ** 14;

const wordOf = (code: bigint, word: number): number => Number((code >> BigInt(32 * word)) & 0xffff_ffffn);

/**
 * Copies the selected keys, followed with `rest` by the others.
 *
 * @returns the number of selected keys
 */
export function* hostCompact(
  keys: HostColumn,
  selection: { readonly mask: Uint8Array } | CodeRange,
  to: KeyWords,
  rest: boolean,
): Steps<number> {
  const { n, view } = keys;
  const others = rest ? view.slice() : view;
  const flags = new Uint8Array(Math.min(n, BLOCK));
  const select = 'mask' in selection ? byMask(selection.mask) : byRange(keys, selection);
  let [chosen, left] = [0, 0];
  const place = (start: number, end: number): void => {
    select(start, end, flags);
    for (let i = start; i < end; i++) {
      if (flags[i - start]) to[chosen++] = view[i] as never;
      else if (rest) others[left++] = view[i] as never;
    }
  };
  yield* inSlices(n, place, BLOCK);
  if (rest) to.set(others.subarray(0, left) as never, chosen);
  return chosen;
}

type RangeSelector = (start: number, end: number, flags: Uint8Array) => void;

const byMask =
  (mask: Uint8Array): RangeSelector =>
  (start, end, flags) =>
    flags.set(mask.subarray(start, end));

function byRange({ dtype, info, n, view }: HostColumn, { low, high, not }: CodeRange): RangeSelector {
  const codec = keyCodec(dtype);
  const stride = codeWordsOf(info);
  const codes = new Uint32Array(Math.min(BLOCK, n) * stride);
  const [lows, highs] = [low, high].map((code) => [wordOf(code, 0), wordOf(code, 1)] as const) as [
    Pair,
    Pair,
  ];
  return (start, end, flags) => {
    encodeRecords(view.subarray(start, end), codes, stride, codec);
    for (let i = 0; i < end - start; i++) {
      const word = codes[i * stride] as number;
      const above = stride === 2 ? (codes[i * 2 + 1] as number) : 0;
      const isInside = !isLess(word, above, lows) && !isGreater(word, above, highs);
      flags[i] = Number(isInside !== not);
    }
  };
}

type Pair = readonly [low: number, high: number];
const isLess = (low: number, high: number, than: Pair): boolean =>
  high === than[1] ? low < than[0] : high < than[1];
const isGreater = (low: number, high: number, than: Pair): boolean =>
  high === than[1] ? low > than[0] : high > than[1];

/** Returns the codes of keys, low words first. */
function codesOf(view: KeyWords, info: DtypeInfo, codec: KeyCodec): Uint32Array {
  const stride = codeWordsOf(info);
  const codes = new Uint32Array(view.length * stride);
  encodeRecords(view, codes, stride, codec);
  return codes;
}

/** Computes how many of `sorted` come before each key; with `right`, equal keys count as well. */
export function* hostSearchSorted(
  sorted: HostColumn,
  keys: HostColumn,
  codec: KeyCodec,
  right: boolean,
  places: Uint32Array,
): Steps {
  const stride = codeWordsOf(keys.info);
  const all = codesOf(sorted.view, sorted.info, codec);
  const codes = new Uint32Array(Math.min(BLOCK, keys.n) * stride);
  const search = (start: number, end: number): void => {
    encodeRecords(keys.view.subarray(start, end), codes, stride, codec);
    for (let i = 0; i < end - start; i++) {
      const key: Pair = [codes[i * stride] as number, stride === 2 ? (codes[i * 2 + 1] as number) : 0];
      let [low, high] = [0, sorted.n];
      while (low < high) {
        const middle = (low + high) >>> 1;
        const word = all[middle * stride] as number;
        const above = stride === 2 ? (all[middle * 2 + 1] as number) : 0;
        if (right ? !isGreater(word, above, key) : isLess(word, above, key)) low = middle + 1;
        else high = middle;
      }
      places[start + i] = low;
    }
  };
  yield* inSlices(keys.n, search, BLOCK);
}

/** Merges two sorted columns. Of equal keys those of `a` come first. */
export function* hostMerge(a: HostColumn, b: HostColumn, codec: KeyCodec, to: KeyWords): Steps {
  const stride = codeWordsOf(a.info);
  const [left, right] = [codesOf(a.view, a.info, codec), codesOf(b.view, b.info, codec)];
  yield;
  let [i, j] = [0, 0];
  const merge = (start: number, end: number): void => {
    for (let at = start; at < end; at++) {
      const takesA =
        j >= b.n ||
        (i < a.n &&
          !isGreater(left[i * stride] as number, stride === 2 ? (left[i * 2 + 1] as number) : 0, [
            right[j * stride] as number,
            stride === 2 ? (right[j * 2 + 1] as number) : 0,
          ]));
      to[at] = (takesA ? a.view[i++] : b.view[j++]) as never;
    }
  };
  yield* inSlices(a.n + b.n, merge, BLOCK);
}

/**
 * Reduces each run of values; sums of integers have 64 bits.
 *
 * @param places where the runs begin, the first one at 0
 */
export function* hostReduceRuns(
  values: HostColumn,
  places: Uint32Array,
  op: ReduceOp,
  results: KeyWords,
): Steps {
  const { n, info, view } = values;
  let since = 0;
  for (const [run, begin] of places.entries()) {
    const end = places[run + 1] ?? n;
    const part = { ...values, n: end - begin, view: view.subarray(begin, end) };
    if (op === 'sum' || info.kind !== 'float') {
      const reduced = yield* steady(hostReduce(part, op));
      if (op === 'sum' && info.kind === 'float') {
        const floats = info.width === 32 ? Float32Array : Float64Array;
        new floats(results.buffer as ArrayBuffer, results.byteOffset, places.length)[run] = Number(reduced);
      } else {
        const wide = results instanceof BigUint64Array;
        results[run] = (wide ? BigInt.asUintN(64, BigInt(reduced)) : Number(reduced)) as never;
      }
    } else {
      results[run] = extremeBits(part, op) as never;
    }
    since += 1 + end - begin;
    if (since < BLOCK) continue;
    since = 0;
    yield;
  }
}

/** Skips the first yield of a generator, so that short runs do not pause. */
function* steady<T>(steps: Steps<T>): Steps<T> {
  for (let i = 0; ; i++) {
    const { done, value } = steps.next();
    if (done) return value;
    if (i > 0) yield;
  }
}

/** Returns the bits of the smallest or largest key by code; NaN wins. */
function extremeBits({ dtype, info, view }: HostColumn, op: 'min' | 'max' | 'sum'): number | bigint {
  const codec = keyCodec(dtype, { nan: op === 'min' ? 'first' : 'last' });
  const stride = codeWordsOf(info);
  const codes = codesOf(view, info, codec);
  let best = 0;
  for (let i = 1; i < view.length; i++) {
    const than: Pair = [codes[best * stride] as number, stride === 2 ? (codes[best * 2 + 1] as number) : 0];
    const [low, high] = [codes[i * stride] as number, stride === 2 ? (codes[i * 2 + 1] as number) : 0];
    if (op === 'min' ? isLess(low, high, than) : isGreater(low, high, than)) best = i;
  }
  return view[best] as number | bigint;
}
