/** What is to be done with tables, as far as it can be known before rows are read. */
import { UsageError } from '../../util/errors.js';
import type { ForeignKind } from '../formats/foreign/foreign.js';
import type { RowsAs, RowsMessage } from '../formats/foreign/protocol.js';
import type { FileReport } from '../sort-file.js';
import { columnIndex, columnNames, foundKeys, keyText, tableKeys } from './by.js';
import { assertHeld } from './holds.js';
import { knownFields, type TableFile, tableTarget } from './table-file.js';
import type { TableJob } from './table-job.js';
import type { TableField } from './table-type.js';

/** What is read of each table, and what is written. */
export interface TablePlan {
  readonly wanted: Omit<RowsMessage, 'is'>;
  readonly fields: readonly TableField[];
  readonly target: ForeignKind;
  readonly told: NonNullable<FileReport['table']>;
}

/** @throws UsageError, DtypeError, FormatError: all that can be known before rows are read */
export async function planOf(table: TableFile, job: TableJob): Promise<TablePlan> {
  const { by, columns, unique = false, uniqueBy, head, out, to = 'auto', nan } = job;
  const { fields, name, kind } = table;
  const keys = tableKeys(by);
  const found = foundKeys(keys, fields, { name, nan });
  const indexOf = (column: string | number): number => columnIndex(fields, column, name);
  const kept = columns === undefined ? fields.map((_, i) => i) : columnNames(columns).map(indexOf);
  const distinct = uniqueBy === undefined ? null : columnNames(uniqueBy).map(indexOf);
  const target = await tableTarget(out, { to, input: kind.id });
  const as = rowsAs(kind, target, columns !== undefined);
  const chosen = kept.map((i) => fields[i] as (typeof fields)[number]);
  const texts: TableField[] =
    as === 'lines'
      ? [{ name: 'json', type: { is: 'json' } }]
      : as === 'texts'
        ? chosen.map((field) => ({ name: field.name, type: { is: 'text' } }))
        : knownFields(chosen, name);
  if (as !== 'lines') assertHeld(texts, { name: out, format: target.format, id: target.id });
  if (distinct)
    knownFields(
      distinct.map((i) => fields[i] as (typeof fields)[number]),
      name,
    );
  const told = {
    by: found.map(({ index, ...order }) => keyText({ ...order, column: fields[index]?.name ?? '' })),
    columns: chosen.map((field) => field.name),
    ...(head !== undefined && { head }),
    ...(unique && { unique }),
    ...(distinct && { uniqueBy: distinct.map((i) => fields[i]?.name ?? '') }),
  };
  const wanted = { columns: kept, as, keys: found.map(({ kind: _, ...key }) => key), distinct };
  return { wanted, fields: texts, target, told };
}

/** Texts stay as they are written, where the output is such a text, too. */
function rowsAs({ format }: ForeignKind, target: ForeignKind, isChosen: boolean): RowsAs {
  if (format !== target.format) return 'values';
  if (format === 'csv') return 'texts';
  return format === 'ndjson' && !isChosen ? 'lines' : 'values';
}

/** @throws UsageError where tables have other columns than the first one */
export function assertAlike(tables: readonly TableFile[]): void {
  const [first, ...others] = tables;
  const shape = ({ fields }: TableFile): string =>
    JSON.stringify(fields.map(({ name, type, text }) => [name, type ?? text]));
  for (const other of others) {
    if (!first || (shape(other) === shape(first) && other.kind.format === first.kind.format)) continue;
    const listed = ({ fields }: TableFile): string =>
      fields.map(({ name, text }) => `${name} (${text})`).join(', ');
    throw new UsageError(
      `tables that are sorted together have the same columns in the same format: ${first.name} has ${listed(first)}, ` +
        `and ${other.name} has ${listed(other)}`,
    );
  }
}
