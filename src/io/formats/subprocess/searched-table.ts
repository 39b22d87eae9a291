/** A table of a Parquet file whose first rows this process finds, because a subprocess takes longer to start. */
import { FormatError } from '../../../util/errors.js';
import { assertNotAborted, type Source } from '../../streams/raw.js';
import { fileSource } from './byte-source.js';
import type { Batch } from './protocol.js';
import type { BinaryKind } from './subprocess-kind.js';
import { openTableFile, type TableFile } from './table-file.js';
import { ParquetRows } from './tables/parquet-rows.js';
import { firstRowBatches } from './tables/record-batches.js';

/**
 * Opens a table to read its first rows in order. A subprocess reads what this process cannot decode.
 *
 * @throws the errors of `openTableFile`
 */
export async function openSearchedTable(
  kind: BinaryKind,
  source: Source,
  signal: AbortSignal | undefined,
): Promise<TableFile> {
  const here = kind.format === 'parquet' ? await rowsOf(source) : undefined;
  if (!here) return openTableFile(kind, source, signal);
  let table: TableFile | undefined;
  return {
    ...{ name: source.name, kind, fields: here.fields, rows: here.rows, metadata: here.metadata },
    async *batches(wanted) {
      let counted = 0;
      try {
        if (wanted.is !== 'rows' || wanted.head === undefined)
          throw new FormatError('all rows are requested');
        const found: Batch[] = [];
        for await (const batch of firstRowBatches(here, wanted, wanted.head)) {
          assertNotAborted(signal);
          counted += batch.rows;
          if (batch.rows > 0) yield batch;
          else found.push(batch);
        }
        yield* found;
        return;
      } catch (error) {
        if (!(error instanceof FormatError)) throw error; // the subprocess decodes the file, or reports what is wrong
      }
      table = await openTableFile(kind, source, signal);
      for await (const batch of table.batches(wanted)) {
        const again = Math.min(counted, batch.rows);
        counted -= again;
        yield { ...batch, rows: batch.rows - again };
      }
    },
    close: async () => table?.close(),
  };
}

/** Returns the rows of a file that this process can decode; undefined if the subprocess has to, or reports what is wrong. */
async function rowsOf({ fd }: Source): Promise<ParquetRows | undefined> {
  try {
    return fd === undefined ? undefined : await ParquetRows.open(fileSource(fd));
  } catch (error) {
    if (error instanceof FormatError) return undefined;
    throw error;
  }
}
