/** What the passes of all sorts have in common on the host: their buffers, scratch, flags and values. */
import type { Buffer } from '../device/buffer.js';
import type { Queue } from '../device/queue.js';
import { UsageError } from '../util/errors.js';
import type { AlgorithmShape, SortWork } from './algorithm.js';

/** Kernel argument `flags`, see cl/pass.clh. */
export const FLAG_ENCODE = 1;
const FLAG_DECODE = 2;
const FLAG_POSITIONS = 4;
const FLAG_FIRST = 8;

/** Where a pass stands among those of a sort. */
export interface Turn {
  readonly first: boolean;
  readonly last: boolean;
}

/** What a pass does besides moving codes. */
export const passFlags = (
  { codec, indices }: Pick<SortWork, 'codec' | 'indices'>,
  { first, last }: Turn,
): number =>
  (first && !codec.identity ? FLAG_ENCODE : 0) |
  (last && !codec.identity ? FLAG_DECODE : 0) |
  (first && indices ? FLAG_POSITIONS : 0) |
  (first ? FLAG_FIRST : 0);

/** One pass over the elements: what it reads and writes, and what it does besides. */
export interface Pass {
  readonly from: Buffer;
  readonly to: Buffer;
  readonly fromValues?: Buffer;
  readonly toValues?: Buffer;
  /** Of the kernel argument `flags`. */
  readonly flags: number;
}

/** Values in and out, where there are any, as the arguments of a kernel. */
export const passValues = ({ fromValues, toValues }: Omit<Pass, 'flags'>): Buffer[] =>
  fromValues && toValues ? [fromValues, toValues] : [];

/** The arguments of a kernel that moves elements: keys in and out, and the values. */
export const passBuffers = (pass: Omit<Pass, 'flags'>): Buffer[] => [pass.from, pass.to, ...passValues(pass)];

/** What such a kernel wrote, for `onStage`. */
export const passOutputs = ({ to, toValues }: Pick<Pass, 'to' | 'toValues'>): Record<string, Buffer> => ({
  keys: to,
  ...(toValues && { values: toValues }),
});

/** True, or why values are not carried along: kernels know those of 1, 2, 4, 8 and, with `most` 16, 16 bytes. */
export const carriesValues = ({ valueBytes }: AlgorithmShape, maxBytes: 8 | 16 = 16): true | string =>
  ([0, 1, 2, 4, 8, 16].includes(valueBytes) && valueBytes <= maxBytes) ||
  `values of ${valueBytes} bytes need an argsort and a gather`;

/** A scratch buffer. @throws UsageError when the caller left it out */
export function scratchOf({ scratch }: Pick<SortWork, 'scratch'>, name: string): Buffer {
  const buffer = scratch[name];
  if (buffer) return buffer;
  throw new UsageError(`scratch buffer '${name}' is missing: pass one for each entry of scratch()`);
}

/**
 * The buffers that each of `passes` out-of-place passes reads and writes, so that the last one writes
 * `output` and `input` survives unless it is the output.
 *
 * In place with an odd number of passes the first entry is a plain copy: `copyFirst` says so and the
 * passes start from `alternate`.
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

/** Scratch that `alternatingPasses` needs. */
export function alternateBytes(
  { keyBits, valueBytes }: AlgorithmShape,
  n: number,
  passes: number,
  inPlace: boolean,
): Record<string, number> {
  if (passes === 1 && !inPlace) return {};
  return {
    alternateKeys: (n * keyBits) / 8,
    ...(valueBytes > 0 && { alternateValues: n * valueBytes }),
  };
}

/** Values in and out. @throws UsageError when they are to be sorted and there is no place for them */
export function valuesOf(
  { valueBytes }: AlgorithmShape,
  { inputValues, outputValues }: Pick<SortWork, 'inputValues' | 'outputValues'>,
): { input: Buffer; output: Buffer } | undefined {
  if (valueBytes === 0) return undefined;
  if (!outputValues) throw new UsageError('values are to be sorted: outputValues is missing');
  return { input: inputValues ?? outputValues, output: outputValues };
}

/**
 * Passes that read one array and write another, spread over input, output and the alternate buffers; enqueues the copies
 * that go first where the sort is in place.
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
 * A pass whose elements stay in the output: the first one brings them there from the input.
 *
 * @throws UsageError when a buffer is missing
 */
export function passInPlace(shape: AlgorithmShape, work: Omit<SortWork, 'scratch'>, turn: Turn): Pass {
  const { input, output } = work;
  const values = valuesOf(shape, work);
  return {
    from: turn.first ? input : output,
    to: output,
    ...(values && { fromValues: turn.first ? values.input : values.output, toValues: values.output }),
    flags: passFlags(work, turn),
  };
}

/** The only pass of a sort. @throws UsageError when a buffer is missing */
export const onlyPass = (shape: AlgorithmShape, work: Omit<SortWork, 'scratch'>): Pass =>
  passInPlace(shape, work, { first: true, last: true });
