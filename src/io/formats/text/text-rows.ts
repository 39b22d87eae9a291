/** Builds batches of rows and key codes from text tables. */

import { tableFunctions } from '../../../sort/host/native-tables.js';
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
import { FORM, rawText, textOf, type Values } from './values.js';

/** Shorter ranges are copied faster byte by byte. */
const SHORT = 48;

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
  if (isWhole && table.kind.format === to.as && (to.as === 'ndjson' || to.delimiter === table.delimiter)) {
    return records(chunk, end, Buffer.from(to.as === 'csv' ? to.delimiter : ''));
  }
  return to.as === 'csv'
    ? fields(chunk, table, columns, Buffer.from(to.delimiter), end)
    : objects(chunk, table, columns, end);
}

/** Returns rows as they are written in the input. */
function records(chunk: TextChunk, end: Uint8Array, delimiter: Uint8Array): SizedStrings {
  const { bytes, begins, ends } = chunk;
  const isFilled = chunk.hasMissingFields;
  const native = tableFunctions();
  if (native && !isFilled) {
    const [from, until] = [begins.subarray(0, chunk.rows), ends.subarray(0, chunk.rows)];
    return packedStrings(native.copyRanges(bytes, from, until, end));
  }
  const size = (i: number): number =>
    (ends[i] as number) -
    (begins[i] as number) +
    end.length +
    (isFilled ? chunk.missingFields(i) * delimiter.length : 0);
  return {
    size,
    put(i, to, at) {
      const [from, until] = [begins[i] as number, ends[i] as number];
      if (until - from < SHORT) for (let k = from; k < until; k++) to[at++] = bytes[k] as number;
      else {
        to.set(bytes.subarray(from, until), at);
        at += until - from;
      }
      for (let k = isFilled ? chunk.missingFields(i) : 0; k > 0; k--) {
        to.set(delimiter, at);
        at += delimiter.length;
      }
      for (let k = 0; k < end.length; k++) to[at++] = end[k] as number;
      return at;
    },
  };
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

const [NOTHING, EMPTY, NULL] = ['', '""', 'null'].map((text) => Buffer.from(text)) as [
  Buffer,
  Buffer,
  Buffer,
];

/** Returns rows as CSV records. */
function fields(
  chunk: TextChunk,
  table: TextTable,
  columns: readonly TextColumn[],
  delimiter: Buffer,
  end: Buffer,
): SizedStrings {
  const all = columns.map(({ index }) => chunk.values(index));
  const missing = columns.length === 1 ? EMPTY : NOTHING;
  const isCsv = table.kind.format === 'csv';
  const same = isCsv && table.delimiter === delimiter.toString();
  return buildRows(chunk.rows, (i) =>
    all.flatMap((values, k) => {
      const form = values.forms[i];
      const field =
        form === FORM.missing
          ? missing
          : isCsv && (same || form !== FORM.bare)
            ? rawText(values, i)
            : formatField(textOf(values, i), delimiter);
      return [field, k === all.length - 1 ? end : delimiter];
    }),
  );
}

const [OPEN, CLOSE] = ['{', '}'].map((text) => Buffer.from(text)) as [Buffer, Buffer];

/** Returns rows as JSON objects. */
function objects(
  chunk: TextChunk,
  table: TextTable,
  columns: readonly TextColumn[],
  end: Buffer,
): SizedStrings {
  const all = columns.map(({ index }) => chunk.values(index));
  const names = columns.map(({ name }, k) => Buffer.from(`${k > 0 ? ',' : ''}${JSON.stringify(name)}:`));
  const isJson = table.kind.format === 'ndjson';
  return buildRows(chunk.rows, (i) => [
    OPEN,
    ...all.flatMap((values, k) => [
      names[k] as Buffer,
      jsonValue(values, i, isJson || columns[k]?.isJson === true),
    ]),
    CLOSE,
    end,
  ]);
}

function jsonValue(values: Values, row: number, isJson: boolean): Uint8Array {
  if (values.forms[row] === FORM.missing) return NULL;
  return isJson
    ? rawText(values, row)
    : Buffer.from(JSON.stringify(Buffer.from(textOf(values, row)).toString()));
}
