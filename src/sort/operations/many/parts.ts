/** Sorts many host arrays separately in one call, as segments of one array. */
import { assertAttached, dtypeOf, emptyLike, keyColumn, type MemorySource } from '../../../keys/array.js';
import type { DtypeInfo, KeyArray } from '../../../keys/dtype.js';
import { DtypeError, InputError } from '../../../util/errors.js';
import { invalidArgument } from '../../../util/invalid-argument.js';
import { runYielding, type Steps } from '../../host/steps.js';
import { assertIndexable } from '../../model/array-assertions.js';
import { type SortOptions, throwIfAborted } from '../../model/options.js';
import { HostBufferPool } from '../../transfer/host-buffer-pool.js';
import { parse } from '../arguments.js';
import type { OperationContext } from '../operation.js';
import {
  MAX_CONCURRENT_PARTS,
  MIN_POOLED_BYTES,
  MIN_THREADED_BYTES,
  PART_BYTES,
  POOLED_BUFFER_BYTES,
  STEP_ARRAYS,
  STEP_BYTES,
} from '../policy.js';

export const createPartPool = (): HostBufferPool => new HostBufferPool(POOLED_BUFFER_BYTES);

/** Copies arrays for the sort of a part. */
interface PartMemory {
  /** Source of memory for large arrays; every byte is written before a caller reads it. */
  readonly memory: MemorySource | undefined;
  /** Created by `createPartPool`. */
  readonly pool: HostBufferPool;
  /** Concatenates arrays on other threads; undefined if only this thread can copy. */
  readonly join: ((from: readonly ArrayBufferView[], to: ArrayBufferView) => Promise<void>) | undefined;
}

export const partMemory = ({ session, partPool: pool }: OperationContext): PartMemory => {
  const { results: memory, concatenateArrays: join } = session.backend.memory;
  return { memory, pool, join };
};

/** Layout of the arrays when concatenated. */
interface ArrayLayout {
  readonly arrays: readonly KeyArray[];
  readonly first: KeyArray;
  readonly info: DtypeInfo;
  /** Start of each array, then the end of the last one, in keys. */
  readonly offsets: Uint32Array;
  /** Array elements per key. */
  readonly perKey: number;
}

/** Returns a view of each segment of an array. */
export function viewsOf<A extends KeyArray>(all: A, offsets: Uint32Array, perKey: number): A[] {
  const views: A[] = new Array(offsets.length - 1);
  // `subarray` takes five times as long as creating a view, but only it returns a Buffer for a Buffer.
  const { buffer, byteOffset, BYTES_PER_ELEMENT: bytes } = all;
  const View = all.constructor as new (buffer: ArrayBufferLike, byteOffset: number, length: number) => A;
  const isBuffer = Buffer.isBuffer(all);
  for (let i = 0; i < views.length; i++) {
    const [begin, end] = [(offsets[i] as number) * perKey, (offsets[i + 1] as number) * perKey];
    const view = isBuffer
      ? all.subarray(begin, end)
      : new View(buffer, byteOffset + begin * bytes, end - begin);
    views[i] = view as A;
  }
  return views;
}

/**
 * Computes the layout of the arrays without copying them.
 *
 * @returns undefined when there are none
 * @throws UsageError, DtypeError, InputError, AbortedError, UnsupportedError
 */
export async function measureLayout(
  arrays: readonly KeyArray[],
  options: SortOptions,
): Promise<ArrayLayout | undefined> {
  const { signal, dtype } = parse(options);
  if (!Array.isArray(arrays))
    throw invalidArgument('arrays', 'a list of typed arrays', arrays, { type: InputError });
  if (arrays.length === 0) return undefined;
  const given = [...arrays] as const; // a copy, since the caller may change the list meanwhile
  const first = given[0] as KeyArray;
  dtypeOf(first, 'array 0'); // the error names it array 0
  const { info } = keyColumn(first, dtype);
  const offsets = new Uint32Array(given.length + 1);
  await runYielding(measureSteps(given, info, offsets), signal);
  return { arrays: given, first, info, offsets, perKey: info.bytes / first.BYTES_PER_ELEMENT };
}

/** Computes the start of each array in the concatenation. */
function* measureSteps(arrays: readonly KeyArray[], { bytes }: DtypeInfo, offsets: Uint32Array): Steps {
  const own = dtypeOf(arrays[0]);
  const like = Object.getPrototypeOf(arrays[0]);
  let total = 0;
  for (const [i, array] of arrays.entries()) {
    // Most arrays share a prototype, and comparing prototypes is faster than looking up the dtype.
    const dtype =
      ArrayBuffer.isView(array) && Object.getPrototypeOf(array) === like ? own : dtypeOf(array, `array ${i}`);
    if (dtype !== own) {
      throw invalidArgument(
        `array ${i}`,
        `${own}, the dtype of array 0,`,
        { text: dtype },
        { type: DtypeError },
      );
    }
    if (array.byteLength === 0) assertAttached(array, `array ${i}`); // detached arrays look empty
    const n = array.byteLength / bytes;
    if (!Number.isInteger(n)) {
      const text = `${array.byteLength} bytes`;
      throw invalidArgument(`array ${i}`, 'a whole number of keys', { text }, { type: InputError });
    }
    total += n;
    assertIndexable(total);
    offsets[i + 1] = total;
    if (i % STEP_ARRAYS === STEP_ARRAYS - 1) yield;
  }
}

/** Arrays that are sorted together. */
interface Part {
  readonly begin: number;
  readonly end: number;
  /** Start of each array, then the end of the last one, in keys of the part. */
  readonly offsets: Uint32Array;
}

