/** Inputs as rows of bytes: keys, rows of matrices and tables, and lines of text. */
import { bytesOf } from '../../keys/array.js';
import { dtypeInfo } from '../../keys/dtype.js';
import { UsageError } from '../../util/errors.js';
import type { FileContext } from '../file-sort/file-job.js';
import { concatenateReaders } from '../formats/concatenate-readers.js';
import { keyGroups } from '../formats/key-array.js';
import type { KeyReader } from '../formats/key-file.js';
import {
  type InputFormat,
  type InputOptions,
  inputFormat,
  inputOptionsOf,
  openKeysAs,
  targetOf,
} from '../formats/keys.js';
import { partsOfLines } from '../lines/sort-lines.js';
import { type Output, withOutput } from '../streams/output.js';
import { assertOneStdin, openSource, type Source } from '../streams/raw.js';
import { BATCH_BYTES, BATCH_ROWS } from './policy.js';
import { equalLengths, LENGTH_BYTES, lengthList } from './row-lengths.js';
import type { RowWriter } from './row-sink.js';
import { type AnyTable, openTableAs } from './table-file.js';
import { planTables } from './table-plan.js';
import { tableBatches, tableWriter, totalRows } from './table-stream.js';

/** Inputs that are read as rows, and the output. */
export interface RowJob extends Omit<InputOptions, 'signal'> {
  /** Paths, `-` for stdin; several files are concatenated. */
  readonly in: readonly string[];
  /** Path of the output, `-` for stdout. An existing file is replaced on success. */
  readonly out: string;
  /** Output format; default: from the output name, otherwise that of the input. */
  readonly to?: string | undefined;
  /** The byte that ends a line, if the inputs are lines of text; undefined for keys and tables. */
  readonly terminator?: number | undefined;
}

/** Some rows. */
export interface RowBatch {
  readonly rows: number;
  /** Length of each row in bytes: u32, little-endian. */
  readonly lengths: Uint8Array;
  /** All rows, one after the other. */
  readonly bytes: Uint8Array;
}

/** Rows of bytes, and the writer for some of them. */
export interface RowSource {
  readonly formats: readonly [from: string, to: string];
  /** What the rows are: `rows`, `lines` or such as `u32 keys`. */
  readonly noun: string;
  /** Number of rows; undefined while unknown. */
  readonly total: number | undefined;
  /** Yields the rows in order. Can be called once. */
  batches(): AsyncGenerator<RowBatch>;
  /** @param rows number of rows to write; undefined while unknown */
  create(output: Output, rows: number | undefined): Promise<RowWriter>;
}

/**
 * Runs `use` with the rows of the inputs and with the output, which is committed afterwards.
 *
 * Formats that hold tables are read as rows, unless `column` names one column. All other files are read as keys; rows of
 * a matrix stay together.
 *
 * @throws UsageError when options are invalid, or tables have different columns
 * @throws DtypeError when the dtype is missing or contradicts the file
 * @throws FormatError when a file is not valid in its format
 * @throws IoError when reading or writing fails
 * @throws AbortedError when the signal aborts
 */
export async function withRows<T>(
  job: RowJob,
  context: FileContext,
  use: (source: RowSource, output: Output) => Promise<T>,
): Promise<T> {
  assertOneStdin(job.in);
  const { terminator } = job;
  if (terminator !== undefined) {
    return withOutput(job.out, context, (output) => use(lineSource(job, terminator, context), output));
  }
  const opened: Pick<Source, 'close'>[] = [];
  try {
    const sources: Source[] = [];
    for (const path of job.in) {
      const source = await openSource(path, context.stdin, context.signal);
      sources.push(source);
      opened.push(source);
    }
    // Opened first, so that an unwritable output fails before an input pipe is awaited.
    return await withOutput(job.out, context, async (output) =>
      use(await openRows(sources, opened, job, context), output),
    );
  } finally {
    for (const one of opened.reverse()) await one.close();
  }
}

