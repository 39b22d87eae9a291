import type { ScanChain } from '../algorithms/amd-geometry.js';
import type { Device } from '../device/device.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { keyCodec } from '../keys/key-codec.js';
import type { ReduceOp } from '../primitives/possible.js';
import { UsageError } from '../util/errors.js';
import { invalidArgument } from '../util/invalid-argument.js';
import { invalidName } from '../util/suggest.js';
import { explainAmd } from './amd.js';
import { explainBitonic } from './bitonic.js';
import { EXPLAINED, EXPLAINED_NAMES, EXPLAINED_SORTS, type Explained } from './explained.js';
import { agree, type Explanation, type Line, line, type Step } from './explanation.js';
import { explainHistogram } from './histogram.js';
import { guessDtype, parseKey } from './keys.js';
import { explainMerge } from './merge.js';
import { explainOddEven } from './odd-even.js';
import { afterMove, type Subject, startOf, texts, windowOf } from './record.js';
import { explainReduce } from './reduce.js';
import { explainRow } from './row.js';
import { explainScan } from './scan.js';
import { withSources } from './source.js';
import { explainSplit } from './split.js';
import type { View } from './view.js';

export interface ExplainOptions {
  readonly algorithm?: Explained;
  /** A step of a ladder or a form of a network, as listed in `EXPLAINED`; default: the first. */
  readonly step?: string;
  readonly dtype?: Dtype;
  readonly descending?: boolean;
  /**
   * Bit window of the code, [begin, end) or [0, end); default: the whole code, or its lowest four bits for a histogram.
   */
  readonly bits?: number | readonly [begin: number, end: number];
  /** Bits per digit of `split`, 1 to 4. */
  readonly radixBits?: number;
  /** Scan chain of `amd`; default: the shortest one that suffices. */
  readonly scan?: ScanChain;
  /** Operator of `reduce`; default sum. */
  readonly op?: ReduceOp;
  /** Whether sorts carry a value with each key; the values v0, v1, … are the initial positions. Default false. */
  readonly pairs?: boolean;
}

const VIEWS: Readonly<Record<Explained, View>> = {
  split: explainSplit,
  amd: explainAmd,
  bitonic: explainBitonic,
  'odd-even': explainOddEven,
  merge: explainMerge,
  row: explainRow,
  reduce: explainReduce,
  scan: explainScan,
  histogram: explainHistogram,
};

/** Maximum number of keys of a view, and the number up to which all keys are shown. */
export const MAX_KEYS = 2 ** 16;
export const MAX_SHOWN = 256;
/** Maximum number of keys of `odd-even`, which needs a launch and a step per key. */
const MAX_ODD_EVEN = 1024;
const HISTOGRAM_BITS = 4;

/**
 * Returns the bit window.
 *
 * @throws UsageError when it is out of range or does not apply to the algorithm
 */
function windowOfOptions(
  algorithm: Explained,
  bits: ExplainOptions['bits'],
  width: number,
): readonly [number, number] {
  if ((algorithm === 'reduce' || algorithm === 'scan') && bits !== undefined) {
    throw new UsageError(`cannot use --bits with ${algorithm}: it takes whole keys`);
  }
  const [begin, end] =
    bits === undefined
      ? [0, algorithm === 'histogram' ? Math.min(HISTOGRAM_BITS, width) : width]
      : typeof bits === 'number'
        ? [0, bits]
        : bits;
  if (![begin, end].every(Number.isInteger) || begin < 0 || end < begin || end > width) {
    const text = typeof bits === 'number' ? `${bits}` : `${begin}:${end}`;
    throw invalidArgument('--bits', `A:B with 0 <= A <= B <= ${width}, or B alone,`, { text });
  }
  if (algorithm === 'histogram' && (end === begin || end - begin > 8)) {
    throw invalidArgument('--bits', '1 to 8 bits of a histogram (2 to 256 bins)', {
      text: `${begin}:${end}`,
    });
  }
  return [begin, end];
}

/**
 * Rejects options that do not apply to the algorithm.
 *
 * @throws UsageError when there is such an option
 */
function assertOptions(
  algorithm: Explained,
  { step, radixBits, scan, op, pairs, descending }: ExplainOptions,
): void {
  const isSort = EXPLAINED_SORTS.includes(algorithm);
  if (step !== undefined && !(EXPLAINED[algorithm] as readonly string[]).includes(step)) {
    const steps = EXPLAINED[algorithm];
    if (steps.length > 0) throw invalidName('--step', step, steps);
    throw new UsageError(`cannot use --step with ${algorithm}: it has one form only`);
  }
  if (radixBits !== undefined && (algorithm === 'amd' ? radixBits !== 8 : algorithm !== 'split')) {
    throw new UsageError(
      `cannot use --radix-bits ${radixBits} with ${algorithm}: only split takes 1 to 4, and amd has 8`,
    );
  }
  if (scan !== undefined && algorithm !== 'amd')
    throw new UsageError(`cannot use --scan with ${algorithm}: only amd has a chain of 3 or 5 scan kernels`);
  if (op !== undefined && algorithm !== 'reduce')
    throw new UsageError(`cannot use --op with ${algorithm}: only reduce computes a sum, min or max`);
  if (pairs && !isSort) throw new UsageError(`cannot use --pairs with ${algorithm}: only sorts carry values`);
  if (descending && !isSort)
    throw new UsageError(`cannot use --descending with ${algorithm}: only sorts have an order`);
}

