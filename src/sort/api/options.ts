import type { Tuning } from '../../algorithms/parameters.js';
import { DTYPES, type Dtype, type DtypeInfo } from '../../keys/dtype.js';
import type { Order } from '../../keys/key-codec.js';
import type { ScanOp } from '../../primitives/possible.js';
import { AbortedError, type ClsortError, UsageError } from '../../util/errors.js';
import { formatValue } from '../../util/format-value.js';
import { suggestion, unknownName } from '../../util/suggest.js';
import type { SortReport } from './report.js';

/** How far a call has come. */
export interface Progress {
  /** What is being done. */
  readonly phase: string;
  /** Keys (or what the phase counts) done and in all. */
  readonly done: number;
  readonly total: number;
}

/** What `sort`, `argsort` and `sortPairs` take. Every one may be left out; an unknown name throws. */
export interface SortOptions extends Order {
  /**
   * Window `[begin, end)` of the bits of the code that are compared; 0 is the lowest bit.
   *
   * @defaultValue all bits of a key
   */
  readonly bits?: readonly [begin: number, end: number];
  /**
   * What the keys are, when not what the array's type says: `'f16'` for a Uint16Array, any for a Buffer.
   *
   * @defaultValue the dtype of the array's type
   * @throws DtypeError when the array cannot hold keys of it
   */
  readonly dtype?: Dtype;
  /**
   * `auto`, `cpu`, `gpu`, `host`, `all`, `P:D` or a part of a device's or platform's name, the best device of those that
   * match.
   *
   * @defaultValue `'auto'`
   * @throws NoDeviceError when nothing matches; NoLoaderError, NoPlatformError
   */
  readonly device?: string;
  /**
   * Instead of `device`: all devices that any of these names, which share large arrays where that is sooner.
   *
   * @defaultValue none: one device
   * @throws UsageError beside `device`; NoDeviceError
   */
  readonly devices?: readonly string[];
  /**
   * Name of an algorithm, or `auto`, which lets the planner choose.
   *
   * @defaultValue `'auto'`
   * @throws UnsupportedError when the algorithm cannot sort this on this device
   */
  readonly algorithm?: string;
  /**
   * Kernels of the scan of `amd`, which sorts when this is a number and `algorithm` is `auto`.
   *
   * @defaultValue `'auto'`: 3 up to 16384 keys, else 5
   */
  readonly scan?: 3 | 5 | 'auto';
  /**
   * Bits of a digit: 1 to 8 of `tiled`, 1 to 12 of `serial`, 1 to 4 of `split`.
   *
   * @defaultValue as tuned for the device
   */
  readonly radixBits?: number;
  /**
   * Check the result on the device by what defines it: order and permutation of a sort; that each result of a scan follows
   * from the one before; that chosen, distinct or first keys are those of the input.
   *
   * @defaultValue `false`
   */
  readonly verify?: boolean;
  /**
   * When verification fails: sort again another way, at last on the host, or throw.
   *
   * @defaultValue `'retry'`
   * @throws MismatchError when it is `'throw'` and a result was wrong
   */
  readonly onMismatch?: 'retry' | 'throw';
  /**
   * Stops the call.
   *
   * @defaultValue none
   * @throws AbortedError when it fires, with its reason as the cause
   */
  readonly signal?: AbortSignal;
  /**
   * Seconds after which the device is given up when it has not finished. More than 24 days are as none at all.
   *
   * @defaultValue none: waits
   * @throws TimeoutError when they have passed
   */
  readonly timeout?: number;
  /**
   * Is told how far the call is.
   *
   * @defaultValue none
   */
  readonly onProgress?: (progress: Progress) => void;
  /**
   * Measure each kernel for the report, whose stages have no seconds otherwise.
   *
   * @defaultValue `false`
   */
  readonly profile?: boolean;
  /**
   * Gets warnings, such as a variant that was left out.
   *
   * @defaultValue what the Sorter was opened with, at last `process.emitWarning`
   */
  readonly onWarning?: (warning: ClsortError) => void;
  /**
   * Gets what was done, after each call that succeeds.
   *
   * @defaultValue none
   */
  readonly onReport?: (report: SortReport) => void;
  /**
   * Constants for measurements and tests: `chunk`, the most keys that are sorted at a time; `parts`, 2 to 8,
   * in how many parts arrays of the host are sorted while they are on their way, or 1; `select`, the most keys
   * that `topK` sorts all of; `spread`, on how many of several devices arrays of the host are sorted; `exchange`, the keys that each of several
   * devices with memory of their own sorts at a time when they split an array, as more than two do by themselves; with 0 the host splits it.
   *
   * @defaultValue `{}`
   * @throws UsageError for another name
   */
  readonly tuning?: Readonly<Record<string, number>>;
}

