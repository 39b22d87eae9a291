/** Builds batches of rows and key codes from text tables. */

import { tableFunctions } from '../../../sort/host/native-tables.js';
import { copyBytes } from '../../../util/copy-bytes.js';
import type { Batch } from '../subprocess/protocol.js';
import {
  joinStrings,
  packedStrings,
  rowStrings,
  type SizedStrings,
  stringBatches,
} from '../subprocess/tables/row-batches.js';
import { FirstRows } from '../tables/first-rows.js';
import { codeColumn } from '../tables/key-codes.js';
import { keyKind } from '../tables/table-type.js';
import { formatField } from './csv-field.js';
import { nativeCodes } from './native-codes.js';
import { NumberScanner } from './number-style.js';
import { cellsOf } from './text-cells.js';
import type { TextColumn, TextKey, TextPlan } from './text-plan.js';
import { markMissing, type TextChunk, type TextTable } from './text-table.js';
import { FORM, type RawValues, rawBegin, rawEnd, rawText, textOf, type Values } from './values.js';

/**
 * Yields all rows of a table, or those that may be among the first `head` in order, encoded as the plan requires.
 *
 * @throws FormatError with the line number, when a value is invalid
 */
export async function* textBatches(table: TextTable, plan: TextPlan, head?: number): AsyncGenerator<Batch> {
  const scanner = new NumberScanner(table.options);
  const { name } = table;
  const first = head === undefined ? undefined : new FirstRows(head);
  for await (const chunk of table.chunks()) {
    const codes = ({ index, column, type, ...order }: TextKey): SizedStrings => {
      // Descending codes are inverted afterwards, including NaNs.
      const nan = (order.nan === 'last') !== order.descending ? 'last' : 'first';
      const cells = cellsOf(markMissing(chunk.values(index), table.options.na), {
        type,
        name,
        column,
        scanner,
        nan,
      });
      const kind = keyKind(cells.type);
      if (!kind) throw new Error(`cannot sort by column ${column}: keys of type ${type.is} have no order`);
      return codeColumn(cells, kind, order, chunk.rows);
    };
    const codesOf = (columns: readonly TextKey[]): SizedStrings =>
      nativeCodes(chunk, columns, table.options, scanner) ?? joinStrings(columns.map(codes));
    const keys = codesOf(plan.keys);
    const chosen = first?.select(chunk.rows, keys);
    const distinct = plan.distinct ? [codesOf(plan.distinct)] : [];
    yield* stringBatches(chunk.rows, [keys, rowsOf(chunk, table, plan, scanner), ...distinct], chosen);
  }
}

function rowsOf(chunk: TextChunk, table: TextTable, plan: TextPlan, scanner: NumberScanner): SizedStrings {
  const { to, columns, isWhole } = plan;
  if (to.as === 'values') {
    const { name } = table;
    const cells = columns.map(({ index, type, name: column }) =>
      cellsOf(markMissing(chunk.values(index), table.options.na), {
        type,
        name,
        column,
        scanner,
        nan: 'last',
      }),
    );
    return rowStrings(cells);
  }
  const end = Buffer.from(to.lineEnd);
  const isSame = table.kind.format === to.as && (to.as === 'ndjson' || to.delimiter === table.delimiter);
  // An only missing value of a part has another form than in the input.
  const isPart = to.part !== undefined && columns.length === 1;
  if (isWhole && isSame && !chunk.hasMissingFields && !isPart) return records(chunk, end);
  if (to.as === 'ndjson') {
    const open = to.part === 'right' ? NOTHING : OPEN;
    return objects(chunk, table, columns, [open, to.part === 'left' ? end : Buffer.concat([CLOSE, end])]);
  }
  // Among several columns, a missing value is empty.
  const missing = columns.length > 1 || to.part ? NOTHING : EMPTY;
  const form = { delimiter: Buffer.from(to.delimiter), end, missing };
  const all = columns.map(({ index }) => chunk.values(index));
  return isSame ? sameFields(all, form) : fields(all, form, table.kind.format === 'csv', chunk.rows);
}

