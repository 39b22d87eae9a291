/**
 * Operations on Arrow vectors: they separate nulls from keys, run the operation on the keys, and put the nulls back.
 */
import { InputError, UnsupportedError } from '../../../util/errors.js';
import { invalidArgument } from '../../../util/invalid-argument.js';
import type { ArrowVector, NullOrder, VectorOptions } from '../../model/arrow-vector.js';
import {
  requireOptionsObject,
  type SortOptions,
  type TopKOptions,
  type UniqueOptions,
} from '../../model/options.js';
import { assertOneOf, assertTop, unusableOption } from '../arguments.js';
import type { OperationMethods } from '../operations.js';
import type { UniqueColumns } from '../unique/unique.js';
import { dtypeOfType, NumberKeys } from './number-keys.js';
import { isStringType, StringKeys } from './string-keys.js';
import type { DistinctColumns, VectorKeys } from './vector-keys.js';

type Keys = VectorKeys<unknown>;

/** The operations, by name. Each receives the arguments of the method after the vector, the options last. */
const OPERATIONS = {
  async sort(keys: Keys, nullsFirst: boolean, options: SortOptions): Promise<ArrowVector> {
    const sorted = await keys.sort(options);
    const { length } = keys.nulls;
    return nullsFirst ? keys.toVector(sorted, length, 0) : keys.toVector(sorted, 0, length);
  },

  async argsort(keys: Keys, nullsFirst: boolean, options: SortOptions): Promise<Uint32Array> {
    const order = positionsOf(keys, await keys.argsort(options));
    return nullsFirst ? concatenate(keys.nulls, order) : concatenate(order, keys.nulls);
  },

  async topK(
    keys: Keys,
    nullsFirst: boolean,
    options: TopKOptions,
    k: number,
  ): Promise<{ keys: ArrowVector; indices: Uint32Array }> {
    assertTop(k, options.largest ?? true);
    const before = nullsFirst ? keys.nulls.subarray(0, k) : NONE;
    const top = await keys.topK(k - before.length, options);
    const indices = positionsOf(keys, top.indices);
    const after = nullsFirst ? NONE : keys.nulls.subarray(0, k - indices.length);
    return {
      keys: await keys.toVector(top.keys, before.length, after.length),
      indices: concatenate(concatenate(before, indices), after),
    };
  },

  /** All nulls are one key. */
  async unique(
    keys: Keys,
    nullsFirst: boolean,
    options: UniqueOptions & UniqueColumns,
  ): Promise<DistinctColumns & { readonly keys: ArrowVector }> {
    const { keys: found, counts, index, inverse } = await keys.unique(options);
    const { nulls } = keys;
    const some = nulls.length > 0 ? 1 : 0;
    const [before, after] = nullsFirst ? [some, 0] : [0, some];
    const vector = await keys.toVector(found, before, after);
    const withNull = (column: Uint32Array, ofNull: number): Uint32Array => {
      if (some === 0) return column;
      const one = Uint32Array.of(ofNull);
      return nullsFirst ? concatenate(one, column) : concatenate(column, one);
    };
    return {
      keys: vector,
      ...(counts && { counts: withNull(counts, nulls.length) }),
      ...(index && { index: withNull(positionsOf(keys, index), nulls[0] as number) }),
      ...(inverse && { inverse: scatter(keys, inverse, before, nullsFirst ? 0 : vector.length - 1) }),
    };
  },
} as const;

const NONE = new Uint32Array(0);

/**
 * Runs an operation of a Sorter on a vector.
 *
 * @param name name of the method
 * @param args arguments of the method; the first is the vector
 * @throws InputError when the operation takes no vectors
 * @throws UnsupportedError when the type of the vector is not supported
 * @throws the errors of the operation
 */
export async function runOnVector(
  sorter: OperationMethods,
  name: string,
  [vector, ...args]: readonly [ArrowVector, ...unknown[]],
): Promise<unknown> {
  const run = Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name as keyof typeof OPERATIONS] : undefined;
  if (!run) {
    throw invalidArgument(
      'keys',
      'a typed array',
      { text: 'an Arrow vector' },
      {
        type: InputError,
        advice: `Of the operations, ${Object.keys(OPERATIONS).join(', ')} take vectors; for the others pass vector.toArray() of numbers without nulls`,
      },
    );
  }
  const [k] = args;
  const options = requireOptionsObject(
    args[name === 'topK' ? 1 : 0] as VectorOptions<SortOptions> | undefined,
  );
  const { nulls = 'last', ...rest } = options as NullOrder & SortOptions;
  assertOneOf('nulls', ['first', 'last'], nulls);
  for (const own of ['dtype', 'into', 'positions']) {
    if (own in rest) throw unusableOption(own, 'vectors do not support it');
  }
  const keys = await readVector(sorter, vector, rest.signal);
  return run(keys, nulls === 'first', rest, k as number);
}

async function readVector(
  sorter: OperationMethods,
  vector: ArrowVector,
  signal: AbortSignal | undefined,
): Promise<Keys> {
  const dtype = dtypeOfType(vector.type);
  if (dtype) return NumberKeys.read(sorter, vector, dtype, signal);
  if (isStringType(vector.type)) return StringKeys.read(sorter, vector, signal);
  throw new UnsupportedError(
    `cannot sort a vector of ${vector.type}: only vectors of numbers, dates, times, strings and bytes are supported. ` +
      'Convert it with vectorFromArray(vector.toArray(), type), for a dictionary with type vector.type.dictionary',
  );
}

/** Returns the positions in the vector of keys. */
function positionsOf({ positions }: Keys, indices: Uint32Array): Uint32Array {
  return positions ? indices.map((index) => positions[index] as number) : indices;
}

function concatenate(a: Uint32Array, b: Uint32Array): Uint32Array {
  if (b.length === 0) return a;
  if (a.length === 0) return b;
  const both = new Uint32Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** Returns a number for each row of the vector: `ofKeys[i] + offset` for key i, and `ofNulls` for nulls. */
function scatter(
  { positions, nulls }: Keys,
  ofKeys: Uint32Array,
  offset: number,
  ofNulls: number,
): Uint32Array {
  if (!positions) return ofKeys;
  const rows = new Uint32Array(positions.length + nulls.length).fill(ofNulls);
  for (let i = 0; i < positions.length; i++) rows[positions[i] as number] = (ofKeys[i] as number) + offset;
  return rows;
}
