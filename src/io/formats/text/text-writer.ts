/** Writes text rows, which arrive as complete lines. */

import { compressedOutput } from '../../streams/compression.js';
import type { Output } from '../../streams/output.js';
import { isStdout } from '../../streams/raw.js';
import { nameFacts } from '../file-name.js';
import { formatField } from './csv-field.js';
import type { TextPlan } from './text-plan.js';
import type { TextTable } from './text-table.js';

export interface TextWriterOptions {
  /** Path of the output. */
  readonly out: string;
  /** The first input table. */
  readonly table: TextTable;
  readonly plan: TextPlan;
  /**
   * Whether to write a CSV header. Default: whether the table has one, or true if it is not a CSV file. A CSV input
   * without header never gets one.
   */
  readonly header?: boolean | undefined;
}

export class TextWriter {
  readonly #output: Output;
  readonly #finish: () => Promise<void>;

  private constructor(output: Output, finish: () => Promise<void>) {
    this.#output = output;
    this.#finish = finish;
  }

  /**
   * @throws FormatError when the compression of the output is not available
   * @throws IoError when writing fails
   */
  static async create(output: Output, options: TextWriterOptions): Promise<TextWriter> {
    const { compression } = await nameFacts(isStdout(options.out) ? '' : options.out);
    const smaller = compression && (await compressedOutput(output, compression));
    const writer = new TextWriter(smaller ?? output, async () => smaller?.finish());
    await writer.write(0, frontOf(options));
    return writer;
  }

  async write(_rows: number, bytes: Uint8Array): Promise<void> {
    if (bytes.length > 0) await this.#output.write(bytes);
  }

  end(): Promise<void> {
    return this.#finish();
  }
}

/** Returns the content before the rows. */
function frontOf({ table, plan, header }: TextWriterOptions): Uint8Array {
  const { to, columns, isWhole } = plan;
  const mark = Buffer.from(table.mark);
  if (to.as !== 'csv' || columns.length === 0) return mark;
  const isCsv = table.kind.format === 'csv';
  if (!(header ?? (isCsv ? table.hasHeader : true)) || (isCsv && !table.hasHeader)) return mark;
  const delimiter = Buffer.from(to.delimiter);
  const names =
    isWhole && table.header && to.delimiter === table.delimiter
      ? [table.header]
      : columns.flatMap(({ name }, k) => [
          ...(k > 0 ? [delimiter] : []),
          name === '' && columns.length > 1 ? Buffer.alloc(0) : formatField(Buffer.from(name), delimiter),
        ]);
  return Buffer.concat([mark, ...names, Buffer.from(to.lineEnd)]);
}
