import type { AnyTable } from '../formats/key-file.js';
import { typeText } from '../formats/tables/table-type.js';
import { profileColumns, type TextTable } from '../formats/text/text-table.js';
import { isTextTable } from './table-file.js';

/** The number of rows of a table, and its columns. */
export interface TableFacts {
  readonly n: number;
  /** Types of text are those that `--by` compares; of other files, those of the file. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

/**
 * Describes a table. Text is read; of other files, the header or footer is enough.
 *
 * @throws FormatError when the file is damaged
 * @throws IoError when reading fails
 */
export async function tableFacts(table: AnyTable): Promise<TableFacts> {
  if (isTextTable(table)) return textFacts(table);
  const columns = table.fields.map(({ name, type, text }) => ({ name, type: type ? typeText(type) : text }));
  return { n: table.rows as number, columns }; // Arrow and Parquet files declare it
}

async function textFacts(table: TextTable): Promise<TableFacts> {
  const { options, kind, fields } = table;
  let n = 0;
  async function* chunks(): ReturnType<TextTable['chunks']> {
    for await (const chunk of table.chunks()) {
      n += chunk.rows;
      yield chunk;
    }
  }
  const profiles = await profileColumns({ options, kind, chunks }, [...fields.keys()]);
  const columns = fields.map(({ name }, i) => ({ name, type: profiles[i]?.comparedAs ?? 'text' }));
  return { n, columns };
}
