/** Measures whole calls from the caller's side: awaited one by one, and in chains without waiting. */
import { loadavg } from 'node:os';
import { DeviceArray, Sorter, type SortOptions, type SortReport, UnsupportedError } from '../index.js';
import { bytesOf } from '../keys/array.js';
import type { CallInputs, CallOperation, CallResult } from '../sort/operations/case.js';
import { invalidName } from '../util/suggest.js';
import { callInputs } from './call-operations.js';
import { kernelSeconds, type SortBench, type SortRow } from './sorts.js';
import { slowerRows, type Timing, timing } from './statistics.js';

/** Location of a call's arrays: device arrays, or typed arrays on the host. */
export const PLACES = ['device', 'host'] as const;
export type CallPlace = (typeof PLACES)[number];

/**
 * Parses one place, or `both`.
 *
 * @throws UsageError when the word is neither
 */
export function callPlaces(word: string): readonly CallPlace[] {
  if (word === 'both') return PLACES;
  const place = PLACES.find((known) => known === word);
  if (!place) throw invalidName('place', word, [...PLACES, 'both']);
  return [place];
}

export interface CallCase {
  readonly operation: string;
  readonly place: CallPlace;
  /** Number of keys of the call. */
  readonly n: number;
}

/** Result of one case. Times are present only when it is `ok`. */
export interface CallRow extends CallCase, Pick<SortRow, 'result' | 'reason'> {
  /** Wall time of a call that is awaited before the next one is made. */
  readonly awaited?: Timing;
  /** Wall time per call of `chain` calls that are made without waiting in between. */
  readonly chained?: Timing;
  readonly chain?: number;
  /**
   * Kernel time per call, from the reports of separate profiled calls. Absent when the device has no profiling times,
   * and for operations of several steps, whose reports do not cover all kernels.
   */
  readonly kernel?: Timing;
}

export const CALL_SCHEMA = 'clsort.bench.calls/1';

export interface CallBench extends Omit<SortBench, 'schema' | 'copyBytesPerSecond' | 'rows'> {
  readonly schema: typeof CALL_SCHEMA;
  /** Load average of the machine before the run. Times from a loaded machine are not worth keeping. */
  readonly load: number;
  readonly rows: readonly CallRow[];
}

export interface MeasureCallOptions {
  /** Minimum number of timed calls, and of chains. Timing also lasts at least `TIMED_SHARE` of the warm-up. */
  readonly repeats: number;
  /** Maximum number of calls in a chain. */
  readonly chain: number;
  /**
   * Seconds of warm-up calls, and of warm-up chains: programs are compiled, memory is pooled, and V8 optimizes. Default
   * 0.3.
   */
  readonly warmUpSeconds?: number;
}

/** A call with its inputs. Options apply only to operations that are a single sort. */
export type Call = (options?: SortOptions) => Promise<CallResult>;

/** Seconds of calls before timing: V8 optimizes, and the device reaches its clock. */
export const WARM_UP_SECONDS = 0.3;
/**
 * Minimum duration of timing, as a share of the warm-up: a few short calls may all coincide with a slow moment of the
 * machine.
 */
const TIMED_SHARE = 1 / 3;
/**
 * Limits of a chain in seconds, and of its results (and of retained results) in bytes. Chains are shorter when calls
 * are long or results large, but never shorter than `MIN_CHAIN`.
 */
const CHAIN_SECONDS = 0.25;
const CHAIN_BYTES = 2 ** 30;
const MIN_CHAIN = 4;
/**
 * Minimum number of warm-up chains: the first finds no pooled memory for so many results and triggers garbage
 * collection. They also last for the warm-up time, while V8 optimizes, and are longer by the number of results retained
 * later, so that the pool has memory for those.
 */
const WARM_CHAINS = 3;

const secondsSince = (start: number): number => (performance.now() - start) / 1000;

function dispose(result: CallResult): void {
  for (const part of result) if (part instanceof DeviceArray) part.dispose();
}

/** Returns the bytes of a part on the host: of an array, or of a number's decimal digits. */
const bytesHere = (part: Exclude<CallResult[number], DeviceArray>): Uint8Array =>
  typeof part === 'object' ? bytesOf(part) : Buffer.from(String(part));

