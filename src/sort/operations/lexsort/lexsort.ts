import type { KeyArray } from '../../../keys/dtype.js';
import { keyCodec } from '../../../keys/key-codec.js';
import { InputError } from '../../../util/errors.js';
import { invalidArgument } from '../../../util/invalid-argument.js';
import type { Keys } from '../../calls/array-store.js';
import type { Call, Sort } from '../../calls/call.js';
import { isPromise } from '../../calls/call-scheduler.js';
import { assertIndexable, assertSameLengths } from '../../model/array-assertions.js';
import { type Column, column } from '../../model/column.js';
import { DeviceArray } from '../../model/device-array.js';
import type { LexsortColumn, LexsortOptions, SortSettings } from '../../model/options.js';
import { parseColumnOptions } from '../../model/parse-options.js';
import { ShardedArray } from '../../model/sharded-array.js';
import { type Awaitable, parse, readKeys } from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { OperationContext } from '../operation.js';

/** A column of rows, with its own order or that of the options. */
export type RowColumn<K extends Keys> = Awaitable<K> | LexsortColumn<Awaitable<K>>;

export interface Lexsort {
  /**
   * Returns the positions of rows in lexicographic order of their columns: `result[0]` is the position of the first
   * row.
   *
   * Stable. Keys are compared as numbers: all NaNs are equal, and −0 equals +0. One sort handles adjacent columns that
   * have up to 64 bits together; the columns are sorted from the last to the first.
   *
   * @param columns arrays of the same length, the most significant first; or `{ keys, descending, nan, dtype }` for a
   *   column with its own order
   * @param options `descending` and `nan` for columns without an order of their own, and how to run
   * @returns positions as u32, where the columns are
   * @throws InputError when the lengths differ, or there is no column
   * @throws UnsupportedError for 2^32 rows or more
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const order = await sorter.lexsort([years, { keys: prices, descending: true }]);
   * ```
   */
  lexsort(columns: readonly RowColumn<KeyArray>[], options?: LexsortOptions): Promise<Uint32Array>;
  /** Returns the positions of rows whose columns are device arrays, as a device array. */
  lexsort(columns: readonly RowColumn<DeviceArray>[], options?: LexsortOptions): Promise<DeviceArray<'u32'>>;
}

/**
 * Returns the positions of rows in lexicographic order of their columns: `result[0]` is the position of the first row.
 * Stable; all NaNs are equal, and −0 equals +0.
 *
 *     await lexsort([year, { keys: price, descending: true }]);
 *
 * @param columns typed arrays of the same length, the most significant first; or `{ keys, descending, nan, dtype }` for
 *   a column with its own order
 * @param options `descending` and `nan` for columns without an order of their own, `device`, and how to run
 * @returns positions as 32-bit numbers
 * @throws InputError when the lengths differ, or there is no column
 * @throws UnsupportedError for 2^32 rows or more
 * @throws the other errors of `sort`
 */
export function lexsort(
  columns: readonly (KeyArray | LexsortColumn<KeyArray>)[],
  options?: LexsortOptions,
): Promise<Uint32Array> {
  return withSorter(options, (sorter: Lexsort, rest) => sorter.lexsort(columns, rest));
}

export function runLexsort(
  { calls, arrays }: OperationContext,
  columns: readonly RowColumn<Keys>[],
  options?: LexsortOptions,
): Promise<never> {
  // A wrong argument rejects the promise, as every other error does.
  const all = Array.isArray(columns) ? columns.map(columnOf) : undefined;
  return calls.runWithInputs(all?.map(({ keys }) => keys) ?? [], (dependency) => {
    if (!all) throw invalidArgument('columns', 'a list of arrays', columns, { type: InputError });
    const settings = parse(options, ['bitRange', 'dtype']);
    const parsed = all.map(({ keys, ...own }): { like: Keys; column: LexColumn } => {
      const order = parse({ ...pick(settings), ...parseColumnOptions(own) });
      const like = dependency.resolveInput(keys);
      return { like, column: { keys: readKeys(arrays, like, order), order: pick(order) } };
    });
    const [first] = parsed;
    if (!first) throw invalidArgument('columns', 'at least one column', all, { type: InputError });
    const { n } = first.column.keys;
    assertSameLengths(parsed.map(({ column: { keys } }) => keys.n));
    assertIndexable(n);
    return arrays.withResults(async (make) => {
      const moved = make.allocateBeside(first.like, 'u32', n);
      dependency.setResult(moved.result);
      if (n > 0) {
        const onHost = !parsed.some((one) => one.like instanceof DeviceArray);
        const rows = parsed.map((one) => one.column);
        await calls.execute({ n, settings, dependency, onHost, again: onHost }, async (call) => {
          await enqueueLexsort(call, rows, column('u32', n, moved.place));
          return () => undefined;
        });
      }
      return moved.result as never;
    });
  });
}

const isArray = (one: unknown): one is Keys =>
  ArrayBuffer.isView(one) || one instanceof DeviceArray || one instanceof ShardedArray;

/** Returns a column with its order; a bare array has no order of its own, and any other value has no keys. */
const columnOf = (one: RowColumn<Keys> | null | undefined): LexsortColumn<Awaitable<Keys>> =>
  isArray(one) || isPromise(one) ? { keys: one } : ((one ?? {}) as LexsortColumn<Awaitable<Keys>>);

