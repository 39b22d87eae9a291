/** Opens tables of any format as rows with codes. */
import { DtypeError, UsageError } from '../../util/errors.js';
import type { AnyTable, KeyFormat } from '../formats/key-file.js';
import { type InputFormat, inputFormat, outputFormat } from '../formats/keys.js';
import { READABLE } from '../formats/readable.js';
import type { FoundField } from '../formats/subprocess/protocol.js';
import { openSearchedTable } from '../formats/subprocess/searched-table.js';
import type { SubprocessKind } from '../formats/subprocess/subprocess-kind.js';
import { openTableFile } from '../formats/subprocess/table-file.js';
import type { TableField } from '../formats/tables/table-type.js';
import { CsvTable } from '../formats/text/csv-table.js';
import { NdjsonTable } from '../formats/text/ndjson-table.js';
import { type TextReadOptions, textOptionsOf } from '../formats/text/text-options.js';
import type { TextTable } from '../formats/text/text-table.js';
import type { Source } from '../streams/raw.js';

/**
 * Returns the subprocess format of a table.
 *
 * @throws UsageError when the format holds keys only
 */
function kindOf({ subprocess, name }: KeyFormat, path: string): SubprocessKind {
  if (subprocess) return subprocess;
  const tables = READABLE.flatMap((format) => (format.subprocess ? [format.id] : []));
  throw new UsageError(
    `cannot use ${path} as a table: it is ${name}, which is not one (tables are ${tables.join(' ')}). To read keys, omit --by, or pass --column`,
    { details: { path } },
  );
}

export type { AnyTable };

export const isTextTable = (table: AnyTable): table is TextTable => 'chunks' in table;

/** Options for opening tables. */
export interface TableReadOptions extends TextReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether only its first rows in order will be requested; default false. */
  readonly isSearched?: boolean;
}

/**
 * Opens a table.
 *
 * @throws FormatError when the file is damaged
 * @throws IoError when reading fails
 * @throws MemoryError when the subprocess exceeds its memory limit
 * @throws UnsupportedError when the platform cannot run the subprocess
 * @throws UsageError when the format holds keys only
 */
export async function openTable(
  source: Source,
  path: string,
  options: TableReadOptions & { readonly format?: string | undefined },
): Promise<AnyTable> {
  const { format, signal } = options;
  return openTableAs(await inputFormat(source, path, { format, signal }), options);
}

/**
 * Opens a table of a known format.
 *
 * @throws the errors of `openTable`
 */
export async function openTableAs(
  { format, inner }: InputFormat,
  options: TableReadOptions,
): Promise<AnyTable> {
  const { signal, isSearched = false } = options;
  const kind = kindOf(format, inner.name);
  const text = { ...textOptionsOf(options), signal };
  if (!kind.isText) return (isSearched ? openSearchedTable : openTableFile)(kind, inner, signal);
  return (kind.format === 'csv' ? CsvTable : NdjsonTable).open(kind, inner, text);
}

/**
 * Returns the columns as they will be written.
 *
 * @throws DtypeError when a column has an unsupported type
 */
export function supportedFields(fields: readonly FoundField[], name: string): TableField[] {
  return fields.map((field) => {
    const { name: column, type, text, ...rest } = field;
    if (type) return { ...rest, name: column, type };
    throw new DtypeError(
      `cannot read column ${column} of ${name}: its type ${text} is not supported. Omit it with --columns`,
      { details: { path: name, column, type: text } },
    );
  });
}

/**
 * Returns the format of an output.
 *
 * @throws FormatError or UsageError when the output cannot be a table
 */
export async function tableTarget(
  path: string,
  { to, input }: { readonly to: string; readonly input: string },
): Promise<SubprocessKind> {
  return kindOf((await outputFormat(path, to, input)).format, path);
}
