/** Plans a table sort before rows are read. */
import { InputError, UsageError } from '../../util/errors.js';
import type { FileContext, FileReport } from '../file-sort/file-job.js';
import type { FoundField, RowsMessage } from '../formats/subprocess/protocol.js';
import type { SubprocessKind } from '../formats/subprocess/subprocess-kind.js';
import type { TableFile } from '../formats/subprocess/table-file.js';
import { MAX_FIRST_ROWS } from '../formats/tables/policy.js';
import {
  columnIndexer,
  columnNames,
  findKeys,
  keyText,
  parseTableKeys,
  type TableKey,
} from '../formats/tables/table-keys.js';
import type { TableField } from '../formats/tables/table-type.js';
import { assertTypesSupported } from '../formats/tables/type-support.js';
import { pathOf } from '../formats/text/json-lines.js';
import { NdjsonTable } from '../formats/text/ndjson-table.js';
import { type TextPlan, textPlan, valueFields } from '../formats/text/text-plan.js';
import type { TextTable } from '../formats/text/text-table.js';
import { noInput } from '../streams/raw.js';
import { type AnyTable, isTextTable, supportedFields, tableTarget } from './table-file.js';
import type { TableJob } from './table-job.js';

/** A job whose rows are read without codes if it has no sort keys. */
export type PlannedJob = Omit<TableJob, 'by'> & Partial<Pick<TableJob, 'by'>>;

/** The columns to read from each table, and the columns to write. */
export interface TablePlan {
  readonly wanted: RowsMessage;
  readonly fields: readonly TableField[];
  /** Key-value metadata of the first table. */
  readonly metadata: TableFile['metadata'];
  readonly target: SubprocessKind;
  /** Text-specific plan; undefined for other formats. */
  readonly text: { readonly first: TextTable; readonly plan: TextPlan } | undefined;
  readonly reportColumns: NonNullable<FileReport['table']>;
}

/**
 * Plans the sort of some tables, with all checks that need no rows.
 *
 * @throws UsageError when a column does not exist, or the tables differ in their columns
 * @throws DtypeError when a key column has no order, or the output format cannot hold a column
 * @throws FormatError when the format of the output is not supported
 */
export async function planTables(
  tables: readonly AnyTable[],
  job: PlannedJob,
  context: Pick<FileContext, 'onWarning' | 'onNote'>,
): Promise<TablePlan> {
  if (tables.length === 0) throw noInput();
  const texts = tables.filter(isTextTable);
  if (texts.length === tables.length) return planTexts(texts, job, context);
  assertSameColumns(tables);
  // Tables of the same format are either all text or all not.
  return planSubprocessTables(tables as readonly TableFile[], job);
}

async function planSubprocessTables(tables: readonly TableFile[], job: PlannedJob): Promise<TablePlan> {
  const table = tables[0] as TableFile;
  const { by, columns, uniqueBy, out, to = 'auto', nan } = job;
  const { fields, name, kind } = table;
  const keys = by === undefined ? [] : parseTableKeys(by);
  const typed = keys.find(({ type }) => type !== undefined);
  if (typed || job.types !== undefined) {
    throw new UsageError(
      `cannot set types of columns of ${name}: the file defines them. Omit ${typed ? `${typed.type} after ${typed.column}` : 'the types'}`,
    );
  }
  const found = findKeys(keys, fields, { name, nan });
  const indexOf = (column: string | number): number => columnIndexer(fields, column, name);
  const kept = columns === undefined ? fields.map((_, i) => i) : columnNames(columns).map(indexOf);
  const distinct = uniqueBy === undefined ? null : columnNames(uniqueBy).map(indexOf);
  const target = await tableTarget(out, { to, input: kind.id });
  const fieldsOf = (indexes: readonly number[]): TableField[] =>
    supportedFields(
      indexes.map((i) => asRequired(fields[i] as FoundField, tables, i)),
      name,
    );
  const written = fieldsOf(kept);
  assertTypesSupported(written, { name: out, format: target.format, id: target.id });
  if (distinct) fieldsOf(distinct);
  const wanted: RowsMessage = {
    is: 'rows',
    columns: kept,
    keys: found.map(({ kind: _, ...key }) => key),
    distinct,
    head: firstRows(job),
    trustsStatistics: !job.verify,
  };
  const reportColumns = columnReport(fields, { found, kept, distinct: distinct ?? undefined }, job);
  return { wanted, fields: written, metadata: table.metadata, target, text: undefined, reportColumns };
}

/** A column is non-nullable only if it is non-nullable in all tables. */
function asRequired(field: FoundField, tables: readonly TableFile[], index: number): FoundField {
  if (tables.every(({ fields }) => fields[index]?.isRequired)) return field;
  const { isRequired: _, ...nullable } = field;
  return nullable;
}

