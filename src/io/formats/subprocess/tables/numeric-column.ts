/** A numeric column of a Parquet file whose values this process decodes. */
import { setImmediate } from 'node:timers/promises';
import { type Dtype, dtypeInfo } from '../../../../keys/dtype.js';
import { loadTableFunctions, tableFunctions } from '../../../../sort/host/native-tables.js';
import { type Allocate, ReusedMemory, uncleared } from '../../../../util/uncleared.js';
import type { ByteSource } from '../byte-source.js';
import { ParquetFooter, type RowGroup } from './parquet-footer.js';
import { type PlacedGroup, placedGroups, searchedGroups } from './parquet-groups.js';
import { decodeChunks, isDecodable } from './parquet-numbers.js';
import type { NumberedRecord, Search } from './record-batches.js';

/** Dtypes of physical types with their logical types. */
export const DTYPES: Readonly<Record<string, Dtype>> = {
  INT32: 'i32',
  'INT32 INT_32': 'i32',
  'INT32 UINT_32': 'u32',
  INT64: 'i64',
  'INT64 INT_64': 'i64',
  'INT64 UINT_64': 'u64',
  FLOAT: 'f32',
  DOUBLE: 'f64',
};

/** Row groups that are decoded together: one for each of several threads. */
const GROUPS = 8;

export class NumericColumn {
  readonly name: string;
  readonly dtype: Dtype;
  readonly rows: number;
  readonly #source: ByteSource;
  readonly #index: number;
  readonly #isRequired: boolean;
  readonly #groups: readonly PlacedGroup[];

  private constructor(
    source: ByteSource,
    index: number,
    {
      name,
      dtype,
      groups,
      isRequired,
    }: { name: string; dtype: Dtype; groups: readonly RowGroup[]; isRequired: boolean },
  ) {
    this.name = name;
    this.dtype = dtype;
    this.rows = groups.reduce((sum, { rows }) => sum + rows, 0);
    this.#source = source;
    this.#index = index;
    this.#isRequired = isRequired;
    this.#groups = placedGroups(groups);
  }

  /**
   * Opens a column.
   *
   * @param indexOf returns the index of the column by the names of all columns
   * @returns undefined if this process cannot decode the column, or the file contradicts itself
   * @throws FormatError when the file is damaged
   */
  static async open(
    source: ByteSource,
    indexOf: (names: readonly string[]) => number,
  ): Promise<NumericColumn | undefined> {
    const { footer } = ParquetFooter.read(source);
    const { columns } = footer;
    const index = indexOf(columns.map(({ name }) => name));
    const column = columns[index];
    const [found, ...others] = column?.leaves ?? [];
    if (!column || !found || others.length > 0) return undefined;
    const leaf = columns.slice(0, index).flatMap(({ leaves }) => leaves).length;
    const dtype = DTYPES[[found.physical, found.logical ?? []].flat().join(' ')];
    if (!dtype) return undefined;
    const groups = footer.rowGroups;
    if (!groups.every((group) => hasSimpleChunk(group, leaf, source))) return undefined;
    await loadTableFunctions();
    if (!tableFunctions()) return undefined;
    const { name } = column;
    const opened = new NumericColumn(source, leaf, { name, dtype, groups, isRequired: found.isRequired });
    return opened.rows === footer.rows ? opened : undefined;
  }

  /**
   * Yields the values of row groups that a search does not exclude. The event loop runs in between. The memory of a record
   * is overwritten after the next one is requested.
   *
   * @throws FormatError when a page is damaged, has nulls or an unusual encoding
   */
  async *search(search: Search): AsyncGenerator<NumberedRecord> {
    const type = { is: this.dtype };
    const memory = new ReusedMemory();
    let some: PlacedGroup[] = [];
    for (const place of searchedGroups(this.#groups, { leaf: this.#index, type }, search)) {
      some.push(place);
      if (some.length < GROUPS) continue;
      yield* this.#records(some, memory);
      await setImmediate();
      some = [];
    }
    yield* this.#records(some, memory);
  }

  /**
   * Yields all values in order, as little-endian bytes. The event loop runs in between.
   *
   * @throws FormatError as `search` does
   */
  async *pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < this.#groups.length; at += GROUPS) {
      yield* this.#values(this.#groups.slice(at, at + GROUPS), uncleared);
      await setImmediate();
    }
  }

  /** Returns the values of each row group. */
  #values(places: readonly PlacedGroup[], allocate: Allocate): Uint8Array[] {
    const native = tableFunctions();
    if (!native) throw new Error('the addon is not loaded');
    const chunks = places.flatMap(({ group }) => group.chunk(this.#index) ?? []);
    const width = dtypeInfo(this.dtype).bytes;
    return decodeChunks(native, this.#source, chunks, { width, isOptional: !this.#isRequired, allocate });
  }

  *#records(places: readonly PlacedGroup[], reused: ReusedMemory): Generator<NumberedRecord> {
    reused.reset();
    for (const [i, memory] of this.#values(places, reused.take).entries()) {
      const { firstRow, group } = places[i] as PlacedGroup;
      const cells = { type: { is: this.dtype }, isNull: () => false, hasNulls: false, memory } as const;
      yield { rows: group.rows, firstRow, columns: (indices) => indices.map(() => cells) };
    }
  }
}

/** Returns whether a row group has a column without nesting, in pages of this file that are likely to be decoded. */
export function hasSimpleChunk(group: RowGroup, leaf: number, { size }: ByteSource): boolean {
  const chunk = group.chunk(leaf);
  if (!chunk || !isDecodable(chunk) || chunk.values !== group.rows) return false;
  const { begin, bytes } = chunk;
  const isExact = Number.isSafeInteger(begin) && Number.isSafeInteger(bytes);
  return isExact && begin > 0 && bytes >= 0 && begin + bytes <= size;
}
