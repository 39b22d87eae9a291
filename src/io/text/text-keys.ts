/** A column of a text as keys. */
import { type Dtype, dtypeInfo } from '../../keys/dtype.js';
import { FormatError } from '../../util/errors.js';
import { chooseColumn } from '../formats/foreign/choose-column.js';
import type { ForeignKind } from '../formats/foreign/foreign.js';
import type { ForeignColumn } from '../formats/foreign/protocol.js';
import type { KeyReader, ReadRequest } from '../formats/key-file.js';
import type { Source } from '../raw.js';
import type { ColumnSurvey } from './column-survey.js';
import { CsvTable } from './csv-table.js';
import { NdjsonTable } from './ndjson-table.js';
import { NumberScanner } from './number-style.js';
import { cellsOf } from './text-cells.js';
import { textOptionsOf } from './text-options.js';
import { type TextTable, withMissing } from './text-table.js';
import type { TextType } from './text-type.js';

/** The name of the column of a text that has no records. */
const FIRST_COLUMN = 'column0';

/** Opens a text of keys. @throws DtypeError, FormatError, IoError, UsageError */
export async function openTextKeys(
  kind: ForeignKind,
  source: Source,
  request: ReadRequest,
): Promise<KeyReader> {
  const options = { ...textOptionsOf(request), signal: request.signal };
  const table: TextTable = await (kind.format === 'csv' ? CsvTable : NdjsonTable).open(kind, source, options);
  try {
    return await readerOf(table, request);
  } catch (error) {
    await table.close();
    throw error;
  }
}

async function readerOf(table: TextTable, { column, dtype }: ReadRequest): Promise<KeyReader> {
  const { name, kind } = table;
  if (table instanceof NdjsonTable && typeof column === 'string') table.want(column);
  const columns = await columnsOf(table, column, dtype);
  const wanted = chooseColumn({ name, columns, column, dtype, isText: true });
  const found = columns[wanted.index] as ForeignColumn;
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

/** The columns with their types, as far as these are needed to choose one. */
async function columnsOf(
  table: TextTable,
  column: ReadRequest['column'],
  dtype: Dtype | undefined,
): Promise<ForeignColumn[]> {
  const { fields } = table;
  if (fields.length === 0)
    return dtype === undefined ? [] : [{ name: FIRST_COLUMN, type: 'text', dtype: null }];
  const places = fields.map((_, i) => i);
  const named = column === undefined ? places : places.filter((i) => isMeant(fields[i]?.name, i, column));
  const isKnown = dtype !== undefined && named.length === 1;
  const surveys = isKnown ? [] : await table.survey(named);
  const found = new Map(named.map((index, k) => [index, surveys[k]]));
  return fields.map(({ name }, index) => {
    const survey = found.get(index);
    return { name, type: survey ? typeText(survey) : 'text', dtype: survey?.dtype ?? null };
  });
}

const isMeant = (name: string | undefined, index: number, column: string | number): boolean =>
  name === String(column) || String(index) === String(column);

function typeText(survey: ColumnSurvey): string {
  if (survey.nested > 0) return 'lists and objects';
  const { keyType }: { keyType: TextType } = survey;
  return keyType.is === 'number' || keyType.is === 'f64' ? survey.valueType.is : keyType.is;
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
    const values = withMissing(chunk.values(index), table.options.na);
    const { memory, isNull } = cellsOf(values, request);
    for (let i = 0; i < chunk.rows; i++) {
      if (isNull(i) && missing++ === 0) first = values.lines[i] as number;
    }
    if (missing === 0) yield (memory as Uint8Array).subarray(0, chunk.rows * bytes);
  }
  if (missing === 0) return;
  const { name } = table;
  throw new FormatError(
    `${name} has ${missing === 1 ? 'a missing value' : `${missing} missing values`} among its keys, the first on line ${first}: ` +
      'a missing value is no number; leave out or fill in these rows first',
    { details: { path: name, missing, line: first } },
  );
}
