/** Sorts whose passes are planned on the device, which skips constant digits: cl/pass_plan.clh. */
import type { Buffer } from '../device/memory/buffer.js';
import type { AlgorithmShape, SortWork } from './algorithm.js';
import { orderFlag, passFlags, scratchOf, valuesOf } from './passes.js';

const SORT_KEYS_IN_PLACE = 256;
const SORT_VALUES_IN_PLACE = 512;
const SORT_EVERY_DIGIT = 1024;

const PLANNED_PASS_BYTES = 8 * 4;

/** Returns the bytes of scratch for the planned passes of that many digits, and one terminating entry. */
export const plannedPassesBytes = (digits: number): number => (digits + 1) * PLANNED_PASS_BYTES;

const keysInPlace = ({ input, output }: SortWork): boolean => input === output;

/** Generated positions ignore the previous content of their buffer. */
const valuesInPlace = ({ indices, inputValues, outputValues }: SortWork): boolean =>
  !indices && (inputValues ?? outputValues) === outputValues;

/** Returns the kernel argument `sort`. With `onStage`, no digit is skipped. */
export const sortFlags = (work: SortWork): number =>
  passFlags(work, { first: true, last: true }) |
  orderFlag(work) |
  (keysInPlace(work) ? SORT_KEYS_IN_PLACE : 0) |
  (valuesInPlace(work) ? SORT_VALUES_IN_PLACE : 0) |
  (work.onStage ? SORT_EVERY_DIGIT : 0);

/** Returns input, output and alternate of the keys, and of the values if there are any, as kernel arguments. */
export function plannedPassArrays(shape: AlgorithmShape, digits: number, work: SortWork): Buffer[] {
  const { input, output } = work;
  const values = valuesOf(shape, work);
  const needs = (inPlace: boolean) => inPlace || digits > 1;
  const keys = [input, output, needs(keysInPlace(work)) ? scratchOf(work, 'alternateKeys') : output];
  if (!values) return keys;
  const alternate = needs(valuesInPlace(work)) ? scratchOf(work, 'alternateValues') : values.output;
  return [...keys, values.input, values.output, alternate];
}

/** Returns the buffers that a pass wrote if no digit was skipped, for `onStage`. */
export function plannedPassOutputs(work: SortWork, pass: number, digits: number): Record<string, Buffer> {
  const isAlternate = (inPlace: boolean) => (inPlace ? pass % 2 === 0 : (digits - pass) % 2 === 0);
  const { output, outputValues, scratch } = work;
  const keys = isAlternate(keysInPlace(work)) ? scratch.alternateKeys : output;
  const values = isAlternate(valuesInPlace(work)) ? scratch.alternateValues : outputValues;
  return { ...(keys && { keys }), ...(values && { values }) };
}