/** Returns rows as they are written in the input. */
function records(chunk: TextChunk, end: Buffer): SizedStrings {
  const { bytes, rows } = chunk;
  const [begins, ends] = [chunk.begins.subarray(0, rows), chunk.ends.subarray(0, rows)];
  const native = tableFunctions();
  if (native) return packedStrings(native.copyRanges(bytes, begins, ends, end));
  const forms = new Uint8Array(rows).fill(FORM.bare);
  return sameFields([{ bytes, begins, ends, forms }], { end, delimiter: NOTHING, missing: NOTHING });
}

/** Returns rows that are concatenated from parts. */
function buildRows(rows: number, row: (i: number) => readonly Uint8Array[]): SizedStrings {
  const all: Buffer[] = new Array(rows);
  const rowAt = (i: number): Buffer => {
    all[i] ??= Buffer.concat(row(i)); // rows that are left out are not built
    return all[i];
  };
  return {
    size: (i) => rowAt(i).length,
    put(i, to, at) {
      to.set(rowAt(i), at);
      return at + rowAt(i).length;
    },
  };
}

const [NOTHING, EMPTY] = [Buffer.from(''), Buffer.from('""')];
const [OPEN, CLOSE, NULL] = [Buffer.from('{'), Buffer.from('}'), Buffer.from('null')];

/** Text between fields, after them, and instead of a missing one. */
type CsvForm = Readonly<Record<'delimiter' | 'end' | 'missing', Buffer>>;

/** Returns rows as CSV records, with the fields as they are written in the input. */
function sameFields(all: readonly RawValues[], { delimiter, end, missing }: CsvForm): SizedStrings {
  const between = Math.max(0, all.length - 1) * delimiter.length + end.length;
  return {
    size(i) {
      let size = between;
      for (const values of all) {
        size += values.forms[i] === FORM.missing ? missing.length : rawEnd(values, i) - rawBegin(values, i);
      }
      return size;
    },
    put(i, to, at) {
      for (let k = 0; k < all.length; k++) {
        const values = all[k] as RawValues;
        if (k > 0) at = copyBytes(delimiter, 0, delimiter.length, to, at);
        if (values.forms[i] === FORM.missing) at = copyBytes(missing, 0, missing.length, to, at);
        else at = copyBytes(values.bytes, rawBegin(values, i), rawEnd(values, i), to, at);
      }
      return copyBytes(end, 0, end.length, to, at);
    },
  };
}

/** Returns rows as CSV records. */
function fields(
  all: readonly Values[],
  { delimiter, end, missing }: CsvForm,
  isCsv: boolean,
  rows: number,
): SizedStrings {
  return buildRows(rows, (i) =>
    all.flatMap((values, k) => {
      const form = values.forms[i];
      const field =
        form === FORM.missing
          ? missing
          : isCsv && form !== FORM.bare
            ? rawText(values, i)
            : formatField(textOf(values, i), delimiter);
      return [field, k === all.length - 1 ? end : delimiter];
    }),
  );
}

/** Returns rows as JSON objects. */
function objects(
  chunk: TextChunk,
  table: TextTable,
  columns: readonly TextColumn[],
  [open, close]: readonly [Buffer, Buffer],
): SizedStrings {
  const all = columns.map(({ index }) => chunk.values(index));
  const names = columns.map(({ name }, k) => Buffer.from(`${k > 0 ? ',' : ''}${JSON.stringify(name)}:`));
  const isJson = table.kind.format === 'ndjson';
  return buildRows(chunk.rows, (i) => [
    open,
    ...all.flatMap((values, k) => [
      names[k] as Buffer,
      jsonValue(values, i, isJson || columns[k]?.isJson === true),
    ]),
    close,
  ]);
}

function jsonValue(values: Values, row: number, isJson: boolean): Uint8Array {
  if (values.forms[row] === FORM.missing) return NULL;
  return isJson
    ? rawText(values, row)
    : Buffer.from(JSON.stringify(Buffer.from(textOf(values, row)).toString()));
}