const pick = ({ descending, nan }: SortSettings): LexColumn['order'] => ({ descending, nan });

/** A column of a lexicographic sort. */
export interface LexColumn {
  readonly keys: Column;
  /** Direction of the column, and place of its NaNs. */
  readonly order: Pick<SortSettings, 'descending' | 'nan'>;
}

/** Bits of the widest sortable key. */
const MAX_PACKED_BITS = 64;

/**
 * Sorts rows by several columns, with stable sorts of positions from the last column to the first. Adjacent columns
 * that fit into one key are sorted together.
 *
 * Keys are compared as numbers: all NaNs are equal, and so are both zeros.
 *
 * @param columns the most significant first; at least one, all of n keys
 * @param moved receives the positions of the rows in order; u32
 */
export async function enqueueLexsort(
  call: Call,
  columns: readonly LexColumn[],
  moved: Column,
): Promise<void> {
  let positions: Column | undefined;
  const keys = packColumns(columns);
  await prepareSorts(call, keys, moved.n);
  for (const [index, packedColumns] of [...keys.entries()].reverse()) {
    const { column, settings } = await (packedColumns.length > 1
      ? concatenateCodes(call, packedColumns)
      : canonicalColumn(call, packedColumns));
    let ordered = column;
    if (positions) {
      ordered = call.columns.temporary(column.dtype, column.n);
      await call.columns.kernels.gather(column, positions, ordered);
    }
    const next = index === 0 ? moved : call.columns.temporary('u32', column.n);
    await call.sort({
      keys: ordered,
      settings,
      ...(positions && { values: { place: positions.place, bytes: 4 } }),
      moved: next.place,
    });
    positions = next;
  }
}

/** Compiles the programs of the sorts and of the steps between them. */
async function prepareSorts(call: Call, keys: readonly LexColumn[][], n: number): Promise<void> {
  const { kernels } = call.columns;
  const [last, ...others] = [...keys].reverse();
  const sortOf = (packed: readonly LexColumn[], none: Column, values?: Sort['values']): Sort => {
    const { dtype, settings } = passOf(packed);
    return { keys: column(dtype, n, none.place), settings, moved: none.place, ...(values && { values }) };
  };
  const anyColumn = call.columns.temporary('u32', 0);
  await call.prepare(sortOf(last as LexColumn[], anyColumn), (none) => [
    ...keys.flatMap((packed) =>
      packed.map(({ keys: { dtype }, order }) => {
        const noKeys = none(dtype);
        if (packed.length === 1) return kernels.canonical(noKeys, noKeys);
        return kernels.appendCodes(noKeys, keyCodec(dtype, order), none(passOf(packed).dtype), 0, true);
      }),
    ),
    ...others.flatMap((packed) => {
      const [noKeys, noWords] = [none(passOf(packed).dtype), none('u32')];
      const values = { place: noWords.place, bytes: 4 };
      return [kernels.gather(noKeys, noWords, noKeys), call.canSort(sortOf(packed, noKeys, values))];
    }),
  ]);
}

/** Groups adjacent columns of up to 64 bits together, into as few groups as that permits. */
export function packColumns(columns: readonly LexColumn[]): LexColumn[][] {
  const groups: LexColumn[][] = [];
  let bits = MAX_PACKED_BITS + 1;
  for (const one of columns) {
    const { width } = one.keys.info;
    if (bits + width > MAX_PACKED_BITS) {
      groups.push([]);
      bits = 0;
    }
    groups.at(-1)?.push(one);
    bits += width;
  }
  return groups;
}

type SortPass = { readonly column: Column; readonly settings: NonNullable<Sort['settings']> };

/** Returns the dtype of the key of some columns, and the settings of its sort. */
function passOf(packed: readonly LexColumn[]): Pick<SortPass, 'settings'> & Pick<Column, 'dtype'> {
  const [first] = packed as readonly [LexColumn];
  if (packed.length === 1) return { dtype: first.keys.dtype, settings: first.order };
  const total = packed.reduce((sum, { keys }) => sum + keys.info.width, 0);
  return {
    dtype: total > 32 ? 'u64' : 'u32',
    settings: { descending: false, nan: 'last', bits: [0, total] },
  };
}

async function canonicalColumn(call: Call, [only]: readonly LexColumn[]): Promise<SortPass> {
  const { keys, order } = only as LexColumn;
  const canonical = call.columns.temporary(keys.dtype, keys.n);
  const input = await call.bindInput(keys);
  await call.columns.kernels.canonical(input, canonical);
  return { column: canonical, settings: order };
}

/** Concatenates the codes of several columns, the first column in the highest bits. */
async function concatenateCodes(call: Call, packedColumns: readonly LexColumn[]): Promise<SortPass> {
  const { dtype, settings } = passOf(packedColumns);
  const column = call.columns.temporary(dtype, (packedColumns[0] as LexColumn).keys.n);
  let shift = packedColumns.reduce((sum, { keys }) => sum + keys.info.width, 0);
  for (const [i, { keys, order }] of packedColumns.entries()) {
    shift -= keys.info.width;
    const input = await call.bindInput(keys);
    await call.columns.kernels.appendCodes(input, keyCodec(keys.dtype, order), column, shift, i === 0);
  }
  return { column, settings };
}