/** Returns the bytes of each part, so that results of different places are comparable. */
async function bytesOfParts(result: CallResult): Promise<Uint8Array[]> {
  const parts: Uint8Array[] = [];
  for (const part of result) {
    parts.push(part instanceof DeviceArray ? bytesOf(await part.read()) : bytesHere(part));
  }
  return parts;
}

/**
 * Returns whether a result has the expected bytes.
 *
 * @param buffers reused for reading device parts: new memory for each would cause garbage collection during later calls
 */
async function hasBytes(
  result: CallResult,
  expected: readonly Uint8Array[],
  buffers: Map<number, Uint8Array>,
): Promise<boolean> {
  if (result.length !== expected.length) return false;
  for (const [i, part] of result.entries()) {
    const wanted = expected[i] as Uint8Array;
    if (part instanceof DeviceArray) {
      if (part.byteLength !== wanted.length) return false;
      const buffer = buffers.get(i) ?? new Uint8Array(wanted.length);
      buffers.set(i, buffer);
      await part.readInto(buffer);
      if (Buffer.compare(buffer, wanted) !== 0) return false;
    } else if (Buffer.compare(bytesHere(part), wanted) !== 0) return false;
  }
  return true;
}

/**
 * Makes `length` calls without waiting in between.
 *
 * @returns seconds per call, and all results, which the caller disposes of
 * @throws the error of the first failed call, after all calls have settled
 */
async function runChain(call: Call, length: number): Promise<{ seconds: number; results: CallResult[] }> {
  const start = performance.now();
  const settled = await Promise.allSettled(Array.from({ length }, () => call()));
  const seconds = secondsSince(start) / length;
  const results = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = settled.find((one) => one.status === 'rejected');
  if (!failed) return { seconds, results };
  for (const result of results) dispose(result);
  throw failed.reason;
}

/**
 * Checks the result of a call, then times calls: awaited one by one, in chains, and profiled for their kernels. A wrong
 * result, even of a later call, yields no times.
 *
 * @param expected the bytes of each part of the result
 * @param isOneSort whether the call's report covers all of its kernels
 * @returns the row of the case
 */
export async function measureCall(
  what: CallCase,
  call: Call,
  expected: readonly Uint8Array[],
  { isOneSort }: Pick<CallOperation, 'isOneSort'>,
  { repeats, chain: maxChain, warmUpSeconds = WARM_UP_SECONDS }: MeasureCallOptions,
): Promise<CallRow> {
  const buffers = new Map<number, Uint8Array>();
  const isRight = async (result: CallResult): Promise<boolean> => {
    try {
      return await hasBytes(result, expected, buffers);
    } finally {
      dispose(result);
    }
  };
  const wrong: CallRow = { ...what, result: 'wrong' };
  /** Results of chains that are still to be checked. */
  const retained: CallResult[] = [];
  const areRight = async (): Promise<boolean> => {
    for (let result = retained.pop(); result; result = retained.pop()) {
      if (!(await isRight(result))) return false;
    }
    return true;
  };
  try {
    if (!(await isRight(await call()))) return wrong;
    for (const start = performance.now(); ; ) {
      dispose(await call());
      if (secondsSince(start) >= warmUpSeconds) break;
    }
    const minSeconds = warmUpSeconds * TIMED_SHARE;
    const awaited: number[] = [];
    for (let timed = 0; awaited.length < repeats || timed < minSeconds; ) {
      const start = performance.now();
      const result = await call();
      const seconds = secondsSince(start);
      awaited.push(seconds);
      timed += seconds;
      dispose(result);
    }

    const bytes = expected.reduce((sum, { byteLength }) => sum + byteLength, 1);
    const fitting = Math.floor(Math.min(CHAIN_SECONDS / timing(awaited).median, CHAIN_BYTES / bytes));
    const chain = Math.min(maxChain, Math.max(MIN_CHAIN, fitting));
    const chained: number[] = [];
    // Checking between two chains would start the next one with cold caches, so results are retained and checked later.
    const maxRetained = Math.min(repeats, Math.ceil(CHAIN_BYTES / bytes));
    for (let i = 0, warmed = 0, timed = 0; chained.length < repeats || timed < minSeconds; i++) {
      const isTimed = i >= WARM_CHAINS && warmed >= warmUpSeconds;
      const length = isTimed || what.place === 'host' ? chain : chain + maxRetained;
      const { seconds, results } = await runChain(call, length);
      if (!isTimed) warmed += seconds * length;
      else {
        timed += seconds * length;
        chained.push(seconds);
        if (chained.length > repeats) dispose(retained.pop() ?? []); // retain the last and earlier ones
        retained.push(results.pop() ?? []);
      }
      for (const result of results) dispose(result);
      if (retained.length === maxRetained && chained.length < repeats && !(await areRight())) return wrong;
    }
    if (!(await areRight())) return wrong;

    const kernels: number[] = [];
    for (let i = 0; isOneSort && i < repeats; i++) {
      let report: SortReport | undefined;
      const onReport = (made: SortReport) => {
        report = made;
      };
      if (!(await isRight(await call({ profile: true, onReport })))) return wrong;
      const seconds = report && kernelSeconds(report);
      if (seconds) kernels.push(seconds);
    }
    return {
      ...what,
      result: 'ok',
      awaited: timing(awaited),
      chained: timing(chained),
      chain,
      ...(kernels.length === repeats && { kernel: timing(kernels) }),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ...what, result: error instanceof UnsupportedError ? 'unsupported' : 'error', reason };
  } finally {
    for (const result of retained) dispose(result);
  }
}

