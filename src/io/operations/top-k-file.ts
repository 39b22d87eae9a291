/** Top-k selection in files, without sorting them. */

import { constants } from 'node:buffer';
import { bytesOf, newArray } from '../../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../../keys/dtype.js';
import type { Sorter } from '../../sort/api/sorter.js';
import type { TopKOptions } from '../../sort/model/options.js';
import type { UsageError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { insufficientMemory } from '../external/budget.js';
import { type FileContext, type FileJob, sortOptions } from '../file-sort/file-job.js';
import { positionDtype } from '../file-sort/positions.js';
import { withInputs } from '../formats/inputs.js';
import { keyGroups, writeKeys } from '../formats/key-array.js';
import type { KeyReader, KeyWriter } from '../formats/key-file.js';
import { inputOptionsOf, targetOf } from '../formats/keys.js';
import { MAX_FIRST_ROWS } from '../formats/tables/policy.js';
import type { TextReadOptions } from '../formats/text/text-options.js';
import { withOutput } from '../streams/output.js';
import { assertNotAborted } from '../streams/raw.js';
import { assertSeparate } from '../streams/same-file.js';
import { MAX_KEYS, MEMORY_FACTOR } from './policy.js';

/** A top-k selection: inputs, output and options. */
export interface TopKJob
  extends Pick<
    FileJob,
    | 'dtype'
    | 'format'
    | 'column'
    | keyof TextReadOptions
    | 'to'
    | 'out'
    | 'nan'
    | 'bits'
    | 'argsort'
    | 'verify'
  > {
  /** Paths, `-` for stdin; several files are concatenated. */
  readonly in: readonly string[];
  /** Number of keys to write; all keys when there are fewer. */
  readonly k: number;
  /** Select the largest keys (default) or the smallest. */
  readonly largest?: boolean | undefined;
  /** Memory limit in bytes, in addition to what the process and readers use anyway. */
  readonly memory: number;
}

export interface TopKReport {
  /** Number of keys in the input. */
  readonly n: number;
  readonly written: number;
  readonly dtype: Dtype;
  readonly formats: readonly [from: string, to: string];
}

/** Bytes of a position during the selection. */
const POSITION_BYTES = 8;

const memoryFor = (k: number, keyBytes: number): number =>
  2 * k * MEMORY_FACTOR * (keyBytes + POSITION_BYTES);

/** Returns the maximum number of keys that can be held. */
const maxKeys = (memory: number, keyBytes: number): number =>
  Math.min(Math.floor(memory / memoryFor(1, keyBytes)), Math.floor(constants.MAX_LENGTH / keyBytes));

const tooManyKeys = (k: number, { memory }: TopKJob, keyBytes: number): UsageError => {
  const minBytes = memoryFor(k, keyBytes);
  return insufficientMemory(`select the first ${k} keys`, memory, minBytes);
};

/**
 * Writes the `k` largest or smallest keys of files in order, or their positions. Holds a part of the files in memory.
 * Of equal keys, those that come first are selected. A matrix is treated as one array.
 *
 * @param sorter selects the keys
 * @param job inputs, output and options
 * @param context streams and callbacks
 * @throws UsageError when an option is invalid or `k` keys exceed the memory limit
 * @throws DtypeError when the dtype is missing or contradicts the file
 * @throws FormatError when a file is not valid in its format
 * @throws IoError when reading or writing fails
 * @throws AbortedError when the signal aborts
 * @throws the errors of `Sorter.topK`
 */
export async function topKFile(sorter: Sorter, job: TopKJob, context: FileContext): Promise<TopKReport> {
  const { in: inputs, out, k, argsort = false } = job;
  if (!Number.isSafeInteger(k) || k < 0) throw invalidArgument('k', 'a whole number, 0 or more,', k);
  if (argsort) await assertSeparate('positions', out, inputs);
  return withInputs(inputs, context, (open) =>
    withOutput(out, context, async (output) => {
      const reader = await open(inputOptionsOf(job));
      const target = await targetOf(reader, out, { ...job, verify: false, signal: context.signal });
      const start = (count: number): Promise<KeyWriter> => {
        const written = Math.min(k, count);
        const dtype = argsort ? positionDtype(count) : reader.dtype;
        return target.create(output, { n: written, shape: [written], dtype, column: reader.column });
      };
      // The process that writes a table starts while keys are read.
      const started = reader.n === undefined ? undefined : await start(reader.n);
      const { n, top } = await selectTop(sorter, reader, job, context);
      const writer = started ?? (await start(n));
      await writeKeys(writer, argsort ? positionsOf(top.positions, positionDtype(n)) : top.keys);
      await writer.end();
      const written = top.keys.length;
      return { n, written, dtype: reader.dtype, formats: [reader.format, target.format] };
    }),
  );
}

/** Selected keys in order, and their positions in the input. */
interface Top {
  readonly keys: KeyArray;
  readonly positions: Float64Array;
}

async function selectTop(
  sorter: Sorter,
  reader: KeyReader,
  job: TopKJob,
  context: FileContext,
): Promise<{ readonly n: number; readonly top: Top }> {
  const { dtype } = reader;
  const { largest = true, nan, bits, verify } = job;
  const keyBytes = dtypeInfo(dtype).bytes;
  const k = Math.min(job.k, reader.n ?? Number.POSITIVE_INFINITY);
  const maxKept = maxKeys(job.memory, keyBytes);
  if (maxKept < 1 || (reader.n !== undefined && k > maxKept)) throw tooManyKeys(k, job, keyBytes);
  const count = Math.max(Math.min(MAX_KEYS, maxKept), Math.min(k, maxKept));
  const options = { ...sortOptions({ nan, bits, verify }, context), dtype, largest } as TopKOptions;
  if (reader.first && !verify && bits === undefined && k <= Math.min(maxKept, MAX_FIRST_ROWS)) {
    const { n, values, positions } = await reader.first({
      count: k,
      descending: largest,
      nan: nan ?? 'last',
    });
    assertNotAborted(context.signal);
    const found = newArray(dtype, positions.length);
    bytesOf(found).set(values);
    const { keys, indices } = await sorter.topK<KeyArray>(found, k, options);
    return {
      n,
      top: { keys, positions: Float64Array.from(indices as Uint32Array, (i) => positions[i] as number) },
    };
  }
  const best = async (keys: KeyArray): Promise<{ keys: KeyArray; indices: Uint32Array }> => {
    const found = await sorter.topK<KeyArray>(keys, k, options);
    return { keys: found.keys, indices: found.indices as Uint32Array };
  };
  let top: Top = { keys: newArray(dtype, 0), positions: new Float64Array(0) };
  let n = 0;
  const take = async (keys: KeyArray): Promise<void> => {
    const found = await best(keys);
    const positions = Float64Array.from(found.indices, (index) => index + n);
    n += keys.length;
    if (top.keys.length === 0) {
      top = { keys: found.keys, positions };
      return;
    }
    // Earlier keys go first, so that they win among equal keys.
    const both = newArray(dtype, top.keys.length + found.keys.length);
    bytesOf(both).set(bytesOf(top.keys));
    bytesOf(both).set(bytesOf(found.keys), top.keys.byteLength);
    const old = top.positions;
    const { keys: kept, indices } = await best(both);
    const at = (i: number): number => (i < old.length ? old[i] : positions[i - old.length]) as number;
    top = { keys: kept, positions: Float64Array.from(indices, at) };
  };
  for await (const keys of keyGroups(reader, count)) {
    // The number of keys of a pipe is not known in advance.
    if (k > maxKept && n + keys.length > maxKept) throw tooManyKeys(k, job, keyBytes);
    assertNotAborted(context.signal);
    await take(keys);
    context.onProgress?.({ phase: 'looking', done: n, total: reader.n ?? Number.NaN });
  }
  if (n === 0) await take(newArray(dtype, 0)); // so that invalid options raise an error for empty files
  return { n, top };
}

const positionsOf = (positions: Float64Array, dtype: 'u32' | 'u64'): Uint32Array | BigUint64Array =>
  dtype === 'u64' ? BigUint64Array.from(positions, BigInt) : Uint32Array.from(positions);
