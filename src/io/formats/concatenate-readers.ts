/** Concatenates several key files into one reader. */
import { dtypeInfo } from '../../keys/dtype.js';
import { DtypeError } from '../../util/errors.js';
import { noInput } from '../streams/raw.js';
import type { FirstKeys, KeyReader } from './key-file.js';

/**
 * Returns the first of several files after checking that all hold the same dtype.
 *
 * @throws DtypeError when dtypes differ
 * @throws UsageError when there are no files
 */
export function assertOneDtype(readers: readonly KeyReader[]): KeyReader {
  const [first] = readers;
  if (!first) throw noInput();
  for (const { name, dtype } of readers) {
    if (dtype === first.dtype) continue;
    throw new DtypeError(
      `cannot combine ${first.name} with ${name}: they hold keys of different dtypes (${first.dtype} and ${dtype}). ` +
        'Read text as one dtype (--dtype f64), or combine files of one dtype',
      { details: { path: name, found: dtype, expected: first.dtype } },
    );
  }
  return first;
}

/**
 * Reads several files one after the other. Matrices with the same number of columns are stacked vertically; any other
 * files become one array of keys.
 *
 * @throws DtypeError when dtypes differ
 * @throws UsageError when there are no files
 */
export function concatenateReaders(readers: readonly KeyReader[]): KeyReader {
  const first = assertOneDtype(readers);
  if (readers.length === 1) return first;
  const n = sum(readers.map((reader) => reader.n));
  return {
    name: readers.map(({ name }) => name).join(', '),
    format: first.format,
    dtype: first.dtype,
    bigEndian: first.bigEndian,
    column: first.column,
    text: first.text,
    n,
    shape: concatenatedShape(readers, n),
    plainAt: undefined,
    readAt: concatenatedReadAt(readers),
    async *pieces() {
      for (const reader of readers) yield* reader.pieces();
    },
    first: concatenatedFirst(readers),
    async close() {
      await Promise.all(readers.map((reader) => reader.close()));
    },
  };
}

/** Returns the sum of counts; undefined when one is unknown. */
export const sum = (counts: readonly (number | undefined)[]): number | undefined =>
  counts.includes(undefined) ? undefined : counts.reduce<number>((all, n) => all + (n ?? 0), 0);

/**
 * Returns a `readAt` that reads across file boundaries; undefined when one of the files allows sequential reads only.
 */
function concatenatedReadAt(readers: readonly KeyReader[]): KeyReader['readAt'] {
  if (!readers.every(({ readAt, n }) => readAt && n !== undefined)) return undefined;
  return async (into, position) => {
    let begin = -position; // start of the file, as a byte offset in `into`
    for (const { dtype, n = 0, readAt } of readers) {
      const end = begin + n * dtypeInfo(dtype).bytes;
      const [from, to] = [Math.max(0, begin), Math.min(into.length, end)];
      if (from < to) await readAt?.(into.subarray(from, to), from - begin);
      begin = end;
    }
  };
}

/** Returns a `first` that finds the first keys of all files; undefined when one of the files has none. */
function concatenatedFirst(readers: readonly KeyReader[]): KeyReader['first'] {
  if (!readers.every(({ first }) => first)) return undefined;
  return async (request) => {
    let all: FirstKeys = { n: 0, values: new Uint8Array(0), positions: new Float64Array(0) };
    for (const { first } of readers) {
      const { n, values, positions } = await (first as NonNullable<typeof first>)(request);
      all = {
        n: all.n + n,
        values: Buffer.concat([all.values, values]),
        positions: Float64Array.of(...all.positions, ...positions.map((position) => position + all.n)),
      };
    }
    return all;
  };
}

function concatenatedShape(
  readers: readonly KeyReader[],
  n: number | undefined,
): readonly number[] | undefined {
  if (n === undefined) return undefined;
  const [width] = readers.map(({ shape }) => shape?.[1]);
  const areMatrices = width !== undefined && readers.every(({ shape }) => shape?.[1] === width);
  return areMatrices ? [sum(readers.map(({ shape }) => shape?.[0])) ?? 0, width] : [n];
}
