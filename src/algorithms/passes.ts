/** Host code that the passes of all sorts share: buffers, scratch, flags and values. */
import type { Buffer } from '../device/memory/buffer.js';
import type { Queue } from '../device/queue/queue.js';
import { invalidArgument } from '../util/invalid-argument.js';
import type { AlgorithmShape, SortWork } from './algorithm.js';
import { FINDS_ORDER } from './policy.js';

/** Kernel argument `flags`, see cl/pass.clh. */
export const FLAG_ENCODE = 1;
const FLAG_DECODE = 2;
const FLAG_POSITIONS = 4;
const FLAG_FIRST = 8;
export const FLAG_ORDER = 16;
const FLAG_MOVE = 32;
const FLAG_NUMBER = 64;

/** Position of a pass in its sort. */
export interface PassPosition {
  readonly first: boolean;
  readonly last: boolean;
}

/** Returns the flags for the additional work of a pass: encoding, decoding, generating positions. */
export const passFlags = (
  { codec, indices }: Pick<SortWork, 'codec' | 'indices'>,
  { first, last }: PassPosition,
): number =>
  (first && !codec.identity ? FLAG_ENCODE : 0) |
  (last && !codec.identity ? FLAG_DECODE : 0) |
  (first && indices ? FLAG_POSITIONS : 0) |
  (first ? FLAG_FIRST : 0);

/**
 * Returns the flag of a sort that looks for arrays in order, 0 if it does not. Stages that `onStage` receives show every
 * pass.
 */
export const orderFlag = ({ onStage }: Pick<SortWork, 'onStage'>): number =>
  FINDS_ORDER && !onStage ? FLAG_ORDER : 0;

/** Returns the flags of the pass that moves an array in order to the output. */
export const moveFlags = ({ indices }: Pick<SortWork, 'indices'>): number =>
  FLAG_MOVE | (indices ? FLAG_NUMBER : 0);

/** One pass over the elements: its buffers and flags. */
export interface Pass {
  readonly from: Buffer;
  readonly to: Buffer;
  readonly fromValues?: Buffer;
  readonly toValues?: Buffer;
  /** Kernel argument `flags`. */
  readonly flags: number;
}

/** Returns the value buffers, input and output, as kernel arguments; empty without values. */
export const passValues = ({ fromValues, toValues }: Omit<Pass, 'flags'>): Buffer[] =>
  fromValues && toValues ? [fromValues, toValues] : [];

/** Returns the buffers of a kernel that moves elements: keys in and out, then values in and out. */
export const passBuffers = (pass: Omit<Pass, 'flags'>): Buffer[] => [pass.from, pass.to, ...passValues(pass)];

/** Returns the buffers that such a kernel wrote, for `onStage`. */
export const passOutputs = ({ to, toValues }: Pick<Pass, 'to' | 'toValues'>): Record<string, Buffer> => ({
  keys: to,
  ...(toValues && { values: toValues }),
});

/**
 * Returns true, or the reason why values cannot travel along: kernels support 1, 2, 4, 8 and, with `maxBytes` 16,
 * 16 bytes.
 */
export const carriesValues = ({ valueBytes }: AlgorithmShape, maxBytes: 8 | 16 = 16): true | string =>
  ([0, 1, 2, 4, 8, 16].includes(valueBytes) && valueBytes <= maxBytes) ||
  `values of ${valueBytes} bytes need an argsort and a gather`;

/** Returns a scratch buffer. @throws UsageError when the caller left it out */
export function scratchOf({ scratch }: Pick<SortWork, 'scratch'>, name: string): Buffer {
  const buffer = scratch[name];
  if (buffer) return buffer;
  throw invalidArgument(`scratch.${name}`, 'a buffer for each entry of scratch()', buffer);
}

/**
 * Returns the buffers that each of `passes` out-of-place passes reads and writes. The last pass writes `output`;
 * `input` is preserved unless it is the output.
 *
 * In place with an odd number of passes, the input must be copied to `alternate` first (`copyFirst`), and the
 * passes start from there.
 */
export function pingPong<B>(
  passes: number,
  { input, output, alternate }: { input: B; output: B; alternate: B },
): { copyFirst: boolean; steps: { from: B; to: B }[] } {
  const copyFirst = input === output && passes % 2 === 1;
  let from = copyFirst ? alternate : input;
  const steps = Array.from({ length: passes }, (_, pass) => {
    const to = (passes - pass) % 2 === 1 ? output : alternate;
    const step = { from, to };
    from = to;
    return step;
  });
  return { copyFirst, steps };
}

/** Returns the scratch sizes of `alternatingPasses`. */
export function alternateBytes(
  { keyBits, valueBytes }: AlgorithmShape,
  n: number,
  passes: number,
  inPlace: boolean,
): Record<string, number> {
  if (passes === 1 && !inPlace) return {};
  return { alternateKeys: (n * keyBits) / 8, ...(valueBytes > 0 && { alternateValues: n * valueBytes }) };
}

/** Returns the value buffers, or undefined without values. @throws UsageError when an output buffer is missing */
export function valuesOf(
  { valueBytes }: AlgorithmShape,
  { inputValues, outputValues }: Pick<SortWork, 'inputValues' | 'outputValues'>,
): { input: Buffer; output: Buffer } | undefined {
  if (valueBytes === 0) return undefined;
  if (!outputValues) throw invalidArgument('outputValues', 'a buffer', outputValues);
  return { input: inputValues ?? outputValues, output: outputValues };
}

/**
 * Returns passes that read one array and write another, alternating between input, output and the alternate
 * buffers. Enqueues the initial copies if the sort is in place.
 *
 * @throws UsageError when a buffer is missing
 */
export function alternatingPasses(
  queue: Queue,
  { keyBits, valueBytes }: AlgorithmShape,
  count: number,
  work: SortWork,
): Pass[] {
  const { n, input, output, indices, inputValues, scratch } = work;
  const keys = pingPong(count, { input, output, alternate: scratch.alternateKeys ?? output });
  if (keys.copyFirst) queue.copy(input, scratchOf(work, 'alternateKeys'), { bytes: (n * keyBits) / 8 });
  const own = valuesOf({ keyBits, valueBytes }, work);
  const values = own && pingPong(count, { ...own, alternate: scratch.alternateValues ?? own.output });
  if (values?.copyFirst && inputValues && !indices) {
    queue.copy(inputValues, scratchOf(work, 'alternateValues'), { bytes: n * valueBytes });
  }
  return keys.steps.map(({ from, to }, pass) => {
    const step = values?.steps[pass];
    return {
      from,
      to,
      ...(step && { fromValues: step.from, toValues: step.to }),
      flags: passFlags(work, { first: pass === 0, last: pass === count - 1 }),
    };
  });
}

/**
 * Returns a pass whose elements stay in the output; the first pass moves them there from the input.
 *
 * @throws UsageError when a buffer is missing
 */
export function passInPlace(
  shape: AlgorithmShape,
  work: Omit<SortWork, 'scratch'>,
  position: PassPosition,
): Pass {
  const { input, output } = work;
  const values = valuesOf(shape, work);
  return {
    from: position.first ? input : output,
    to: output,
    ...(values && { fromValues: position.first ? values.input : values.output, toValues: values.output }),
    flags: passFlags(work, position),
  };
}

/** Returns the only pass of a single-pass sort. @throws UsageError when a buffer is missing */
export const onlyPass = (shape: AlgorithmShape, work: Omit<SortWork, 'scratch'>): Pass =>
  passInPlace(shape, work, { first: true, last: true });
