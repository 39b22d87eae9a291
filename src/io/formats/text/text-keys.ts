/** Reads a column of a text file as keys. */
import { type Dtype, dtypeInfo } from '../../../keys/dtype.js';
import { FormatError } from '../../../util/errors.js';
import type { Source } from '../../streams/raw.js';
import type { KeyReader, OpenRequest, ReadRequest } from '../key-file.js';
import { type FileColumn, selectColumn } from '../subprocess/select-column.js';
import type { SubprocessKind } from '../subprocess/subprocess-kind.js';
import type { ColumnProfile } from './column-profile.js';
import { CsvTable } from './csv-table.js';
import { NdjsonTable } from './ndjson-table.js';
import { NumberScanner } from './number-style.js';
import { cellsOf } from './text-cells.js';
import { textOptionsOf } from './text-options.js';
import { markMissing, type TextTable } from './text-table.js';
import type { TextType } from './text-type.js';

/** Name of the column of a text without records. */
const FIRST_COLUMN = 'column0';

/**
 * Opens a text file as keys.
 *
 * @throws DtypeError when the column is not numeric or has another dtype than requested
 * @throws FormatError when the file cannot be parsed
 * @throws IoError when reading fails
 * @throws UsageError when the column does not exist, or none is named in a table of several columns
 */
export async function openTextKeys(
  kind: SubprocessKind,
  source: Source,
  request: OpenRequest,
): Promise<KeyReader> {
  const options = { ...textOptionsOf(request), signal: request.signal };
  const table: TextTable = await (kind.format === 'csv' ? CsvTable : NdjsonTable).open(kind, source, options);
  try {
    return await readerOf(table, request);
  } catch (error) {
    if (request.tables) request.tables.push(table);
    else await table.close();
    throw error;
  }
}

async function readerOf(table: TextTable, { column, dtype }: ReadRequest): Promise<KeyReader> {
  const { name, kind } = table;
  if (table instanceof NdjsonTable && typeof column === 'string') table.requestPath(column);
  const columns = await columnsOf(table, column, dtype);
  const wanted = selectColumn({ name, columns, column, dtype, isText: true });
  const found = columns[wanted.index] as FileColumn;
  return {
    name,
    format: kind.id,
    dtype: wanted.dtype,
    n: undefined,
    shape: undefined,
    column: found.name,
    plainAt: undefined,
    ...(table.delimiter !== undefined && {
      text: { header: table.hasHeader, ...(table.delimiter !== '' && { delimiter: table.delimiter }) },
    }),
    pieces: () => piecesOf(table, wanted, found.name),
    close: () => table.close(),
  };
}

/** Returns the columns, with types as far as the selection needs them. */
async function columnsOf(
  table: TextTable,
  column: ReadRequest['column'],
  dtype: Dtype | undefined,
): Promise<FileColumn[]> {
  const { fields } = table;
  if (fields.length === 0)
    return dtype === undefined ? [] : [{ name: FIRST_COLUMN, type: 'text', dtype: null }];
  const places = fields.map((_, i) => i);
  if (column === undefined && fields.length > 1)
    return fields.map(({ name }) => ({ name, type: 'text', dtype: null }));
  const named = column === undefined ? places : places.filter((i) => isSelected(fields[i]?.name, i, column));
  const isKnown = dtype !== undefined && named.length === 1;
  const profiles = isKnown ? [] : await table.profile(named);
  const found = new Map(named.map((index, k) => [index, profiles[k]]));
  return fields.map(({ name }, index) => {
    const profile = found.get(index);
    return { name, type: profile ? typeText(profile) : 'text', dtype: profile?.dtype ?? null };
  });
}

const isSelected = (name: string | undefined, index: number, column: string | number): boolean =>
  name === String(column) || String(index) === String(column);

function typeText(profile: ColumnProfile): string {
  if (profile.nested > 0) return 'lists and objects';
  const { keyType }: { keyType: TextType } = profile;
  return keyType.is === 'number' || keyType.is === 'f64' ? profile.valueType.is : keyType.is;
}

async function* piecesOf(
  table: TextTable,
  { index, dtype }: { readonly index: number; readonly dtype: Dtype },
  column: string,
): AsyncGenerator<Uint8Array> {
  if (table.fields.length === 0) return;
  const scanner = new NumberScanner(table.options);
  const request = { type: { is: dtype }, name: table.name, column, scanner, nan: 'last' } as const;
  const { bytes } = dtypeInfo(dtype);
  let missing = 0;
  let first = 0;
  for await (const chunk of table.chunks()) {
    const values = markMissing(chunk.values(index), table.options.na);
    const { memory, isNull } = cellsOf(values, request);
    for (let i = 0; i < chunk.rows; i++) {
      if (isNull(i) && missing++ === 0) first = values.lines[i] as number;
    }
    if (missing === 0) yield (memory as Uint8Array).subarray(0, chunk.rows * bytes);
  }
  if (missing === 0) return;
  const { name } = table;
  throw new FormatError(
    `cannot read the keys of ${name}: ${missing === 1 ? 'a value is' : `${missing} values are`} missing, the first on line ${first}. ` +
      'Remove or complete these rows first',
    { details: { path: name, missing, line: first } },
  );
}
