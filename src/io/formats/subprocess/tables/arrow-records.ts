/** Reads the record batches of Arrow IPC files and streams as cells. Runs in the subprocess. */
import type { Field } from 'apache-arrow';
import type { Cells } from '../../tables/row-layout.js';
import type { TableType } from '../../tables/table-type.js';
import { type ArrowFile, type ArrowPackage, damagedFile } from '../arrow-file.js';
import { columnBegin } from '../arrow-layout.js';
import type { FoundField } from '../protocol.js';
import { ArrowBatch } from './arrow-cells.js';
import { ArrowTableDictionaries } from './arrow-dictionaries.js';

/** Maximum number of rows of a batch without data, as in all-null columns. */
const MAX_BARE_ROWS = 2 ** 24;

/** Some consecutive rows of a file. */
export interface TableRecord {
  readonly rows: number;
  /**
   * Returns columns, by their indices in the file. They are read when they are first requested.
   *
   * @throws FormatError when the file is damaged
   */
  columns(indices: readonly number[]): readonly Cells[];
}

/** Yields the record batches of a file. A record is valid until the next one is requested. */
export function* arrowRecords(
  arrow: ArrowPackage,
  file: ArrowFile,
  schema: readonly Field[],
  fields: readonly FoundField[],
): Generator<TableRecord> {
  const dictionaries = new ArrowTableDictionaries(arrow, schema);
  for (const found of file.messages()) {
    if ('dictionary' in found) dictionaries.take(found);
    if (!('record' in found)) continue;
    const { record } = found;
    const { length: rows } = record;
    const read = new Map<number, Cells>();
    let taken = 0;
    const cells = (index: number): Cells => {
      let known = read.get(index);
      if (!known) {
        const place = columnBegin(arrow, schema, index, record);
        const batch = new ArrowBatch(arrow, found, place, dictionaries.values);
        known = batch.cells(schema[index] as Field, fields[index]?.type as TableType, rows);
        read.set(index, known);
        taken += batch.takenBytes;
      }
      return known;
    };
    const columns = (indices: readonly number[]): readonly Cells[] => {
      const all = indices.map(cells);
      // Otherwise every row takes at least one bit, which rejects batches that claim too many rows.
      if (rows > MAX_BARE_ROWS && 8 * taken < rows) {
        throw damagedFile(`a batch declares ${rows} rows but has ${taken} bytes`);
      }
      return all;
    };
    yield { rows, columns };
  }
}