/** An array of an earlier call, to be used again: a new one costs about as much as the sort of a CPU. */
export interface Into<R> {
  /**
   * Gets the result, and is what is returned: of the same kind and length, and not the input itself.
   *
   * @defaultValue a new array
   * @throws InputError when it is of another kind or length, or overlaps the input
   */
  readonly into?: R;
}

/** What operations that sort nothing take: how to read the keys, and how to run. */
export type PrimitiveOptions = Pick<
  SortOptions,
  'dtype' | 'device' | 'devices' | 'signal' | 'timeout' | 'onWarning'
>;

/** What operations that sort nothing take whose results can be checked. */
export type CheckedOptions = PrimitiveOptions & {
  /**
   * Check the result by what defines it, however it was made: that each result of a scan follows from the one before, or
   * that chosen keys are those of the input, in their order. Sums and products of floats are compared with those of the
   * host, within their bounds.
   *
   * @defaultValue `false`
   * @throws MismatchError when it is wrong
   */
  readonly verify?: boolean;
};

/** What `scan` takes. */
export type ScanOptions = CheckedOptions & {
  /**
   * What keys are combined by.
   *
   * @defaultValue `sum`
   */
  readonly op?: ScanOp;
  /**
   * Does each result count its own key, or only the keys before it?
   *
   * @defaultValue `false`
   */
  readonly inclusive?: boolean;
  /**
   * Dtype of the results, one that holds every key: keys of the host are widened before they are combined, so that sums
   * of bytes may be u64. Sums and products of integers wrap in this dtype.
   *
   * @defaultValue the dtype of the keys
   * @throws UsageError for a dtype that does not hold every key, or for a device array
   */
  readonly resultDtype?: Dtype;
};

/**
 * The bins of a histogram: `bins` of equal width over `range`, or between `edges`, or digits. Numbers that no key can
 * be are allowed; BigInts are for integer keys.
 */
export interface HistogramBins {
  /**
   * How many bins there are, 1 to 65536.
   *
   * @defaultValue none: `edges` or `bits` say it
   * @throws UsageError without `range`, or beside `edges` or `bits`
   */
  readonly bins?: number;
  /**
   * Where the first bin begins and the last one ends.
   *
   * @defaultValue none
   */
  readonly range?: readonly [from: number, to: number] | readonly [from: bigint, to: bigint];
  /**
   * One more than there are bins, rising: bin b holds the keys from `edges[b]` to below `edges[b + 1]`.
   *
   * @defaultValue none
   */
  readonly edges?: Iterable<number> | Iterable<bigint>;
  /**
   * Instead: a bin for each digit of the keys' order-preserving codes, 1 to 16 bits `[begin, end)` of them.
   *
   * @defaultValue none
   */
  readonly bits?: readonly [begin: number, end: number];
}

/** What `histogram` takes. */
export type HistogramOptions = PrimitiveOptions & HistogramBins;

/** What `topK` takes: which end of the order, instead of a direction. */
export type TopKOptions = Omit<SortOptions, 'descending'> & {
  /**
   * The largest keys, or the smallest.
   *
   * @defaultValue `true`
   */
  readonly largest?: boolean;
};

/** What `unique` takes: it compares whole keys. */
export type UniqueOptions = Omit<SortOptions, 'bits'>;

/** What `lexsort` takes: the order of columns that have none of their own, and how to run. */
export type LexsortOptions = Omit<SortOptions, 'bits' | 'dtype'>;

/** A column of `lexsort` with an order of its own; what is left out is as the options say. */
export interface LexsortColumn<K> extends Order {
  /** The keys of the column, as many as in every other one. */
  readonly keys: K;
  /**
   * What the keys are, when not what the array's type says.
   *
   * @defaultValue the dtype of the array's type
   */
  readonly dtype?: Dtype;
}

