import { emptyLike } from '../../../keys/array.js';
import { DTYPES, type Dtype, type KeyArray } from '../../../keys/dtype.js';
import { InputError } from '../../../util/errors.js';
import { inSlices, runYielding, type Steps } from '../../host/steps.js';
import { type ArrowChunk, type ArrowVector, chunksOf, makeVector } from '../../model/arrow-vector.js';
import type { SortOptions, TopKOptions, UniqueOptions } from '../../model/options.js';
import type { OperationMethods } from '../operations.js';
import type { UniqueColumns } from '../unique/unique.js';
import { isValid, nullBitmap, splitNulls } from './nulls.js';
import type { DistinctColumns, VectorKeys } from './vector-keys.js';

/** Identifiers of Arrow's types of fixed width whose values are numbers. */
const TYPE = { int: 2, float: 3, date: 8, time: 9, timestamp: 10, duration: 18 } as const;
const UNITS_OF_64_BITS: ReadonlySet<number> = new Set([TYPE.timestamp, TYPE.duration]);
/** Bits of Arrow's precisions: half, single, double. */
const PRECISION_BITS = [16, 32, 64];

interface NumberType {
  readonly typeId: number;
  readonly isSigned?: boolean;
  readonly bitWidth?: number;
  readonly precision?: number;
  readonly unit?: number;
}

/** Returns the dtype of the values of an Arrow type; undefined if they are no numbers. Dates and times are integers. */
export function dtypeOfType(type: NumberType): Dtype | undefined {
  const name = () => {
    if (type.typeId === TYPE.int) return `${type.isSigned ? 'i' : 'u'}${type.bitWidth}`;
    if (type.typeId === TYPE.float) return `f${PRECISION_BITS[type.precision ?? -1]}`;
    if (type.typeId === TYPE.date) return type.unit === 0 ? 'i32' : 'i64';
    if (type.typeId === TYPE.time) return `i${type.bitWidth}`;
    return UNITS_OF_64_BITS.has(type.typeId) ? 'i64' : undefined;
  };
  const dtype = name();
  return DTYPES.find((one) => one === dtype);
}

/** The keys of a vector of numbers. Without nulls and in one chunk they are the memory of the vector. */
export class NumberKeys implements VectorKeys<KeyArray> {
  static async read(
    sorter: OperationMethods,
    vector: ArrowVector,
    dtype: Dtype,
    signal: AbortSignal | undefined,
  ): Promise<NumberKeys> {
    const { nulls, others } =
      vector.nullCount === 0 ? NO_NULLS : await runYielding(splitNulls(vector), signal);
    const keys = await runYielding(keysOf(vector), signal);
    return new NumberKeys(sorter, vector, dtype, keys, nulls, others);
  }

  readonly #sorter: OperationMethods;
  readonly #vector: ArrowVector;
  readonly #dtype: Dtype;
  readonly #keys: KeyArray;
  readonly nulls: Uint32Array;
  readonly positions: Uint32Array | undefined;

  private constructor(
    sorter: OperationMethods,
    vector: ArrowVector,
    dtype: Dtype,
    keys: KeyArray,
    nulls: Uint32Array,
    positions: Uint32Array | undefined,
  ) {
    this.#sorter = sorter;
    this.#vector = vector;
    this.#dtype = dtype;
    this.#keys = keys;
    this.nulls = nulls;
    this.positions = positions;
  }

  sort(options: SortOptions): Promise<KeyArray> {
    return this.#sorter.sort(this.#keys, { ...options, dtype: this.#dtype });
  }

  argsort(options: SortOptions): Promise<Uint32Array> {
    return this.#sorter.argsort(this.#keys, { ...options, dtype: this.#dtype });
  }

  topK(k: number, options: TopKOptions): Promise<{ keys: KeyArray; indices: Uint32Array }> {
    return this.#sorter.topK(this.#keys, k, { ...options, dtype: this.#dtype });
  }

  unique(options: UniqueOptions & UniqueColumns): Promise<DistinctColumns & { readonly keys: KeyArray }> {
    return this.#sorter.unique(this.#keys, { ...options, dtype: this.#dtype });
  }

  toVector(keys: KeyArray, nullsBefore: number, nullsAfter: number): ArrowVector {
    const [begin, end] = [nullsBefore, nullsBefore + keys.length];
    const n = end + nullsAfter;
    let values = keys;
    if (keys.length < n) {
      values = emptyLike(keys, n);
      wordsOf(values).fill(0);
      values.set(keys as never, begin);
    }
    const [chunk] = chunksOf(this.#vector) as readonly [ArrowChunk];
    const buffers = [undefined, values, nullBitmap(n, begin, end)];
    return makeVector(this.#vector, [chunk.clone(chunk.type, 0, n, n - keys.length, buffers)]);
  }
}

const NO_NULLS = { nulls: new Uint32Array(0), others: undefined };

/** @throws InputError when a chunk has fewer values than rows */
function valuesOf({ values, length }: ArrowChunk): KeyArray {
  if (values.length >= length) return (values as KeyArray).subarray(0, length);
  throw new InputError(`cannot read the vector: a chunk of ${length} rows has only ${values.length} values`);
}

/** Returns the numbers of a vector that are not null. */
function* keysOf(vector: ArrowVector): Steps<KeyArray> {
  const chunks = chunksOf(vector);
  const [first, ...others] = chunks as readonly [ArrowChunk];
  if (others.length === 0 && vector.nullCount === 0) return valuesOf(first);
  const keys = emptyLike(first.values as KeyArray, vector.length - vector.nullCount);
  let at = 0;
  for (const chunk of chunks) {
    if (chunk.nullCount === chunk.length) continue;
    const values = valuesOf(chunk);
    if (chunk.nullCount === 0) {
      keys.set(values as never, at);
      at += chunk.length;
    } else {
      at = yield* copyValid(chunk, values, keys, at);
    }
  }
  return keys;
}

/** Copies values that are not null to `keys` from `at` on, and returns the end. Copies bits: floats stay as they are. */
function* copyValid(chunk: ArrowChunk, values: KeyArray, keys: KeyArray, at: number): Steps<number> {
  const [from, to] = [wordsOf(values), wordsOf(keys)];
  const isPair = values.BYTES_PER_ELEMENT === 8;
  let end = at;
  yield* inSlices(chunk.length, (start, stop) => {
    for (let row = start; row < stop; row++) {
      if (!isValid(chunk, row)) continue;
      if (isPair) {
        to[2 * end] = from[2 * row] as number;
        to[2 * end + 1] = from[2 * row + 1] as number;
      } else to[end] = from[row] as number;
      end++;
    }
  });
  return end;
}

/** Returns the memory of an array as unsigned words of its elements' width, 64-bit ones as two. */
function wordsOf({
  buffer,
  byteOffset,
  byteLength,
  BYTES_PER_ELEMENT,
}: KeyArray): Uint8Array | Uint16Array | Uint32Array {
  if (BYTES_PER_ELEMENT === 1) return new Uint8Array(buffer, byteOffset, byteLength);
  if (BYTES_PER_ELEMENT === 2) return new Uint16Array(buffer, byteOffset, byteLength / 2);
  return new Uint32Array(buffer, byteOffset, byteLength / 4);
}
