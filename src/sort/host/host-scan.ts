/**
 * Scans in host memory by sum, product, minimum or maximum, with the semantics of the kernels. Integers wrap in their
 * own width, NaN wins a minimum and a maximum, and −0 is below +0.
 */
import type { HostColumn, KeyWords } from '../../keys/array.js';
import { codeWordsOf, decodeRecords, encodeRecords } from '../../keys/codec-records.js';
import { keyCodec } from '../../keys/key-codec.js';
import { assertScannable, type ScanOp } from '../../primitives/possible.js';
import { hostScan } from './host-primitives.js';
import { inSlices, type Steps } from './steps.js';

/** Keys that are encoded at a time: their codes stay in the cache. */
const BLOCK = 2 ** 14;

/**
 * Computes a scan in the keys' dtype. `to` may be the memory of the keys.
 *
 * @throws UnsupportedError for sums and products of f16 and bf16
 */
export function* hostScanBy(from: HostColumn, to: KeyWords, op: ScanOp, inclusive: boolean): Steps {
  const { dtype, info, n, view } = from;
  assertScannable(dtype, op);
  if (op === 'min' || op === 'max') return yield* scanExtremes(from, to, op, inclusive);
  if (op === 'sum' && info.width >= 32) return yield* hostScan(from, to, inclusive);
  if (info.kind === 'float') return yield* scanFactors(from, to, inclusive);
  if (info.width === 64)
    return yield* scanWideFactors(view as BigUint64Array, to as BigUint64Array, inclusive);
  // The store into an element truncates the value.
  const [keys, out] = [view as Uint32Array, to as Uint32Array];
  let value = op === 'sum' ? 0 : 1;
  yield* inSlices(n, (start, end) => {
    for (let i = start; i < end; i++) {
      const key = keys[i] as number;
      const next = op === 'sum' ? (value + key) | 0 : Math.imul(value, key);
      out[i] = inclusive ? next : value;
      value = next;
    }
  });
}

function* scanFactors({ dtype, n, view }: HostColumn, to: KeyWords, inclusive: boolean): Steps {
  const Floats = dtype === 'f32' ? Float32Array : Float64Array;
  const floats = ({ buffer, byteOffset }: KeyWords) => new Floats(buffer as ArrayBuffer, byteOffset, n);
  const [keys, out] = [floats(view), floats(to)];
  let product = 1;
  yield* inSlices(n, (start, end) => {
    for (let i = start; i < end; i++) {
      const exact = product * (keys[i] as number);
      const next = dtype === 'f32' ? Math.fround(exact) : exact;
      out[i] = inclusive ? next : product;
      product = next;
    }
  });
}

function* scanWideFactors(keys: BigUint64Array, out: BigUint64Array, inclusive: boolean): Steps {
  let product = 1n;
  yield* inSlices(keys.length, (start, end) => {
    for (let i = start; i < end; i++) {
      const next = BigInt.asUintN(64, product * (keys[i] as bigint));
      out[i] = inclusive ? next : product;
      product = next;
    }
  });
}

/** Compares codes, which preserve the bits of the keys. */
function* scanExtremes(
  { dtype, info, n, view }: HostColumn,
  to: KeyWords,
  op: 'min' | 'max',
  inclusive: boolean,
): Steps {
  const codec = keyCodec(dtype, { nan: op === 'min' ? 'first' : 'last' });
  const stride = codeWordsOf(info);
  const codes = new Uint32Array(Math.min(BLOCK, n) * stride);
  const initial = op === 'min' ? 2 ** Math.min(32, info.width) - 1 : 0;
  let [low, high] = [initial, stride === 2 ? initial : 0];
  const scan = (start: number, end: number): void => {
    encodeRecords(view.subarray(start, end), codes, stride, codec);
    for (let at = 0; at < (end - start) * stride; at += stride) {
      const nextLow = codes[at] as number;
      const nextHigh = stride === 2 ? (codes[at + 1] as number) : 0;
      const isBelow = nextHigh === high ? nextLow < low : nextHigh < high;
      const isAbove = nextHigh === high ? nextLow > low : nextHigh > high;
      const [lowBefore, highBefore] = [low, high];
      if (op === 'min' ? isBelow : isAbove) [low, high] = [nextLow, nextHigh];
      codes[at] = inclusive ? low : lowBefore;
      if (stride === 2) codes[at + 1] = inclusive ? high : highBefore;
    }
    decodeRecords(codes.subarray(0, (end - start) * stride), stride, to.subarray(start, end), codec);
  };
  yield* inSlices(n, scan, BLOCK);
}
