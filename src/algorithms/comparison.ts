/** What the programs on cl/comparison.clh have in common on the host. */
import type { Buffer } from '../device/buffer.js';
import type { Device } from '../device/device.js';
import type { Program } from '../device/program.js';
import type { KernelArgument, Queue } from '../device/queue.js';
import { UsageError } from '../util/errors.js';
import { type AlgorithmShape, pingPong, type SortWork } from './algorithm.js';

/** Kernel argument `flags`, see cl/comparison.clh. */
export const FLAG_ENCODE = 1;
export const FLAG_DECODE = 2;
export const FLAG_POSITIONS = 4;

/** Flags of pass `pass` of `passes`. */
export const passFlags = (pass: number, passes: number, { indices }: Pick<SortWork, 'indices'>): number =>
  (pass === 0 ? FLAG_ENCODE | (indices ? FLAG_POSITIONS : 0) : 0) | (pass === passes - 1 ? FLAG_DECODE : 0);

/** The bits of a code that are compared, in place. */
export const windowMask = ([begin, end]: readonly [number, number]): bigint =>
  ((1n << BigInt(end - begin)) - 1n) << BigInt(begin);

/** Widths of values that cl/common.clh knows. */
export const valuesAvailable = (_device: Device, { valueBytes }: AlgorithmShape): true | string =>
  [0, 1, 2, 4, 8, 16].includes(valueBytes) || `values of ${valueBytes} bytes need an argsort and a gather`;

/** A compiled program and the work-items of its groups. */
export interface Fitted {
  readonly program: Program;
  readonly groupSize: number;
}

/**
 * Compiles a program for the largest power-of-two group, `most` to begin with, that all its kernels may
 * have: a compiler may allow some kernel less than the device allows in general.
 *
 * @param defines macros for a group size, GROUP_SIZE among them
 */
export async function buildFitting(
  device: Device,
  file: string,
  kernels: readonly string[],
  most: number,
  defines: (groupSize: number) => Readonly<Record<string, number>>,
): Promise<Fitted> {
  let groupSize = 2 ** Math.floor(Math.log2(Math.min(most, device.capabilities.maxWorkGroup)));
  for (;;) {
    const program = await device.program(file, defines(groupSize));
    const limit = Math.min(...kernels.map((name) => program.kernel(name).workGroupLimit));
    if (limit >= groupSize || groupSize === 1) return { program, groupSize };
    groupSize = 2 ** Math.floor(Math.log2(limit));
  }
}

/** Most elements, a power of two, that fit the local memory of a group; at most `most`. */
export function localElements({ capabilities }: Device, bytesEach: number, most: number): number {
  return Math.min(most, 2 ** Math.floor(Math.log2(capabilities.localBytes / bytesEach)));
}

/** n rounded up to whole groups. */
export const wholeGroups = (n: number, groupSize: number): number => Math.ceil(n / groupSize) * groupSize;

/** @throws UsageError when the caller left a scratch buffer out */
export function scratchOf({ scratch }: Pick<SortWork, 'scratch'>, name: string): Buffer {
  const buffer = scratch[name];
  if (buffer) return buffer;
  throw new UsageError(`scratch buffer '${name}' is missing: pass one for each entry of scratch()`);
}

/** Keys, and values if there are any, that one pass reads and writes. */
export interface PassBuffers {
  readonly from: Buffer;
  readonly to: Buffer;
  readonly fromValues?: Buffer;
  readonly toValues?: Buffer;
}

/** Scratch that `passesOf` needs. */
export function alternates(
  n: number,
  passes: number,
  inPlace: boolean,
  { keyBits, valueBytes }: AlgorithmShape,
): Record<string, number> {
  if (passes === 1 && !inPlace) return {};
  return {
    alternateKeys: (n * keyBits) / 8,
    ...(valueBytes > 0 && { alternateValues: n * valueBytes }),
  };
}

/** Spreads out-of-place passes over input, output and the alternate buffers; enqueues the copy that goes first. */
export function passesOf(
  queue: Queue,
  work: SortWork,
  passes: number,
  { keyBits, valueBytes }: AlgorithmShape,
): PassBuffers[] {
  const { n, input, output, inputValues, outputValues, scratch } = work;
  const keys = pingPong(passes, { input, output, alternate: scratch.alternateKeys ?? output });
  if (keys.copyFirst) queue.copy(input, scratchOf(work, 'alternateKeys'), { bytes: (n * keyBits) / 8 });
  if (valueBytes === 0 || !outputValues) return keys.steps;
  const values = pingPong(passes, {
    input: inputValues ?? outputValues,
    output: outputValues,
    alternate: scratch.alternateValues ?? outputValues,
  });
  if (values.copyFirst && inputValues) {
    queue.copy(inputValues, scratchOf(work, 'alternateValues'), { bytes: n * valueBytes });
  }
  return keys.steps.map((step, pass) => {
    const moved = values.steps[pass];
    return { ...step, ...(moved && { fromValues: moved.from, toValues: moved.to }) };
  });
}

/** The arguments that begin a kernel which moves elements. */
export const elementArguments = ({ from, to, fromValues, toValues }: PassBuffers): KernelArgument[] =>
  fromValues && toValues ? [from, to, fromValues, toValues] : [from, to];

/** What such a kernel wrote. */
export const written = ({ to, toValues }: PassBuffers): Record<string, Buffer> => ({
  keys: to,
  ...(toValues && { values: toValues }),
});
