/** Validation of options. */

import { DTYPES, type Dtype } from '../../keys/dtype.js';
import type { Order } from '../../keys/key-codec.js';
import type { ClsortError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { isObject } from '../../util/json.js';
import { renamedError } from '../../util/renamed.js';
import { didYouMean, invalidName } from '../../util/suggest.js';
import {
  type AdvancedOptions,
  assertOneOfDevices,
  type CheckedOptions,
  type OpenOptions,
  type PrimitiveOptions,
  requireOptionsObject,
  type SortOptions,
  type SortSettings,
} from './options.js';

/** Validation of one option: a predicate, and the valid values in words. */
interface Check {
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
}

const boolean: Check = { expected: 'true or false', accepts: (value) => typeof value === 'boolean' };
const callback: Check = { expected: 'a function', accepts: (value) => typeof value === 'function' };
const word: Check = {
  expected: 'a name',
  accepts: (value) => typeof value === 'string' && value.trim() !== '',
};
const oneOf = (...values: readonly unknown[]): Check => ({
  expected: `one of ${values.map((value) => (typeof value === 'string' ? `'${value}'` : value)).join(', ')}`,
  accepts: (value) => values.includes(value),
});

const isWindow = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length === 2 &&
  value.every((bit) => Number.isInteger(bit) && bit >= 0 && bit <= 64) &&
  value[0] <= value[1];

const isTuning = (value: unknown): boolean => isObject(value) && Object.values(value).every(Number.isFinite);

const ADVANCED_CHECKS: Readonly<Record<keyof AdvancedOptions, Check>> = {
  scan: oneOf(3, 5, 'auto'),
  radixBits: {
    expected: 'a whole number from 1 to 12',
    accepts: (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 12,
  },
  tuning: { expected: 'an object of numbers', accepts: isTuning },
};
const ADVANCED_OPTIONS = Object.keys(ADVANCED_CHECKS);

const SORT_CHECKS: Readonly<Record<keyof SortOptions, Check>> = {
  descending: boolean,
  nan: oneOf('first', 'last'),
  bitRange: { expected: '[begin, end] with 0 <= begin <= end <= the width of a key', accepts: isWindow },
  dtype: oneOf(...DTYPES),
  device: word,
  devices: {
    expected: "one or more names, such as ['gpu'] or ['0:0', '0:1']",
    accepts: (value) => Array.isArray(value) && value.length > 0 && value.every(word.accepts),
  },
  algorithm: word,
  verify: boolean,
  onMismatch: oneOf('retry', 'throw'),
  signal: { expected: 'an AbortSignal', accepts: (value) => value instanceof AbortSignal },
  timeout: { expected: 'milliseconds above 0', accepts: (value) => typeof value === 'number' && value > 0 },
  onProgress: callback,
  profile: boolean,
  onWarning: callback,
  onReport: callback,
  advanced: { expected: 'an object such as { radixBits: 4 }', accepts: isObject },
};

const CHECKS: Readonly<Record<string, Check>> = {
  ...SORT_CHECKS,
  ...ADVANCED_CHECKS,
  sharded: boolean,
  spread: boolean,
  poolBytes: {
    expected: 'a whole number of bytes of at least 0',
    accepts: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  },
};

/** Returns the valid values of an option in words, as in its UsageError; undefined for an unknown option. */
export const expectedOf = (name: string): string | undefined => CHECKS[name]?.expected;

const PRIMITIVE_OPTIONS = [
  'dtype',
  'device',
  'devices',
  'signal',
  'timeout',
  'onWarning',
] as const satisfies readonly (keyof PrimitiveOptions)[];

interface UploadOptions {
  readonly dtype?: Dtype;
  readonly sharded?: boolean;
  /** @deprecated Use `sharded`. */
  readonly spread?: boolean;
}
const UPLOAD_OPTIONS = ['dtype', 'sharded', 'spread'] as const satisfies readonly (keyof UploadOptions)[];

type ColumnOptions = Order & Pick<SortOptions, 'dtype'>;
const COLUMN_OPTIONS = ['descending', 'nan', 'dtype'] as const satisfies readonly (keyof ColumnOptions)[];

const CHECKED_OPTIONS = [...PRIMITIVE_OPTIONS, 'verify'];

const OPEN_OPTIONS = [
  'device',
  'devices',
  'onWarning',
  'poolBytes',
] as const satisfies readonly (keyof OpenOptions)[];

const warn = (warning: ClsortError): void =>
  process.emitWarning(warning.message, { type: 'ClsortWarning', code: warning.code });

/** @param prefix part of the names in messages: `advanced.` for its properties */
function check(options: object, names: readonly string[], prefix = ''): void {
  for (const [name, value] of Object.entries(options)) {
    if (!names.includes(name)) {
      const renamed = renamedError('option', name);
      if (renamed) throw renamed;
      throw invalidArgument(
        `an option${prefix && ` of ${prefix.slice(0, -1)}`}`,
        `one of ${names.join(', ')}`,
        name,
        { advice: didYouMean(name, names), details: { option: name } },
      );
    }
    const { expected, accepts } = CHECKS[name] as Check;
    if (value !== undefined && !accepts(value)) {
      throw invalidArgument(`${prefix}${name}`, expected, value, { details: { value } });
    }
    if (name === 'tuning') checkTuning(value);
    if (name === 'advanced') check(value ?? {}, ADVANCED_OPTIONS, 'advanced.');
  }
}

/** Names that `tuning` accepts, with their smallest values. All values are whole numbers. */
const TUNING_MINIMA: Readonly<Record<string, number>> = { chunk: 1, deviceCount: 1, select: 0 };
const TUNING_NAMES = Object.keys(TUNING_MINIMA);

function checkTuning(tuning: unknown): void {
  const unknown = Object.keys(tuning ?? {}).find((name) => !TUNING_NAMES.includes(name));
  if (unknown !== undefined) {
    throw renamedError('tuning', unknown) ?? invalidName('advanced.tuning', unknown, TUNING_NAMES);
  }
  for (const [name, value] of Object.entries(tuning ?? {})) {
    const min = TUNING_MINIMA[name] as number;
    if (Number.isSafeInteger(value) && value >= min) continue;
    throw invalidArgument(`advanced.tuning.${name}`, `a whole number of at least ${min}`, value);
  }
}

/**
 * Validates options and fills in defaults.
 *
 * @throws UsageError for an unknown name or an impossible value
 */
export function parseSortOptions(options?: SortOptions): SortSettings {
  if (options === undefined) return DEFAULTS;
  check(requireOptionsObject(options), SORT_OPTIONS);
  const { bitRange, advanced, ...rest } = options;
  const all = { ...rest, ...advanced, bits: bitRange };
  const present = Object.entries(all).filter(([, value]) => value !== undefined);
  return present.length === 0 ? DEFAULTS : { ...DEFAULTS, ...Object.fromEntries(present) };
}

const SORT_OPTIONS = Object.keys(SORT_CHECKS);

/** Shared by all calls without options. */
const DEFAULTS: SortSettings = Object.freeze({
  descending: false,
  nan: 'last',
  device: 'auto',
  algorithm: 'auto',
  scan: 'auto',
  verify: false,
  onMismatch: 'retry',
  profile: false,
  tuning: Object.freeze({}),
});

/**
 * Validates the options of an operation that does not sort and whose result can be verified.
 *
 * @throws UsageError for an unknown name or an impossible value
 */
export function parseCheckedOptions(options?: CheckedOptions): SortSettings {
  check(requireOptionsObject(options), CHECKED_OPTIONS);
  return parseSortOptions(options);
}

/**
 * Validates the options of an operation that does not sort and has no verification.
 *
 * @throws UsageError for an unknown name or an impossible value
 */
export function parsePrimitiveOptions(options?: PrimitiveOptions): SortSettings {
  check(requireOptionsObject(options), PRIMITIVE_OPTIONS);
  return parseSortOptions(options);
}

/**
 * Validates the options of `Sorter.upload`.
 *
 * @throws UsageError for an unknown name or an impossible value
 */
export function parseUploadOptions<O extends UploadOptions>(options: O | undefined): O {
  const all = requireOptionsObject(options);
  check(all, UPLOAD_OPTIONS);
  return all;
}

/**
 * Validates the properties of a `lexsort` column other than its keys.
 *
 * @throws UsageError for an unknown name or an impossible value
 */
export function parseColumnOptions(options: ColumnOptions): ColumnOptions {
  check(options, COLUMN_OPTIONS);
  return options;
}

/**
 * Validates the options of `Sorter.open` and fills in defaults.
 *
 * @throws UsageError for an unknown name or an impossible value
 */
export function parseOpenOptions(options: OpenOptions = {}): Required<
  Pick<OpenOptions, 'device' | 'onWarning'>
> & {
  readonly devices: readonly string[] | undefined;
  readonly poolBytes: number | undefined;
} {
  check(requireOptionsObject(options), OPEN_OPTIONS);
  const { device, devices, onWarning, poolBytes } = options;
  assertOneOfDevices(options);
  return { device: device ?? 'auto', devices, onWarning: onWarning ?? warn, poolBytes };
}
