import type { AlgorithmOption } from '../../algorithms/algorithm-names.js';
import type { Tuning } from '../../algorithms/parameters.js';
import type { Dtype, DtypeInfo } from '../../keys/dtype.js';
import type { Order } from '../../keys/key-codec.js';
import type { ScanOp } from '../../primitives/possible.js';
import { AbortedError, type ClsortError, UsageError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import type { SortReport } from './report.js';

/** Progress of a call. */
export interface Progress {
  /** Name of the current phase, such as `sort`. */
  readonly phase: string;
  /** Keys, or other units that the phase counts, that are done; `total` is their number in all. */
  readonly done: number;
  readonly total: number;
}

/** Parameters of algorithms, for measurements and tests. The planner and the tuning of the device choose the others. */
export interface AdvancedOptions {
  /**
   * Number of kernels in the scan of algorithm `amd`. A number selects `amd` if `algorithm` is `auto`.
   *
   * @defaultValue `'auto'`: 3 up to 16384 keys, else 5
   */
  readonly scan?: 3 | 5 | 'auto';
  /**
   * Bits of a digit: 1 to 8 for `tiled`, 1 to 12 for `serial`, 1 to 4 for `split`.
   *
   * @defaultValue as tuned for the device
   */
  readonly radixBits?: number;
  /**
   * Constants for measurements and tests, all whole numbers. `chunk`: maximum number of keys sorted at a time.
   * `select`: maximum number of keys that `topK` sorts completely. `deviceCount`: number of devices that sort a host
   * array.
   *
   * @defaultValue `{}`
   * @throws UsageError for another name, and for a value out of range
   */
  readonly tuning?: Readonly<Record<string, number>>;
}

/** Options of `sort`, `argsort` and `sortPairs`. All are optional; an unknown name throws a `UsageError`. */
export interface SortOptions extends Order {
  /**
   * Window `[begin, end)` of the bits of the key's code that are compared. Bit 0 is the lowest bit.
   *
   * @defaultValue all bits of a key
   */
  readonly bitRange?: readonly [begin: number, end: number];
  /**
   * Dtype of the keys, if it is not the dtype of the array's type: any dtype of the same width, such as `'f16'` or `'bf16'` for a
   * Uint16Array, and any dtype for a Buffer or Uint8Array.
   *
   * @defaultValue the dtype of the array's type
   * @throws DtypeError when the array cannot hold keys of this dtype
   */
  readonly dtype?: Dtype;
  /**
   * Device to sort on: `auto`, `cpu`, `gpu`, `host`, `all`, `P:D` (platform and device number), or a part of the name
   * of a device or platform. If several devices match, the best one is used.
   *
   * @defaultValue `'auto'`
   * @throws NoDeviceError when no device matches; NoLoaderError when there is no OpenCL loader; NoPlatformError when
   *   there is no OpenCL driver
   */
  readonly device?: string;
  /**
   * Devices to use instead of `device`: all that match any of these names. They share a large array if that is faster.
   *
   * @defaultValue none: one device
   * @throws UsageError together with `device`; NoDeviceError when no device matches one of the names
   */
  readonly devices?: readonly string[];
  /**
   * Name of an algorithm, or `auto`: the planner selects one.
   *
   * @defaultValue `'auto'`
   * @throws UnsupportedError when the algorithm cannot sort these keys on this device
   */
  readonly algorithm?: AlgorithmOption;
  /**
   * Whether to verify the result on the device. A sort is checked for order and permutation. Each element
   * of a scan must follow from the element before it and the next key. Keys that are selected, distinct or first must
   * be keys of the input.
   *
   * @defaultValue `false`
   */
  readonly verify?: boolean;
  /**
   * Reaction to a failed verification. `'retry'` sorts again with another plan, finally on the host. `'throw'` throws.
   *
   * @defaultValue `'retry'`
   * @throws MismatchError when it is `'throw'` and a result is wrong
   */
  readonly onMismatch?: 'retry' | 'throw';
  /**
   * Signal that cancels the call.
   *
   * @defaultValue none
   * @throws AbortedError when the signal fires; its `cause` is the reason of the signal
   */
  readonly signal?: AbortSignal;
  /**
   * Milliseconds that the device may take. If it has not finished by then, the call rejects and the device is abandoned.
   * Values above 24 days mean no timeout.
   *
   * @defaultValue none: waits
   * @throws TimeoutError when the time has passed
   */
  readonly timeout?: number;
  /**
   * Callback that receives the progress of the call.
   *
   * @defaultValue none
   */
  readonly onProgress?: (progress: Progress) => void;
  /**
   * Whether to measure each kernel. Without it, the stages of the report have no seconds.
   *
   * @defaultValue `false`
   */
  readonly profile?: boolean;
  /**
   * Callback that receives warnings, such as about a variant that was skipped.
   *
   * @defaultValue the callback of `Sorter.open`, by default `process.emitWarning`
   */
  readonly onWarning?: (warning: ClsortError) => void;
  /**
   * Callback that receives a report after each call that succeeds.
   *
   * @defaultValue none
   */
  readonly onReport?: (report: SortReport) => void;
  /**
   * Parameters of algorithms, for measurements and tests.
   *
   * @defaultValue `{}`: as planned
   * @throws UsageError for another name, and for a value out of range
   */
  readonly advanced?: AdvancedOptions;
}

/** An existing array that receives the result. Allocating a new array costs about as much as sorting it on a CPU. */
export interface Into<R> {
  /**
   * Array that receives the result and that the call returns. It has the kind and the length of the result, and is not
   * the input.
   *
   * @defaultValue a new array
   * @throws InputError when it has another kind or length, or overlaps the input
   */
  readonly into?: R;
}

/** Options of operations that do not sort: how to read the keys, and how to run. */
export type PrimitiveOptions = Pick<
  SortOptions,
  'dtype' | 'device' | 'devices' | 'signal' | 'timeout' | 'onWarning'
>;

/** Options of operations that do not sort and whose results can be verified. */
export type CheckedOptions = PrimitiveOptions & {
  /**
   * Whether to verify the result by its definition, on any engine. Each element of a scan must follow from the
   * element before it and the next key. Sums and products of floats are compared with those of the host, within their
   * error bounds. Selected keys must be those of the input, in input order.
   *
   * @defaultValue `false`
   * @throws MismatchError when the result is wrong
   */
  readonly verify?: boolean;
};

/** Options of `scan`. */
export type ScanOptions = CheckedOptions & {
  /**
   * Operation that combines the keys: `sum`, `min`, `max` or `product`.
   *
   * @defaultValue `sum`
   */
  readonly op?: ScanOp;
  /**
   * Whether each result includes its own key. Otherwise it covers only the keys before it.
   *
   * @defaultValue `false`
   */
  readonly inclusive?: boolean;
  /**
   * Dtype of the results, which has to represent every key exactly. Keys on the host are widened before they are
   * combined; for instance, sums of bytes can be u64. Sums and products of integers wrap in this dtype.
   *
   * @defaultValue the dtype of the keys
   * @throws UsageError for a dtype that cannot represent every key, and for a device array
   */
  readonly resultDtype?: Dtype;
};

/**
 * Bins of a histogram: `bins` bins of equal width over `range`, or bins between `edges`, or one bin for each value
 * of a digit (`bitRange`). An edge need not be a possible key. BigInts are for integer keys.
 */
export interface HistogramBins {
  /**
   * Number of bins, 1 to 65536.
   *
   * @defaultValue none: `edges` or `bitRange` define the bins
   * @throws UsageError without `range`, and together with `edges` or `bitRange`
   */
  readonly bins?: number;
  /**
   * Lower edge of the first bin and upper edge of the last bin.
   *
   * @defaultValue none
   */
  readonly range?: readonly [from: number, to: number] | readonly [from: bigint, to: bigint];
  /**
   * Edges of the bins, strictly ascending, one more than there are bins. Bin b holds the keys from `edges[b]` to below
   * `edges[b + 1]`; the last bin includes its upper edge.
   *
   * @defaultValue none
   */
  readonly edges?: Iterable<number> | Iterable<bigint>;
  /**
   * Bit window `[begin, end)` of the keys' order-preserving codes, 1 to 16 bits wide, with one bin for each value of
   * that digit. Replaces `bins`, `range` and `edges`.
   *
   * @defaultValue none
   */
  readonly bitRange?: readonly [begin: number, end: number];
}

/** Options of `histogram`. */
export type HistogramOptions = PrimitiveOptions & HistogramBins;

/** Options of `topK`: `largest` replaces `descending`. */
export type TopKOptions = Omit<SortOptions, 'descending'> & {
  /**
   * Whether to return the largest keys. Otherwise the smallest keys are returned.
   *
   * @defaultValue `true`
   */
  readonly largest?: boolean;
};

/** Options of `unique`, which compares whole keys. */
export type UniqueOptions = Omit<SortOptions, 'bitRange'>;

/** Options of `lexsort`: the order of columns that do not specify one, and how to run. */
export type LexsortOptions = Omit<SortOptions, 'bitRange' | 'dtype'>;

/** A column of `lexsort` with its own order. Properties that are left out are taken from the options. */
export interface LexsortColumn<K> extends Order {
  /** Keys of the column; all columns have the same length. */
  readonly keys: K;
  /**
   * Dtype of the keys, if it is not the dtype of the array's type.
   *
   * @defaultValue the dtype of the array's type
   */
  readonly dtype?: Dtype;
}

/** Options of `Sorter.plan`. */
export type PlanOptions = SortOptions & {
  /**
   * Bytes of the value that moves with each key; 4 for an argsort.
   *
   * @defaultValue `0`
   */
  readonly valueBytes?: number;
};

/** Options of `Sorter.open`. `onWarning` defaults to `process.emitWarning`. */
export type OpenOptions = Pick<SortOptions, 'device' | 'devices' | 'onWarning'> & {
  /**
   * Maximum number of unused bytes of device memory that the pool keeps for later calls; 0 keeps none. Memory that
   * calls and arrays use does not count.
   *
   * @defaultValue a quarter of the device's memory
   */
  readonly poolBytes?: number;
};

/** Options with defaults filled in. Options without a default may be missing. */
export type SortSettings = Required<
  Pick<SortOptions, 'descending' | 'nan' | 'device' | 'algorithm' | 'verify' | 'onMismatch' | 'profile'> &
    Pick<AdvancedOptions, 'scan' | 'tuning'>
> &
  Pick<SortOptions, 'dtype' | 'signal' | 'timeout' | 'onProgress' | 'onWarning' | 'onReport'> &
  Pick<AdvancedOptions, 'radixBits'> & {
    /** Option `bitRange`. */
    readonly bits?: SortOptions['bitRange'];
  };

const NONE = Object.freeze({});

/**
 * Returns the options that a caller passed, or an empty object if there are none.
 *
 * @throws UsageError when `options` is not an object
 */
export function requireOptionsObject<O extends object>(options: O | undefined): O {
  if (options === undefined) return NONE as O;
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return options;
  throw invalidArgument('options', 'an object such as { descending: true }', options);
}

/** Whether options select an algorithm or a parameter that only devices have. */
export const needsDevice = ({
  algorithm = 'auto',
  scan = 'auto',
  radixBits,
}: Pick<SortOptions, 'algorithm'> & AdvancedOptions): boolean =>
  !(algorithm === 'auto' || algorithm === 'host') || scan !== 'auto' || radixBits !== undefined;

/** @throws UsageError when both `device` and `devices` are given */
export function assertOneOfDevices({ device, devices }: Pick<SortOptions, 'device' | 'devices'>): void {
  if (device === undefined || devices === undefined) return;
  throw new UsageError("cannot use options 'device' and 'devices' together: they exclude each other", {
    details: { option: 'devices' },
  });
}

/** Returns options with the parameters of algorithms in `advanced`, as calls expect them. */
export function groupAdvanced<O extends Undefinable<AdvancedOptions>>({
  scan,
  radixBits,
  tuning,
  ...rest
}: O): Omit<O, keyof AdvancedOptions> & Pick<SortOptions, 'advanced'> {
  const given = Object.entries({ scan, radixBits, tuning }).filter(([, value]) => value !== undefined);
  return given.length === 0 ? rest : { ...rest, advanced: Object.fromEntries(given) };
}

type Undefinable<T> = { readonly [Name in keyof T]?: T[Name] | undefined };

/** Returns the parameters of the algorithm that the options set. */
export const chosenParameters = ({ scan, radixBits }: SortSettings): Tuning =>
  scan === 'auto' && radixBits === undefined
    ? NOT_CHOSEN
    : { ...(scan !== 'auto' && { scan }), ...(radixBits !== undefined && { radixBits }) };

const NOT_CHOSEN: Tuning = Object.freeze({});

/**
 * Returns the window of the code's bits that are compared.
 *
 * @throws UsageError when the window extends beyond the keys
 */
export function bitWindow(
  bits: SortOptions['bitRange'],
  { name, width }: DtypeInfo,
): readonly [begin: number, end: number] {
  if (!bits) return [0, width];
  if (bits[1] > width) {
    throw invalidArgument('bitRange', `[begin, end] within the ${width} bits of ${name} keys`, bits);
  }
  return bits;
}

/** @throws AbortedError when the caller's signal has fired */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted)
    throw new AbortedError('cannot complete the call: its signal was aborted', { cause: signal.reason });
}
