/** The first keys of files in an order, without a sort of all of them. */

import { constants } from 'node:buffer';
import { bytesOf, newArray } from '../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../keys/dtype.js';
import type { TopKOptions } from '../sort/api/options.js';
import type { Sorter } from '../sort/api/sorter.js';
import { UsageError } from '../util/errors.js';
import type { KeyReader } from './formats/key-file.js';
import { withInputs } from './inputs.js';
import { keyGroups, writeKeys } from './key-array.js';
import { inputOptionsOf, keyTarget } from './keys.js';
import { isSameFile, withOutput } from './output.js';
import { positionDtype } from './positions.js';
import { assertNotAborted } from './raw.js';
import { type FileContext, type FileSortOptions, sortOptions } from './sort-file.js';
import type { TextReadOptions } from './text/text-options.js';

/** Of which files, and how many. */
export interface TopKJob
  extends Pick<
    FileSortOptions,
    'dtype' | 'format' | 'column' | keyof TextReadOptions | 'to' | 'nan' | 'bits' | 'argsort' | 'verify'
  > {
  /** Files, `-` for stdin; of several the keys of all. */
  readonly in: readonly string[];
  /** Result, `-` for stdout. An existing file is replaced when all is well. */
  readonly out: string;
  /** How many keys to write: all where there are fewer. */
  readonly k: number;
  /** The largest keys (default), or the smallest. */
  readonly largest?: boolean | undefined;
  /** Most bytes to take, beside what the process and readers take anyway. */
  readonly memory: number;
}

export interface TopKReport {
  /** Keys of the input. */
  readonly n: number;
  readonly written: number;
  readonly dtype: Dtype;
  readonly formats: readonly [from: string, to: string];
}

/** Keys that one call looks at: more gain nothing. */
const MAX_KEYS = 2 ** 24;
/** What a call takes for each byte of a key: its pieces, the array, and twice as much where it is sorted. */
const MEMORY_FACTOR = 6;
/** Bytes of a position, as long as it is one of some among others. */
const POSITION_BYTES = 8;

/** Bytes of memory that `k` keys of a group take. */
const memoryFor = (k: number, keyBytes: number): number =>
  2 * k * MEMORY_FACTOR * (keyBytes + POSITION_BYTES);

/** Most keys that may be kept. */
const maxKeys = (memory: number, keyBytes: number): number =>
  Math.min(Math.floor(memory / memoryFor(1, keyBytes)), Math.floor(constants.MAX_LENGTH / keyBytes));

const tooManyKeys = (k: number, { memory }: TopKJob, keyBytes: number): UsageError => {
  const minBytes = memoryFor(k, keyBytes);
  return new UsageError(
    `the ${k} first keys take ${minBytes} bytes of memory, and may take ${memory}: give it more by --memory, or sort the ` +
      'file and take its beginning',
    { details: { memory, least: minBytes } },
  );
};

/**
 * Writes the `k` largest or smallest keys of files, in order, or where they are, in memory for a part of the files. Of equal
 * keys those are taken that come first. A matrix is taken as the keys that it has.
 *
 * @throws UsageError, DtypeError, FormatError, IoError, AbortedError, and what `Sorter.topK` throws
 */
export async function topKFile(sorter: Sorter, job: TopKJob, context: FileContext): Promise<TopKReport> {
  const { in: inputs, out, k, dtype, header, delimiter, argsort = false } = job;
  if (!Number.isSafeInteger(k) || k < 0) throw new UsageError(`k is ${k}: expected a whole number from 0 on`);
  for (const input of argsort ? inputs : []) {
    if (!(await isSameFile(input, out))) continue;
    throw new UsageError('positions would replace the keys: name another output');
  }
  let report: TopKReport | undefined;
  await withInputs(inputs, context, (open) =>
    withOutput(out, context, async (output) => {
      const reader = await open(inputOptionsOf(job));
      const model = { ...reader, dtypeSaid: dtype !== undefined };
      const target = await keyTarget(out, { to: job.to, header, delimiter, signal: context.signal }, model);
      const { n, top } = await selectTop(sorter, reader, job, context);
      const positions = positionDtype(n);
      const result = argsort ? positionsOf(top.positions, positions) : top.keys;
      const written = top.keys.length;
      const facts = { n: written, shape: [written], column: reader.column };
      const what = argsort ? positions : reader.dtype;
      const writer = await target.create(output, { dtype: what, ...facts });
      await writeKeys(writer, result);
      await writer.end();
      report = { n, written, dtype: reader.dtype, formats: [reader.format, target.format] };
    }),
  );
  return report as unknown as TopKReport;
}

/** Keys in order, and where in the input they are. */
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
    // Those that come first in the input stand first, so that they are taken of equal ones.
    const both = newArray(dtype, top.keys.length + found.keys.length);
    bytesOf(both).set(bytesOf(top.keys));
    bytesOf(both).set(bytesOf(found.keys), top.keys.byteLength);
    const old = top.positions;
    const { keys: kept, indices } = await best(both);
    const at = (i: number): number => (i < old.length ? old[i] : positions[i - old.length]) as number;
    top = { keys: kept, positions: Float64Array.from(indices, at) };
  };
  for await (const keys of keyGroups(reader, count)) {
    // How many keys a pipe has shows when they come.
    if (k > maxKept && n + keys.length > maxKept) throw tooManyKeys(k, job, keyBytes);
    assertNotAborted(context.signal);
    await take(keys);
    context.onProgress?.({ phase: 'looking', done: n, total: reader.n ?? Number.NaN });
  }
  if (n === 0) await take(newArray(dtype, 0)); // so that what is wrong is told of no keys, too
  return { n, top };
}

const positionsOf = (positions: Float64Array, dtype: 'u32' | 'u64'): Uint32Array | BigUint64Array =>
  dtype === 'u64' ? BigUint64Array.from(positions, BigInt) : Uint32Array.from(positions);
