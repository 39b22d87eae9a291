/** Tunable parameters of an algorithm, declared where the algorithm is defined. */
import { UsageError } from '../util/errors.js';
import { suggestion } from '../util/suggest.js';

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
    : `one of ${parameter.values.join(' ')}`;

const accepts = (parameter: Parameter, value: unknown): boolean =>
  parameter.kind === 'whole'
    ? Number.isInteger(value) && Number(value) >= parameter.min && Number(value) <= parameter.max
    : parameter.values.some((one) => one === value);

/** Returns the reason why a value is invalid for a parameter, or undefined if it is valid. */
export function refusal(parameters: Parameters, name: string, value: unknown): string | undefined {
  const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  if (!parameter) {
    const known = Object.keys(parameters);
    const choices = known.length > 0 ? `expected one of ${known.join(' ')}` : 'it has none';
    return `unknown parameter '${name}': ${choices}${suggestion(name, known)}`;
  }
  return accepts(parameter, value)
    ? undefined
    : `parameter '${name}' is ${JSON.stringify(value)}: expected ${expected(parameter)}`;
}

/**
 * Checks the tuning that a caller chose for an algorithm.
 *
 * @throws UsageError for an unknown parameter or an invalid value
 */
export function checkTuning(
  { name, parameters }: { readonly name: string; readonly parameters: Parameters },
  tuning: Readonly<Record<string, unknown>>,
): void {
  for (const [parameter, value] of Object.entries(tuning)) {
    const wrong = refusal(parameters, parameter, value);
    if (wrong !== undefined) {
      throw new UsageError(`algorithm '${name}': ${wrong}`, { details: { parameter, value } });
    }
  }
}