export interface CallRequest extends MeasureCallOptions {
  /** As for `Sorter.open`, except the host engine, which has nothing to wait for. */
  readonly device: string;
  readonly operations: readonly CallOperation[];
  readonly counts: readonly number[];
  readonly places: readonly CallPlace[];
  /** Receives each row once it is measured. */
  readonly onRow?: (row: CallRow) => void;
  /**
   * Receives the inputs of each size, and each operation's result from the host engine, before its calls are measured.
   */
  readonly onInputs?: (n: number, inputs: CallInputs<Uint32Array>) => void;
  readonly onExpected?: (operation: string, expected: readonly Uint8Array[]) => void;
}

async function uploadInputs(sorter: Sorter, { keys, values, few, indices }: CallInputs<Uint32Array>) {
  return {
    keys: await sorter.upload(keys),
    values: await sorter.upload(values),
    few: await sorter.upload(few),
    indices: await sorter.upload(indices),
  };
}

/**
 * Measures calls of each operation at each size on one device, checked against the host engine.
 *
 * @throws UsageError when an argument is invalid
 * @throws NoDeviceError when there is no such device
 */
export async function benchCalls(request: CallRequest): Promise<CallBench> {
  const { device, operations, counts, places, onRow, onInputs, onExpected, ...options } = request;
  const [load = 0] = loadavg();
  const sorter = await Sorter.open({ device });
  const host = await Sorter.open({ device: 'host' });
  try {
    const rows: CallRow[] = [];
    for (const n of counts) {
      const onHost = callInputs(n);
      onInputs?.(n, onHost);
      const onDevice = places.includes('device') ? await uploadInputs(sorter, onHost) : undefined;
      for (const operation of operations) {
        const made = operation.prepare(n);
        const expected = await bytesOfParts(await made(host, onHost));
        onExpected?.(operation.name, expected);
        for (const place of places) {
          const inputs: CallInputs = (place === 'device' && onDevice) || onHost;
          const what = { operation: operation.name, place, n };
          const call: Call = (wanted) => made(sorter, inputs, wanted);
          const row = await measureCall(what, call, expected, operation, options);
          rows.push(row);
          onRow?.(row);
        }
      }
      if (onDevice) for (const array of Object.values(onDevice)) array.dispose();
    }
    const { name, platform, driver } = sorter.device ?? { name: 'host', platform: '', driver: '' };
    const date = new Date().toISOString().slice(0, 10);
    return { schema: CALL_SCHEMA, device: name, platform, driver, date, load, rows };
  } finally {
    await Promise.all([sorter.close(), host.close()]);
  }
}

/** Returns the rows of `now` that are slower than in `before`, awaited or in a chain, or no longer correct. */
export const callRegressions = (before: Pick<CallBench, 'rows'>, now: Pick<CallBench, 'rows'>): CallRow[] =>
  slowerRows(
    before.rows,
    now.rows,
    ({ operation, place, n }) => [operation, place, n].join(' '),
    ({ awaited, chained }) => [awaited, chained],
  );
