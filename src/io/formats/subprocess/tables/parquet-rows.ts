/** A Parquet file of simple columns, whose first rows in the order of a column this process finds and decodes. */
import { setImmediate } from 'node:timers/promises';
import { loadTableFunctions, tableFunctions } from '../../../../sort/host/native-tables.js';
import { FormatError } from '../../../../util/errors.js';
import { ReusedMemory } from '../../../../util/uncleared.js';
import type { Cells } from '../../tables/row-layout.js';
import type { TableType } from '../../tables/table-type.js';
import type { ByteSource } from '../byte-source.js';
import type { FoundField, WantedKey } from '../protocol.js';
import { DTYPES, hasSimpleChunk, NumericColumn } from './numeric-column.js';
import { readCells, type TypedChunk } from './parquet-cells.js';
import { ARROW_SCHEMA, type Leaf, ParquetFooter } from './parquet-footer.js';
import { type PlacedGroup, placedGroups } from './parquet-groups.js';
import type { KnownColumn, NumberedRecord, RecordSource, Search } from './record-batches.js';

/** Types of other physical types with their logical types. */
const TYPES: Readonly<Record<string, TableType>> = {
  ...Object.fromEntries(Object.entries(DTYPES).map(([name, is]) => [name, { is }])),
  BYTE_ARRAY: { is: 'bytes' },
  'BYTE_ARRAY STRING': { is: 'text' },
  'INT32 DATE': { is: 'date' },
  'INT64 TIMESTAMP(MILLIS)': { is: 'timestamp', unit: 'ms' },
  'INT64 TIMESTAMP(MICROS)': { is: 'timestamp', unit: 'us' },
  'INT64 TIMESTAMP(NANOS)': { is: 'timestamp', unit: 'ns' },
};

const typeOf = ({ physical, logical }: Leaf): TableType | undefined =>
  TYPES[[physical, logical ?? []].flat().join(' ')];

export class ParquetRows implements Pick<RecordSource, 'rows' | 'search' | 'chosen'> {
  readonly fields: readonly FoundField[];
  readonly rows: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly #source: ByteSource;
  readonly #groups: readonly PlacedGroup[];

  private constructor(source: ByteSource, fields: readonly FoundField[], footer: ParquetFooter) {
    this.fields = fields;
    this.rows = footer.rows;
    this.metadata = footer.metadata;
    this.#source = source;
    this.#groups = placedGroups(footer.rowGroups);
  }

  /**
   * Opens a file.
   *
   * @returns undefined if this process cannot decode all columns
   * @throws FormatError when the metadata are damaged
   */
  static async open(source: ByteSource): Promise<ParquetRows | undefined> {
    const { footer } = ParquetFooter.read(source);
    const { columns, rowGroups } = footer;
    // An embedded Arrow schema may define other types.
    if (ARROW_SCHEMA in footer.metadata) return undefined;
    const fields: FoundField[] = [];
    for (const [index, { name, leaves }] of columns.entries()) {
      const [leaf, ...others] = leaves;
      const type = leaf && typeOf(leaf);
      if (
        !type ||
        others.length > 0 ||
        leaf.hasId ||
        leaf.isRepeated ||
        !rowGroups.every((group) => hasSimpleChunk(group, index, source))
      )
        return undefined;
      const { isRequired } = leaf;
      fields.push({ name, type, ...(isRequired && { isRequired }), text: leaf.logical ?? leaf.physical });
    }
    await loadTableFunctions();
    const rows = rowGroups.reduce((sum, group) => sum + group.rows, 0);
    return tableFunctions() && rows === footer.rows ? new ParquetRows(source, fields, footer) : undefined;
  }

  /**
   * Yields the rows of row groups that a search for one numeric key does not exclude.
   *
   * @throws FormatError when the column of the key has nulls, or this process cannot decode it
   */
  async *search(search: Search): AsyncGenerator<NumberedRecord> {
    const [{ index }] = search.keys as [WantedKey];
    const column = search.keys.length === 1 ? await NumericColumn.open(this.#source, () => index) : undefined;
    if (!column) throw new FormatError('the column of the key is not numeric');
    yield* column.search(search);
  }

  /** @throws FormatError when a page is damaged or has an unusual encoding */
  async *chosen(
    columns: readonly number[],
    rows: readonly number[],
    known?: KnownColumn,
  ): AsyncGenerator<NumberedRecord> {
    const native = tableFunctions();
    if (!native) throw new Error('the addon is not loaded');
    const read = [...new Set(columns)].filter((index) => index !== known?.index);
    const memory = new ReusedMemory();
    let at = 0;
    for (const { group, firstRow } of this.#groups) {
      const begin = at;
      while (at < rows.length && (rows[at] as number) < firstRow + group.rows) at++;
      if (at === begin) continue;
      const chunks = read.map((index): TypedChunk => {
        const { type, isRequired = false } = this.fields[index] as FoundField;
        return { chunk: group.chunk(index), type, isOptional: !isRequired } as TypedChunk;
      });
      const some = rows.slice(begin, at).map((row) => row - firstRow);
      memory.reset();
      const found = readCells(native, this.#source, chunks, some, memory.take);
      const cellsOf = (index: number): Cells =>
        index === known?.index
          ? this.#cellsOf(index, known.values.slice(begin, at))
          : (found[read.indexOf(index)] as Cells);
      yield {
        rows: some.length,
        firstRow: rows[begin] as number,
        isSelection: true,
        columns: (indices) => indices.map(cellsOf),
      };
      await setImmediate(); // the event loop runs in between
    }
  }

  #cellsOf(index: number, values: readonly Uint8Array[]): Cells {
    const { type } = this.fields[index] as FoundField;
    return { type, isNull: () => false, hasNulls: false, memory: Buffer.concat(values) } as Cells;
  }
}