/** What `Sorter.plan` takes. */
export type PlanOptions = SortOptions & {
  /**
   * Bytes of the value beside each key; 4 for an argsort.
   *
   * @defaultValue `0`
   */
  readonly valueBytes?: number;
};

/** What `Sorter.open` takes. `onWarning` is `process.emitWarning` by default. */
export type OpenOptions = Pick<SortOptions, 'device' | 'devices' | 'onWarning'> & {
  /**
   * Most bytes of device memory that are kept for the next calls when nobody uses them, 0 for none; what calls
   * and arrays use is not counted.
   *
   * @defaultValue a quarter of the device's memory
   */
  readonly poolBytes?: number;
};

/** Options with defaults filled in; those that have none may be missing. */
export type SortSettings = Required<
  Pick<
    SortOptions,
    'descending' | 'nan' | 'device' | 'algorithm' | 'scan' | 'verify' | 'onMismatch' | 'profile' | 'tuning'
  >
> &
  Pick<
    SortOptions,
    'bits' | 'dtype' | 'radixBits' | 'signal' | 'timeout' | 'onProgress' | 'onWarning' | 'onReport'
  >;

/** Says whether a value will do, and if not what is expected. */
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
  expected: values.map((value) => (typeof value === 'string' ? `'${value}'` : value)).join(', '),
  accepts: (value) => values.includes(value),
});

const isWindow = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length === 2 &&
  value.every((bit) => Number.isInteger(bit) && bit >= 0 && bit <= 64) &&
  value[0] <= value[1];

const isTuning = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.values(value).every(Number.isFinite);

const SORT_CHECKS: Readonly<Record<keyof SortOptions, Check>> = {
  descending: boolean,
  nan: oneOf('first', 'last'),
  bits: { expected: '[begin, end] with 0 <= begin <= end <= the width of a key', accepts: isWindow },
  dtype: oneOf(...DTYPES),
  device: word,
  devices: {
    expected: "one or more names, such as ['gpu'] or ['0:0', '0:1']",
    accepts: (value) => Array.isArray(value) && value.length > 0 && value.every(word.accepts),
  },
  algorithm: word,
  scan: oneOf(3, 5, 'auto'),
  radixBits: {
    expected: 'a whole number from 1 to 12',
    accepts: (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 12,
  },
  verify: boolean,
  onMismatch: oneOf('retry', 'throw'),
  signal: { expected: 'an AbortSignal', accepts: (value) => value instanceof AbortSignal },
  timeout: {
    expected: 'seconds above 0',
    accepts: (value) => typeof value === 'number' && value > 0,
  },
  onProgress: callback,
  profile: boolean,
  onWarning: callback,
  onReport: callback,
  tuning: { expected: 'an object of numbers', accepts: isTuning },
};

const CHECKS: Readonly<Record<string, Check>> = {
  ...SORT_CHECKS,
  spread: boolean,
  poolBytes: {
    expected: 'a whole number of bytes from 0 on',
    accepts: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  },
};

/** What an option of `SortOptions` or `OpenOptions` accepts, in words, as its UsageError says it. */
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
  readonly spread?: boolean;
}
const UPLOAD_OPTIONS = ['dtype', 'spread'] as const satisfies readonly (keyof UploadOptions)[];

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

const NONE = Object.freeze({});

/**
 * The options that a caller has given, before any is read: none where they are left out.
 *
 * @throws UsageError for what is no object
 */
export function requireOptionsObject<O extends object>(options: O | undefined): O {
  if (options === undefined) return NONE as O;
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return options;
  throw new UsageError(
    `options are ${formatValue(options)}: expected an object such as { descending: true }`,
  );
}

function check(options: object, names: readonly string[]): void {
  for (const [name, value] of Object.entries(options)) {
    if (!names.includes(name)) {
      throw new UsageError(
        `unknown option '${name}'${suggestion(name, names) || '.'} Known: ${names.join(', ')}`,
        {
          details: { option: name },
        },
      );
    }
    const { expected, accepts } = CHECKS[name] as Check;
    if (value !== undefined && !accepts(value)) {
      throw new UsageError(`option '${name}' is ${formatValue(value)}: expected ${expected}`, {
        details: { option: name, value },
      });
    }
    if (name === 'tuning') checkTuning(value);
  }
}