async function planTexts(
  texts: readonly TextTable[],
  job: PlannedJob,
  { onWarning, onNote }: Pick<FileContext, 'onWarning' | 'onNote'>,
): Promise<TablePlan> {
  const { by, columns, uniqueBy, out, to = 'auto', nan, delimiter, types } = job;
  const keys = by === undefined ? [] : parseTableKeys(by);
  const paths = [
    ...keys.map(({ column }) => column),
    ...[columns ?? [], uniqueBy ?? []].flatMap((one) => (one.length > 0 ? columnNames(one) : [])),
  ];
  for (const table of texts) {
    for (const note of table.notes) onNote?.(note);
    for (const path of paths)
      if (table instanceof NdjsonTable && typeof path === 'string') table.requestPath(path);
  }
  // A file without records has no columns and contributes nothing.
  const tables = texts.filter(({ fields }) => fields.length > 0);
  assertSameColumns(tables);
  const first = tables[0] ?? (texts[0] as TextTable);
  const { fields, name, kind } = first;
  const target = await tableTarget(out, { to, input: kind.id });
  const isEmpty = tables.length === 0;
  const indexOf = (column: string | number): number => columnIndexer(fields, column, name);
  const own = fields.flatMap((field, i) =>
    first instanceof NdjsonTable && i >= first.names && pathOf(field.name) ? [] : [i],
  );
  const kept = columns === undefined || isEmpty ? own : columnNames(columns).map(indexOf);
  const distinct = uniqueBy === undefined || isEmpty ? undefined : columnNames(uniqueBy).map(indexOf);
  const plan = await textPlan(isEmpty ? [first] : tables, {
    ...{ kept, distinct, types, nan, target, out, delimiter },
    keys: isEmpty ? [] : keys,
    isWhole: columns === undefined,
    onWarning: (text) => onWarning?.(new InputError(text)),
  });
  const values = valueFields(plan);
  if (plan.to.as === 'values')
    assertTypesSupported(values, { name: out, format: target.format, id: target.id });
  const found = plan.keys.map(({ index, descending, nulls, nan: place }) => ({
    index,
    descending,
    nulls,
    nan: place,
  }));
  const { delimiter: detected, hasHeader: header } = first;
  const reportColumns = {
    ...columnReport(fields, { found, kept, distinct }, job),
    text: {
      ...(detected !== undefined && { delimiter: detected, header }),
      types: plan.keys.map(({ type }) => type.is),
    },
  };
  const wanted: RowsMessage = {
    ...{ is: 'rows', columns: kept, keys: found },
    ...{ distinct: distinct ?? null, head: firstRows(job) },
  };
  return { wanted, fields: values, metadata: undefined, target, text: { first, plan }, reportColumns };
}

/** Returns the number of first rows to select while reading. Of equal rows, the first one is known only at the end. */
export const firstRows = ({ head, unique = false, uniqueBy }: PlannedJob): number | undefined =>
  unique || uniqueBy !== undefined || (head ?? 0) > MAX_FIRST_ROWS ? undefined : head;

/** Returns the column section of the report. */
function columnReport(
  fields: readonly { readonly name: string }[],
  {
    found,
    kept,
    distinct,
  }: {
    readonly found: readonly (Omit<TableKey, 'column'> & { readonly index: number })[];
    readonly kept: readonly number[];
    readonly distinct: readonly number[] | undefined;
  },
  { head, unique = false }: PlannedJob,
): TablePlan['reportColumns'] {
  const nameOf = (index: number): string => fields[index]?.name ?? '';
  return {
    by: found.map(({ index, ...order }) => keyText({ ...order, column: nameOf(index) })),
    columns: kept.map(nameOf),
    ...(head !== undefined && { head }),
    ...(unique && { unique }),
    ...(distinct && { uniqueBy: distinct.map(nameOf) }),
  };
}

/** @throws UsageError when a table has other columns or another format than the first one */
export function assertSameColumns(tables: readonly AnyTable[]): void {
  const [first, ...others] = tables;
  const shape = ({ fields }: AnyTable): string =>
    JSON.stringify(fields.map(({ name, type, text }) => [name, type ?? text]));
  for (const other of others) {
    if (!first || (shape(other) === shape(first) && other.kind.format === first.kind.format)) continue;
    const listed = ({ fields }: AnyTable): string =>
      fields.map(({ name, text }) => `${name} (${text})`).join(', ');
    throw new UsageError(
      `cannot sort ${first.name} and ${other.name} together: they differ in format or columns (${first.name} has ` +
        `${listed(first)}, and ${other.name} has ${listed(other)})`,
    );
  }
}
