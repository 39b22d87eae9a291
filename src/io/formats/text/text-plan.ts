/** Plans which columns to read from text tables, and how to write their rows. */
import { FormatError } from '../../../util/errors.js';
import type { SubprocessKind } from '../subprocess/subprocess-kind.js';
import type { KeyOrder } from '../tables/key-codes.js';
import { type FoundKey, findKeys, type TableKey, unorderedColumn } from '../tables/table-keys.js';
import type { TableField } from '../tables/table-type.js';
import { unsupportedColumn } from '../tables/type-support.js';
import type { ColumnProfile } from './column-profile.js';
import type { TextTable } from './text-table.js';
import { type ColumnTypes, columnTypes, type TextType, tableTypeOf, textType } from './text-type.js';

/** A column that defines the order or the equality of rows. */
export interface TextKey extends KeyOrder {
  readonly index: number;
  readonly column: string;
  readonly type: TextType;
}

export interface TextColumn {
  readonly index: number;
  readonly name: string;
  readonly type: TextType;
  /** Whether the values can be copied to JSON unquoted. */
  readonly isJson: boolean;
}

/** The part of a row that another row completes; `lineEnd` ends it. */
export type RowPart = 'left' | 'right';

/** Output form of the rows: text lines, or typed values. */
export type RowsTo =
  | { readonly as: 'csv'; readonly delimiter: string; readonly lineEnd: string; readonly part?: RowPart }
  | { readonly as: 'ndjson'; readonly lineEnd: string; readonly part?: RowPart }
  | { readonly as: 'values' };

export interface TextPlan {
  readonly keys: readonly TextKey[];
  readonly distinct: readonly TextKey[] | undefined;
  readonly columns: readonly TextColumn[];
  readonly isWhole: boolean;
  readonly to: RowsTo;
}

export interface TextRequest {
  readonly keys: readonly TableKey[];
  /** Indices of the columns to keep, and of those that define equality. */
  readonly kept: readonly number[];
  readonly distinct: readonly number[] | undefined;
  readonly isWhole: boolean;
  readonly types: ColumnTypes | undefined;
  readonly nan: 'first' | 'last' | undefined;
  readonly target: SubprocessKind;
  /** Display name of the output, for messages. */
  readonly out: string;
  readonly delimiter: string | undefined;
  readonly onWarning: ((text: string) => void) | undefined;
}

/**
 * Determines the column types from all values in all tables.
 *
 * @throws UsageError when a column does not exist
 * @throws DtypeError when a key column has no order, or the output format cannot hold a column
 * @throws FormatError when a table cannot be parsed or has no columns
 */
export async function textPlan(tables: readonly TextTable[], request: TextRequest): Promise<TextPlan> {
  const [first] = tables as readonly [TextTable, ...TextTable[]];
  const { name, fields } = first;
  const { kept, distinct, isWhole, target, nan } = request;
  const columnOf = (index: number): string => fields[index]?.name ?? '';
  const given = columnTypes(request.types);
  const unknown = [...given.keys()].find((column) => !fields.some((field) => field.name === column));
  const texts = fields.map(({ name: column }) => ({ name: column, type: { is: 'text' } }) as const);
  // Unknown columns are reported before any table is read.
  if (unknown !== undefined) findKeys([{ column: unknown }], texts, { name });
  const found = findKeys(request.keys, texts, { name, nan });
  const to = rowsTo(first, request);
  const typed = new Map<number, TextType>();
  for (const [column, type] of given) {
    for (const [index, field] of fields.entries()) if (field.name === column) typed.set(index, type);
  }
  for (const [k, { index }] of found.entries()) {
    const type = request.keys[k]?.type;
    if (type !== undefined) typed.set(index, textType(type));
  }
  const compared = [...found.map(({ index }) => index), ...(distinct ?? [])];
  const isFromCsv = first.kind.format === 'csv';
  const needed = [
    ...[...compared, ...(to.as === 'values' ? kept : [])].filter((index) => !typed.has(index)),
    ...(to.as === 'ndjson' && isFromCsv ? kept : []),
    ...(to.as === 'csv' && !isFromCsv ? kept : []),
  ];
  const asked = [...new Set(needed)];
  const profiles = new Map<number, ColumnProfile>();
  for (const table of asked.length > 0 ? tables : []) {
    for (const [k, profile] of (await table.profile(asked)).entries()) {
      const index = asked[k] as number;
      const before = profiles.get(index);
      if (before) before.include(profile);
      else profiles.set(index, profile);
    }
  }
  const keyType = (index: number): TextType => {
    const profile = profiles.get(index);
    if (profile && profile.nested > 0) {
      const what = `a list or an object on line ${profile.nestedLine}`;
      throw unorderedColumn(name, columnOf(index), what, { line: profile.nestedLine });
    }
    return typed.get(index) ?? profile?.keyType ?? { is: 'text' };
  };
  const textKey = (key: Pick<FoundKey, 'index'> & KeyOrder): TextKey => {
    const { index, descending, nulls, nan: place } = key;
    return { index, column: columnOf(index), type: keyType(index), descending, nulls, nan: place };
  };
  const keys = found.map(textKey);
  for (const { index } of found) {
    const warning = profiles.get(index)?.warning(columnOf(index), name);
    if (warning) request.onWarning?.(warning);
  }
  const listed = to.as !== 'csv' ? undefined : kept.find((index) => (profiles.get(index)?.nested ?? 0) > 0);
  if (listed !== undefined) {
    throw unsupportedColumn(columnOf(listed), request.out, target.id, 'lists and objects');
  }
  return {
    keys,
    distinct: distinct?.map((index) => textKey({ index, descending: false, nulls: 'last', nan: 'last' })),
    columns: kept.map((index) => {
      const profile = profiles.get(index);
      const type = typed.get(index) ?? profile?.valueType ?? { is: 'text' };
      return { index, name: columnOf(index), type: written(type), isJson: profile?.isJson ?? false };
    }),
    isWhole,
    to,
  };
}

/** Numbers of any length are written as text. */
const written = (type: TextType): TextType => (type.is === 'number' ? { is: 'text' } : type);

function rowsTo(first: TextTable, { target, delimiter }: TextRequest): RowsTo {
  const { lineEnd } = first;
  if (target.format === 'ndjson') return { as: 'ndjson', lineEnd };
  if (target.format !== 'csv') {
    if (first.fields.length > 0) return { as: 'values' };
    throw new FormatError(`cannot write ${first.name} as ${target.id}: it is empty and has no columns`);
  }
  // The delimiter of the input also applies to the output, unless the output's extension implies another one.
  const own = target.id === first.kind.id ? first.delimiter : undefined;
  return { as: 'csv', delimiter: delimiter ?? own ?? target.delimiter ?? ',', lineEnd };
}

/** Returns the columns for a typed format. */
export const valueFields = ({ columns }: TextPlan): TableField[] =>
  columns.map(({ name, type }) => ({ name, type: tableTypeOf(type) }));
