/** Tunable parameters of an algorithm, declared where the algorithm is defined. */
import type { UsageError } from '../util/errors.js';
import { invalidArgument } from '../util/invalid-argument.js';
import { didYouMean } from '../util/suggest.js';

/** A parameter's value. */
export type Value = number | string | boolean;

/** Parameter values by name, as in `AlgorithmShape.tuning`. */
export type Tuning = Readonly<Record<string, Value>>;

/** Properties of a parameter besides its kind. */
export interface ParameterUse {
  /** Values that a search tries, in order; a parameter without them is not searched. */
  readonly axis?: readonly Value[];
  /** Set if the parameter only affects sorts of keys alone, or only sorts with values. */
  readonly onlyWith?: 'keys' | 'values';
  /** The caller of a sort may set it with the option of the same name. */
  readonly option?: boolean;
}

/** A whole number from `min` to `max`, or one of a list of values. */
export type Parameter = ParameterUse &
  (
    | { readonly kind: 'whole'; readonly min: number; readonly max: number }
    | { readonly kind: 'choice'; readonly values: readonly Value[] }
  );

/** An algorithm's parameters by name; a search varies them in this order. */
export type Parameters = Readonly<Record<string, Parameter>>;

export const whole = (min: number, max: number, use: ParameterUse = {}): Parameter => ({
  kind: 'whole',
  min,
  max,
  ...use,
});

export const choice = (values: readonly Value[], use: ParameterUse = {}): Parameter => ({
  kind: 'choice',
  values,
  ...use,
});

/** Returns a boolean parameter. */
export const onOff = (use: ParameterUse = {}): Parameter => choice([false, true], use);

/** Describes the accepted values. */
const expected = (parameter: Parameter): string =>
  parameter.kind === 'whole'
    ? `a whole number from ${parameter.min} to ${parameter.max}`
    : `one of ${parameter.values.join(', ')}`;

const accepts = (parameter: Parameter, value: unknown): boolean =>
  parameter.kind === 'whole'
    ? Number.isInteger(value) && Number(value) >= parameter.min && Number(value) <= parameter.max
    : parameter.values.some((one) => one === value);

/** Returns the error of a parameter that the algorithm does not have or of an invalid value; undefined if valid. */
export function parameterError(
  { name: algorithm, parameters }: { readonly name: string; readonly parameters: Parameters },
  name: string,
  value: unknown,
): UsageError | undefined {
  const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  const details = { option: name, parameter: name, value };
  if (!parameter) {
    const known = Object.keys(parameters);
    const expected = known.length > 0 ? `one of ${known.join(', ')}` : 'no parameter';
    const advice = didYouMean(name, known);
    return invalidArgument(`tuning of algorithm '${algorithm}'`, expected, name, { advice, details });
  }
  if (accepts(parameter, value)) return undefined;
  return invalidArgument(`${name} of algorithm '${algorithm}'`, expected(parameter), value, { details });
}

/**
 * Checks the tuning that a caller chose for an algorithm.
 *
 * @throws UsageError for an unknown parameter or an invalid value
 */
export function checkTuning(
  algorithm: { readonly name: string; readonly parameters: Parameters },
  tuning: Readonly<Record<string, unknown>>,
): void {
  for (const [name, value] of Object.entries(tuning)) {
    const error = parameterError(algorithm, name, value);
    if (error) throw error;
  }
}
