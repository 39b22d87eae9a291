import type { FileContext } from '../file-sort/file-job.js';
import type { AnyTable } from '../formats/key-file.js';
import type { Output } from '../streams/output.js';
import { assertNotAborted } from '../streams/raw.js';
import { type RowJob, type RowSource, tableSource } from './row-source.js';

/**
 * Writes the rows of a table, in their order, to another file, optionally in another format. Holds a few batches in memory.
 *
 * @param table the open table, which stays open
 * @param job names of the files, formats and text options
 * @returns the number of rows and both formats
 * @throws the errors of `withRows`
 */
export async function copyTable(
  table: AnyTable,
  job: RowJob,
  output: Output,
  context: FileContext,
): Promise<Pick<RowSource, 'formats'> & { readonly n: number }> {
  const source = await tableSource([table], job, context);
  const writer = await source.create(output, source.total);
  let n = 0;
  for await (const { rows, bytes } of source.batches()) {
    await writer.write(rows, bytes);
    n += rows;
    assertNotAborted(context.signal);
    context.onProgress?.({ phase: 'copying', done: n, total: source.total ?? n });
  }
  await writer.end();
  return { n, formats: source.formats };
}
