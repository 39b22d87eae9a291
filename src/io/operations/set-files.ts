/** Set operations on the keys of two files. */

import { newArray } from '../../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../../keys/dtype.js';
import type { Sorter } from '../../sort/api/sorter.js';
import type { UsageError } from '../../util/errors.js';
import { insufficientMemory } from '../external/budget.js';
import { type FileContext, type FileJob, sortOptions } from '../file-sort/file-job.js';
import { assertOneDtype, sum } from '../formats/concatenate-readers.js';
import { withReaders } from '../formats/inputs.js';
import { keyGroups, readKeys } from '../formats/key-array.js';
import type { KeyReader } from '../formats/key-file.js';
import { inputOptionsOf, targetOf, writeKeyFile } from '../formats/keys.js';
import type { TextReadOptions } from '../formats/text/text-options.js';
import { withOutput } from '../streams/output.js';
import { assertNotAborted } from '../streams/raw.js';
import { MEMORY_FACTOR, POSITION_COPIES } from './policy.js';

/** Operations on two sets, as the library names them. */
export type SetOperation = 'intersect' | 'union' | 'difference' | 'setXor';

/** A set operation: inputs, output and options. */
export interface SetJob
  extends Pick<
    FileJob,
    'dtype' | 'format' | 'column' | keyof TextReadOptions | 'to' | 'out' | 'descending' | 'nan' | 'verify'
  > {
  readonly operation: SetOperation;
  /** Paths of two files, `-` for stdin. */
  readonly in: readonly [a: string, b: string];
  /** Memory limit in bytes, in addition to what the process and readers use anyway. */
  readonly memory: number;
}

/** Report of a set operation. */
export interface SetReport {
  /** Numbers of keys read. */
  readonly n: readonly [a: number, b: number];
  /** Number of keys written. */
  readonly written: number;
  readonly dtype: Dtype;
  readonly formats: readonly [from: string, to: string];
}

const POSITION_BYTES = 4;

/** Returns the memory in bytes for `n` keys of both files together. */
const memoryFor = (n: number, keyBytes: number): number =>
  n * (MEMORY_FACTOR * keyBytes + POSITION_COPIES * POSITION_BYTES);

/**
 * Writes the distinct keys of two files that a set operation selects, in order. Keys are compared as numbers: all NaNs
 * are equal, and −0 equals +0. Each result is the first of its equals in the first file, otherwise in the second. Both
 * files are held in memory.
 *
 * @param sorter computes the result
 * @param job operation, inputs, output and options
 * @param context streams and callbacks
 * @throws UsageError when an option is invalid or memory does not suffice
 * @throws DtypeError when dtypes differ or are unknown
 * @throws FormatError when a file is not valid in its format
 * @throws IoError when reading or writing fails
 * @throws AbortedError when the signal aborts
 * @throws the errors of `Sorter.intersect`
 */
export const combineFiles = (sorter: Sorter, job: SetJob, context: FileContext): Promise<SetReport> =>
  withReaders(job.in, context, (open) =>
    withOutput(job.out, context, async (output) => {
      const { operation, descending, nan, verify, out } = job;
      const readers = await open(inputOptionsOf(job));
      const first = assertOneDtype(readers);
      const { dtype, column, format } = first;
      const target = await targetOf(first, out, { ...job, signal: context.signal });
      const [a, b] = await readBoth(readers as [KeyReader, KeyReader], job);
      assertNotAborted(context.signal);
      const options = { ...sortOptions({ descending, nan, verify }, context), dtype };
      const found = await sorter[operation]<KeyArray>(a, b, options);
      await writeKeyFile(target, output, found, { dtype, column });
      return {
        ...{ n: [a.length, b.length], written: found.length, dtype },
        formats: [format, target.format],
      };
    }),
  );

/** Reads the keys of both files. */
async function readBoth(
  readers: readonly [KeyReader, KeyReader],
  { operation, memory }: SetJob,
): Promise<readonly [KeyArray, KeyArray]> {
  const [first, second] = readers;
  const keyBytes = dtypeInfo(first.dtype).bytes;
  const maxKeys = Math.floor(memory / memoryFor(1, keyBytes));
  const tooMany = (n: number): UsageError =>
    insufficientMemory(`compute ${operation} of ${n} keys or more`, memory, memoryFor(n, keyBytes));
  const n = sum(readers.map((reader) => reader.n));
  if (n !== undefined && n > maxKeys) throw tooMany(n);
  const a = await readLimited(first, maxKeys, tooMany);
  const b = await readLimited(second, maxKeys - a.length, (keys) => tooMany(a.length + keys));
  return [a, b];
}

/**
 * Reads all keys, whose number is not known in advance if they come from a pipe or a text.
 *
 * @throws the error of `tooMany` for more than `maxKeys` keys
 */
async function readLimited(
  reader: KeyReader,
  maxKeys: number,
  tooMany: (n: number) => UsageError,
): Promise<KeyArray> {
  if (reader.n !== undefined) return readKeys(reader);
  let keys: KeyArray = newArray(reader.dtype, 0);
  for await (const group of keyGroups(reader, Math.max(1, maxKeys))) {
    if (keys.length > 0) throw tooMany(keys.length + group.length);
    keys = group;
  }
  return keys;
}