/**
 * Checks the number of keys.
 *
 * @throws UsageError when there are no keys, or too many
 */
function assertCount(algorithm: Explained, n: number): void {
  const max = algorithm === 'odd-even' ? MAX_ODD_EVEN : MAX_KEYS;
  if (n >= 1 && n <= max) return;
  const advice = n === 0 ? 'Pass keys such as 7 14 4 1, or --random 16' : undefined;
  throw invalidArgument(algorithm, `1 to ${max} keys`, n, { advice, details: { option: 'keys' } });
}

/**
 * Runs a sort, a reduction, a scan or a histogram on a device stage by stage, and describes each stage.
 *
 * @param words the keys as decimal text
 * @returns the explanation, in which every number was read back from the device
 * @throws MismatchError when any number that the device wrote differs from the model
 * @throws UsageError when a key or an option is invalid
 * @throws UnsupportedError when the device does not support the algorithm
 */
export async function explain(
  device: Device,
  words: readonly string[],
  options: ExplainOptions = {},
): Promise<Explanation> {
  const {
    algorithm = 'split',
    dtype = guessDtype(words),
    descending = false,
    op = 'sum',
    pairs = false,
  } = options;
  const info = dtypeInfo(dtype);
  if (!EXPLAINED_NAMES.includes(algorithm)) throw invalidName('algorithm', algorithm, EXPLAINED_NAMES);
  assertOptions(algorithm, options);
  assertCount(algorithm, words.length);
  const bits = windowOfOptions(algorithm, options.bits, info.width);
  const codec = keyCodec(dtype, { descending });
  const patterns = words.map((word) => parseKey(word, dtype));
  const subject: Subject = { codec, info, patterns, bits };
  const { step, radixBits, scan } = options;
  const viewResult = await VIEWS[algorithm](device, subject, { step, radixBits, scan, op });
  const keys = texts(startOf(subject).codes, subject);
  const isSort = EXPLAINED_SORTS.includes(algorithm);
  const result = viewResult.result ?? viewResult.steps.at(-1)?.after ?? keys;
  if (isSort) assertSorted(subject, result, step === 'alternating');
  const { steps, sources } = withSources(
    pairs ? withValues(viewResult.steps, words.length) : viewResult.steps,
  );
  const [first = null] = EXPLAINED[algorithm] as readonly string[];
  const visibleKeys = <T>(values: readonly T[]): readonly T[] => values.slice(0, MAX_SHOWN);
  return {
    schema: 'clsort.explain/2',
    ...{ algorithm, step: step ?? first, device: device.info.name, dtype, descending, bits, n: words.length },
    ...{
      keys: visibleKeys(keys),
      ...(isSort && { sorted: visibleKeys(result) }),
      result: visibleKeys(result),
    },
    steps: words.length > MAX_SHOWN ? steps.map(summarizeStep) : steps,
    sources,
  };
}

/**
 * Checks the result of a sort.
 *
 * @throws MismatchError when the keys are not in order
 */
function assertSorted(subject: Subject, result: readonly string[], unstable: boolean): void {
  const { name } = subject.info;
  const byWindow = (a: bigint, b: bigint): number => {
    const [x, y] = [windowOf(a, subject.bits), windowOf(b, subject.bits)];
    return x < y ? -1 : x > y ? 1 : 0;
  };
  const expected = startOf(subject).codes.toSorted(byWindow);
  // An unstable sort may reorder keys that are equal in the window, so only the windows are compared.
  const read = result.map((text) => parseKey(text, name));
  if (!unstable) {
    agree(
      'the sorted keys',
      read,
      texts(expected, subject).map((text) => parseKey(text, name)),
    );
    return;
  }
  const { codes } = startOf({ ...subject, patterns: read });
  agree(
    'the windows of the sorted keys',
    codes.map((code) => windowOf(code, subject.bits)),
    expected.map((code) => windowOf(code, subject.bits)),
  );
}

/** Adds values to the steps of a sort, moved as the device moved the keys. */
function withValues(steps: readonly Step[], n: number): Step[] {
  let values = Array.from({ length: n }, (_, i) => `v${i}`);
  return steps.map((step) => {
    const before = values;
    if (step.newIndex.length === n) values = afterMove(before, step.newIndex);
    const isMove = values !== before;
    return {
      ...step,
      lines: [...step.lines, line('values', before), ...(isMove ? [line('values after', values)] : [])],
    };
  });
}

/** Number of values shown at each end of a long line. */
const ENDS = 12;

function shortenSources(one: Line): Line {
  const { values } = one;
  if (values.length <= 4 * ENDS) return one;
  return {
    name: one.name,
    values: [...values.slice(0, ENDS), '...', ...values.slice(-ENDS)],
    of: values.length,
  };
}

/** Reduces a step with many keys to the ends of its arrays, without the data for drawings. */
function summarizeStep({ flow: _flow, wires: _wires, ...step }: Step): Step {
  return { ...step, lines: step.lines.map(shortenSources), before: [], after: [], newIndex: [] };
}