/** Constants that `tuning` may name, all of them whole numbers, and between which they are. */
const TUNING_BOUNDS: Readonly<Record<string, readonly [least: number, most: number]>> = {
  chunk: [1, Number.MAX_SAFE_INTEGER],
  exchange: [0, Number.MAX_SAFE_INTEGER],
  parts: [1, 8],
  select: [0, Number.MAX_SAFE_INTEGER],
  spread: [1, Number.MAX_SAFE_INTEGER],
};
const TUNING_NAMES = Object.keys(TUNING_BOUNDS);

function checkTuning(tuning: unknown): void {
  const unknown = Object.keys(tuning ?? {}).find((name) => !TUNING_NAMES.includes(name));
  if (unknown !== undefined) {
    throw new UsageError(unknownName('tuning', unknown, TUNING_NAMES), { details: { option: 'tuning' } });
  }
  for (const [name, value] of Object.entries(tuning ?? {})) {
    const [min, max] = TUNING_BOUNDS[name] as readonly [number, number];
    if (Number.isSafeInteger(value) && value >= min && value <= max) continue;
    const bounds = max === Number.MAX_SAFE_INTEGER ? `from ${min} on` : `from ${min} to ${max}`;
    throw new UsageError(`tuning '${name}' is ${formatValue(value)}: expected a whole number ${bounds}`, {
      details: { option: 'tuning' },
    });
  }
}

/**
 * Checks options and fills in defaults.
 *
 * @throws UsageError for an unknown name or an impossible value
 */
export function parseSortOptions(options?: SortOptions): SortSettings {
  if (options === undefined) return DEFAULTS;
  check(requireOptionsObject(options), SORT_OPTIONS);
  const present = Object.entries(options).filter(([, value]) => value !== undefined);
  return present.length === 0 ? DEFAULTS : { ...DEFAULTS, ...Object.fromEntries(present) };
}

const SORT_OPTIONS = Object.keys(SORT_CHECKS);

/** One object for all calls without options. */
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
 * `parseSortOptions` for operations that sort nothing.
 *
 * @throws UsageError for an unknown name or an impossible value
 */
export function parseCheckedOptions(options?: CheckedOptions): SortSettings {
  check(requireOptionsObject(options), CHECKED_OPTIONS);
  return parseSortOptions(options);
}

/** As `parseCheckedOptions`, where there is nothing to check. */
export function parsePrimitiveOptions(options?: PrimitiveOptions): SortSettings {
  check(requireOptionsObject(options), PRIMITIVE_OPTIONS);
  return parseSortOptions(options);
}

/** What a device array is made of. @throws UsageError for an unknown name or an impossible value */
export function parseUploadOptions<O extends UploadOptions>(options: O | undefined): O {
  const all = requireOptionsObject(options);
  check(all, UPLOAD_OPTIONS);
  return all;
}

/** What a column of `lexsort` has of its own. @throws UsageError for an unknown name or an impossible value */
export function parseColumnOptions(options: ColumnOptions): ColumnOptions {
  check(options, COLUMN_OPTIONS);
  return options;
}

/** @throws UsageError for an unknown name or an impossible value */
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

/** @throws UsageError when both ways to name devices are used */
export function assertOneOfDevices({ device, devices }: Pick<SortOptions, 'device' | 'devices'>): void {
  if (device === undefined || devices === undefined) return;
  throw new UsageError("options 'device' and 'devices': expected one of them", {
    details: { option: 'devices' },
  });
}

/** The parameters of an algorithm that options chose. */
export const chosenParameters = ({ scan, radixBits }: SortSettings): Tuning =>
  scan === 'auto' && radixBits === undefined
    ? NOT_CHOSEN
    : { ...(scan !== 'auto' && { scan }), ...(radixBits !== undefined && { radixBits }) };

const NOT_CHOSEN: Tuning = Object.freeze({});

/**
 * The bits of the code to compare.
 *
 * @throws UsageError when the window reaches beyond the keys
 */
export function bitWindow(
  bits: SortOptions['bits'],
  { name, width }: DtypeInfo,
): readonly [begin: number, end: number] {
  if (!bits) return [0, width];
  if (bits[1] > width) {
    throw new UsageError(`option 'bits' is ${formatValue(bits)}: ${name} keys have ${width} bits`);
  }
  return bits;
}

/** @throws AbortedError when the caller's signal has fired */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortedError('the sort was interrupted', { cause: signal.reason });
}
