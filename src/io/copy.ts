import { dtypeInfo } from '../keys/dtype.js';
import type { KeyReader } from './formats/key-file.js';
import { withInputs } from './inputs.js';
import { type InputOptions, keyTarget, type OutputOptions } from './keys.js';
import { withOutput } from './output.js';
import { assertNotAborted, openSource } from './raw.js';
import type { FileContext } from './sort-file.js';

/** What was copied, and as what. */
export interface CopyReport extends Pick<KeyReader, 'dtype'> {
  readonly n: number;
  readonly formats: readonly [from: string, to: string];
}

/** What the inputs are, and what is to be made of them. */
export interface CopyOptions extends InputOptions, Omit<OutputOptions, keyof InputOptions> {}

/**
 * Writes the keys of files, one behind the other, to another file, in another format where that is asked for, in
 * memory for a few pieces.
 *
 * @throws UsageError, DtypeError where the files hold different dtypes, FormatError, IoError, AbortedError
 */
export async function copyKeys(
  inputs: readonly string[],
  out: string,
  { to, ...input }: CopyOptions,
  context: FileContext,
): Promise<CopyReport> {
  const { signal, onProgress } = context;
  let report: CopyReport | undefined;
  await withInputs(inputs, context, (open) =>
    withOutput(out, context, async (output) => {
      const reader = await open(input);
      const { header, delimiter, dtype } = input;
      const model = { ...reader, dtypeSaid: dtype !== undefined };
      const target = await keyTarget(out, { to, header, delimiter, signal }, model);
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
      report = { dtype: reader.dtype, n, formats: [reader.format, target.format] };
    }),
  );
  if (!report) throw new Error('nothing was copied');
  return report;
}

/** Writes the bytes of files, one behind the other, as they are. @returns how many; @throws IoError, AbortedError */
export async function copyBytes(
  inputs: readonly string[],
  out: string,
  context: Pick<FileContext, 'stdin' | 'stdout' | 'signal' | 'temporaryFiles'>,
): Promise<number> {
  let bytes = 0;
  await withOutput(out, context, async (output) => {
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
  });
  return bytes;
}