async function openRows(
  sources: readonly Source[],
  opened: Pick<Source, 'close'>[],
  job: RowJob,
  context: FileContext,
): Promise<RowSource> {
  const options = { ...inputOptionsOf(job), signal: context.signal };
  const found: { readonly source: Source; readonly format: InputFormat }[] = [];
  for (const [i, source] of sources.entries()) {
    found.push({ source, format: await inputFormat(source, job.in[i] ?? '', options) });
  }
  const table = found.find(({ format }) => format.format.subprocess);
  const keys = found.find(({ format }) => !format.format.subprocess);
  if (job.column === undefined && table) {
    if (keys) {
      throw new UsageError(
        `cannot read ${table.source.name} and ${keys.source.name} together: one is a table, the other holds keys. ` +
          'Pass --column to read keys from both',
      );
    }
    if (job.dtype !== undefined) {
      throw new UsageError(
        `cannot read ${table.source.name} as ${job.dtype} keys: it is a table. Omit --dtype, or pass --column`,
      );
    }
    const tables: AnyTable[] = [];
    for (const { format } of found) {
      const one = await openTableAs(format, options);
      tables.push(one);
      opened.push(one);
    }
    return tableSource(tables, job, context);
  }
  const readers: KeyReader[] = [];
  for (const { format } of found) {
    const reader = await openKeysAs(format, options);
    readers.push(reader);
    opened.push(reader);
  }
  return keySource(concatenateReaders(readers), job, context);
}

/** Returns the rows of tables with the same columns. */
export async function tableSource(
  tables: readonly AnyTable[],
  job: RowJob,
  context: FileContext,
): Promise<RowSource> {
  const plan = await planTables(tables, job, context);
  return {
    formats: [tables[0]?.kind.id ?? plan.target.id, plan.target.id],
    noun: 'rows',
    total: totalRows(tables),
    async *batches() {
      for await (const { buffers } of tableBatches(tables, plan, context)) {
        const [, , lengths, bytes] = buffers as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
        yield { rows: lengths.length / LENGTH_BYTES, lengths, bytes };
      }
    },
    create: (output) => tableWriter(plan, job, output, context.signal),
  };
}

async function keySource(reader: KeyReader, job: RowJob, context: FileContext): Promise<RowSource> {
  const { dtype, n, shape, column } = reader;
  const columns = shape?.[1] || 1;
  const rowBytes = columns * dtypeInfo(dtype).bytes;
  const target = await targetOf(reader, job.out, { ...job, verify: false, signal: context.signal });
  return {
    formats: [reader.format, target.format],
    noun: columns === 1 ? `${dtype} keys` : `rows of ${columns} ${dtype} keys`,
    total: n === undefined ? undefined : n / columns,
    async *batches() {
      const rowsOfBatch = Math.max(1, Math.min(BATCH_ROWS, Math.floor(BATCH_BYTES / rowBytes)));
      for await (const keys of keyGroups(reader, rowsOfBatch * columns)) {
        const rows = keys.length / columns;
        yield { rows, lengths: equalLengths(rows, rowBytes), bytes: bytesOf(keys) };
      }
    },
    async create(output, rows) {
      const written =
        rows === undefined
          ? {}
          : { n: rows * columns, shape: shape && shape.length > 1 ? [rows, columns] : [rows] };
      const writer = await target.create(output, {
        n: undefined,
        shape: undefined,
        ...written,
        dtype,
        column,
      });
      return { write: (_, bytes) => writer.write(bytes), end: () => writer.end() };
    },
  };
}

function lineSource({ in: inputs }: RowJob, terminator: number, context: FileContext): RowSource {
  return {
    formats: ['lines', 'lines'],
    noun: 'lines',
    total: undefined,
    async *batches() {
      for await (const bytes of partsOfLines(inputs, { terminator }, context, BATCH_BYTES)) {
        for (let begin = 0, end = 0; begin < bytes.length; begin = end) {
          const lengths: number[] = [];
          while (lengths.length < BATCH_ROWS && end < bytes.length) {
            const next = bytes.indexOf(terminator, end) + 1;
            lengths.push(next - end);
            end = next;
          }
          yield { rows: lengths.length, lengths: lengthList(lengths), bytes: bytes.subarray(begin, end) };
        }
      }
    },
    create: async (output) => ({ write: (_, bytes) => output.write(bytes), end: async () => undefined }),
  };
}