/** Divides the arrays into at most `count` parts of about equally many keys. Long arrays result in fewer parts. */
function partsOf(offsets: Uint32Array, count: number): Part[] {
  const parts: Part[] = [];
  const all = offsets.at(-1) as number;
  for (let begin = 0, end = 0, part = 1; begin + 1 < offsets.length; begin = end) {
    const start = offsets[begin] as number;
    while (part < count && start >= (all * part) / count) part++;
    end = begin + 1;
    while (end + 1 < offsets.length && (part === count || (offsets[end] as number) < (all * part) / count))
      end++;
    const own = offsets.slice(begin, end + 1);
    for (let i = 0; i < own.length; i++) own[i] = (own[i] as number) - start;
    parts.push({ begin, end, offsets: own });
  }
  return parts;
}

/** Parts in flight. */
class PendingParts {
  readonly #all: Promise<void>[] = [];

  get length(): number {
    return this.#all.length;
  }

  add(part: Promise<void>): void {
    part.catch(() => undefined); // reported when it is awaited
    this.#all.push(part);
  }

  /** Waits for the oldest part. */
  async settleFirst(): Promise<void> {
    await this.#all.shift();
  }

  /** Waits for all parts, even if one fails: the caller may reuse the memory as soon as it sees the error. */
  async settleAll(): Promise<void> {
    const ends = await Promise.allSettled(this.#all);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }
}

/** Memory for the results, and the sort that fills it. */
interface OutputMemory<A> {
  /** Sorts a part, whose keys are those from `start` to `end` of all. */
  sort(keys: KeyArray, offsets: Uint32Array, start: number, end: number): Promise<unknown>;
  views(): A[];
}

/**
 * Sorts the arrays part by part. With `onReport`, `onProgress` or `timeout`, all arrays are one part.
 *
 * The result memory is allocated last, because V8 collects young objects on such an allocation if they hold tens of
 * megabytes. An earlier allocation would promote live buffers to the old generation, which takes much longer to
 * collect.
 */
export async function sortInParts<A>(
  layout: ArrayLayout,
  options: SortOptions,
  { memory, pool, join }: PartMemory,
  createResults: () => OutputMemory<A>,
): Promise<A[]> {
  const { offsets, info, first, perKey } = layout;
  const { onReport, onProgress, timeout, signal } = options;
  const isWhole = onReport !== undefined || onProgress !== undefined || timeout !== undefined;
  const all = (offsets.at(-1) as number) * info.bytes;
  const parts = partsOf(offsets, isWhole ? 1 : Math.max(1, Math.ceil(all / PART_BYTES)));
  let results: OutputMemory<A> | undefined;
  const pending = new PendingParts();
  try {
    for (const part of parts) {
      if (pending.length >= MAX_CONCURRENT_PARTS) await pending.settleFirst();
      throwIfAborted(signal);
      const elements = (part.offsets.at(-1) as number) * perKey;
      const bytes = elements * first.BYTES_PER_ELEMENT;
      const buffer = bytes >= MIN_POOLED_BYTES && bytes <= pool.bytes ? pool.take(memory) : undefined;
      const keys = emptyLike(first, elements, buffer ? () => buffer : memory).subarray(0, elements);
      const joined = await runYielding(copySteps(layout, keys, part, join), signal);
      results ??= createResults();
      const into = results;
      const sort = async () => {
        await Promise.all(joined);
        const [start, end] = [offsets[part.begin] as number, offsets[part.end] as number];
        await into.sort(keys, part.offsets, start, end);
        if (buffer) pool.give(buffer);
      };
      pending.add(sort());
    }
    const views = results?.views() ?? []; // while the last parts are sorted
    await pending.settleAll();
    return views;
  } catch (error) {
    await pending.settleAll().catch(() => undefined);
    throw error;
  }
}

/**
 * Concatenates arrays.
 *
 * @returns the copies that other threads still make
 * @throws InputError when the length of an array has changed
 */
function* copySteps(
  { arrays, offsets, perKey }: ArrayLayout,
  to: KeyArray,
  { begin, end }: Part,
  join: PartMemory['join'],
): Steps<Promise<void>[]> {
  const at = (i: number): number => ((offsets[i] as number) - (offsets[begin] as number)) * perKey;
  const joined: Promise<void>[] = [];
  for (let i = begin; i < end; i += STEP_ARRAYS) {
    const stop = Math.min(end, i + STEP_ARRAYS);
    const some = arrays.slice(i, stop);
    for (const [j, { length }] of some.entries()) {
      if (length === at(i + j + 1) - at(i + j)) continue;
      throw new InputError(
        `cannot read array ${i + j}: its length changed during the call, or it was transferred`,
      );
    }
    const target = to.subarray(at(i), at(stop));
    if (join && target.byteLength >= some.length * MIN_THREADED_BYTES) {
      const copied = join(some, target);
      copied.catch(() => undefined); // reported when it is awaited
      joined.push(copied);
    } else yield* concatenateSteps(some, target);
    yield;
  }
  return joined;
}

/** Concatenates arrays on this thread. */
function* concatenateSteps(arrays: readonly KeyArray[], to: KeyArray): Steps {
  let at = 0;
  let bytesSinceYield = 0;
  for (const array of arrays) {
    // All arrays have one type, which the compiler cannot know.
    to.set(array as never, at);
    at += array.length;
    bytesSinceYield += array.byteLength;
    if (bytesSinceYield < STEP_BYTES) continue;
    bytesSinceYield = 0;
    yield;
  }
}
