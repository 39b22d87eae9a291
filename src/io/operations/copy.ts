import { dtypeInfo } from '../../keys/dtype.js';
import type { FileContext } from '../file-sort/file-job.js';
import { csv } from '../formats/csv.js';
import { keysOrTable, withInputs } from '../formats/inputs.js';
import type { AnyTable, KeyReader } from '../formats/key-file.js';
import { type InputOptions, type OutputOptions, outputFormat, targetOf } from '../formats/keys.js';
import { type Output, withOutput } from '../streams/output.js';
import { assertNotAborted, openSource } from '../streams/raw.js';

/** Summary of a copy: the number of keys or rows, the dtype of keys, and the formats. */
export interface CopyReport extends Partial<Pick<KeyReader, 'dtype'>> {
  readonly n: number;
  readonly formats: readonly [from: string, to: string];
}

/** Options for reading the inputs and writing the output. */
export interface CopyOptions extends InputOptions, Omit<OutputOptions, keyof InputOptions> {
  /** Copies the rows of a table to an output that can hold one. Default: the columns have to be a single one of keys. */
  readonly copyTable?: ((table: AnyTable, output: Output) => Promise<CopyReport>) | undefined;
}

/**
 * Writes the keys of files, concatenated, to another file, optionally in another format. Holds a few pieces in memory.
 *
 * @param inputs paths, `-` for stdin
 * @param out path of the output, `-` for stdout
 * @param options input and output options; `to` is the output format
 * @param context streams, signal and callbacks
 * @returns the number of keys, their dtype and both formats
 * @throws UsageError when options are invalid
 * @throws DtypeError when the files hold different dtypes
 * @throws FormatError when a file is not valid in its format
 * @throws IoError when reading or writing fails
 * @throws AbortedError when the signal aborts
 */
export function copyKeys(
  inputs: readonly string[],
  out: string,
  { to = 'auto', copyTable, ...input }: CopyOptions,
  context: FileContext,
): Promise<CopyReport> {
  const { signal, onProgress } = context;
  return withInputs(inputs, context, (open, _, tables) =>
    withOutput(out, context, async (output) => {
      const isTable = copyTable && (await outputFormat(out, to, csv.id)).format.subprocess;
      const reader = await (isTable ? keysOrTable(open, tables, input) : open(input));
      if ('fields' in reader) return (copyTable as NonNullable<typeof copyTable>)(reader, output);
      const target = await targetOf(reader, out, { ...input, to, signal, verify: false });
      const writer = await target.create(output, reader);
      const { bytes } = dtypeInfo(reader.dtype);
      let n = 0;
      for await (const piece of reader.pieces()) {
        await writer.write(piece);
        n += piece.length / bytes;
        assertNotAborted(signal);
        onProgress?.({ phase: 'copying', done: n, total: reader.n ?? n });
      }
      await writer.end();
      return { dtype: reader.dtype, n, formats: [reader.format, target.format] };
    }),
  );
}

/**
 * Writes the bytes of files, concatenated and unchanged.
 *
 * @returns the number of bytes
 * @throws IoError when reading or writing fails
 * @throws AbortedError when the signal aborts
 */
export function copyBytes(
  inputs: readonly string[],
  out: string,
  context: Pick<FileContext, 'stdin' | 'stdout' | 'signal' | 'temporaryFiles'>,
): Promise<number> {
  return withOutput(out, context, async (output) => {
    let bytes = 0;
    for (const input of inputs) {
      const source = await openSource(input, context.stdin, context.signal);
      try {
        for await (const piece of source.pieces(1)) {
          await output.write(piece);
          bytes += piece.length;
          assertNotAborted(context.signal);
        }
      } finally {
        await source.close();
      }
    }
    return bytes;
  });
}
