/** Cases of operations, which the matrix and the fuzzer check and the benchmark measures. */
import type { Dtype, KeyArray } from '../../keys/dtype.js';
import { hasSameBytes, isOrderOf, wrong } from '../cases/checks.js';
import { type CaseInput, isUntouched } from '../cases/input.js';
import type { DeviceArray } from '../model/device-array.js';
import type { SortOptions } from '../model/options.js';
import type { OperationMethods } from './operations.js';

/** The methods of a Sorter that cases use. */
export interface CaseSorter extends OperationMethods {
  upload<D extends Dtype>(keys: KeyArray, options: { readonly dtype: D }): Promise<DeviceArray<D>>;
}

/** Options of a case; operations without order or algorithm ignore those. */
export interface CaseOptions {
  readonly algorithm: string;
  readonly isStable: boolean;
  readonly descending: boolean;
  readonly nan: 'first' | 'last';
  /** Options for every call. */
  readonly call: Pick<SortOptions, 'dtype' | 'onWarning'>;
  readonly sort: SortOptions;
}

/** Returns what is wrong with a result; undefined when it is correct. */
export type Check = () => string | undefined;

/** A call whose result is checked. */
export interface CheckedOperation {
  readonly name: string;
  /** `each`: tried with each algorithm; `auto`: with the planner's choice only; `none`: does not sort. */
  readonly sorts: 'each' | 'auto' | 'none';
  /** Smallest number of keys; default 0. */
  readonly minKeys?: number;
  /**
   * Makes the call.
   *
   * @returns the check of its result
   */
  readonly start: (sorter: CaseSorter, input: CaseInput, options: CaseOptions) => Promise<Check>;
}

export const checked = (
  name: string,
  sorts: CheckedOperation['sorts'],
  start: CheckedOperation['start'],
  minKeys = 0,
): CheckedOperation => ({ name, sorts, start, minKeys });

const sortedBytes = ({ reference }: CaseInput, order: CaseOptions): Uint8Array =>
  reference.pick(reference.order(order));

export const checkKeys = (sorted: KeyArray, input: CaseInput, options: CaseOptions): string | undefined =>
  hasSameBytes(sorted, sortedBytes(input, options)) ? undefined : wrong(sorted, sortedBytes(input, options));

export const checkPositions = (places: Uint32Array, { reference }: CaseInput, options: CaseOptions) =>
  isOrderOf(places, reference, options) ? undefined : 'positions are wrong';

/** An array of u32 on the device or on the host. */
export type Words = Uint32Array | DeviceArray<'u32'>;

/** Inputs of the calls, n elements each. */
export interface CallInputs<W extends Words = Words> {
  /** Uniform over all 32 bits. */
  readonly keys: W;
  /** Positions of the keys: the values of pairs. */
  readonly values: W;
  /** Keys with 1000 distinct values. */
  readonly few: W;
  /** Random positions. */
  readonly indices: W;
}

/** Arrays, or the number that a reduction returns. */
export type CallResult = readonly (Words | number | bigint)[];

/** One call. `options` apply only to operations that are a single sort. */
export type OperationCall = (
  sorter: OperationMethods,
  inputs: CallInputs,
  options?: SortOptions,
) => Promise<CallResult>;

/** A call that is timed. */
export interface CallOperation {
  readonly name: string;
  /**
   * Whether the call's report covers all of its kernels. For operations of several steps, it covers one sort among
   * them.
   */
  readonly isOneSort: boolean;
  /** Prepares the other arguments of a call for n keys, so that this work is not timed. */
  readonly prepare: (n: number) => OperationCall;
}

export const timed = (name: string, prepare: CallOperation['prepare']): CallOperation => ({
  name,
  isOneSort: false,
  prepare,
});

export const timedSort = (name: string, call: OperationCall): CallOperation => ({
  name,
  isOneSort: true,
  prepare: () => call,
});

export interface OperationCases {
  readonly checked: readonly CheckedOperation[];
  readonly timed: readonly CallOperation[];
}

/** Starts an operation. The returned check also verifies that the keys are unchanged. */
export async function startCase(
  { start }: CheckedOperation,
  sorter: CaseSorter,
  input: CaseInput,
  options: CaseOptions,
): Promise<Check> {
  const check = await start(sorter, input, options);
  return () => check() ?? (isUntouched(input) ? undefined : 'the input keys were changed');
}
