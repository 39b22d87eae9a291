/** Reads a key column from a file in a subprocess. */
import { dtypeInfo } from '../../../keys/dtype.js';
import { FormatError } from '../../../util/errors.js';
import type { Source } from '../../streams/raw.js';
import type { KeyReader, ReadRequest } from '../key-file.js';
import type { SchemaMessage, TableMessage, WantedColumn } from './protocol.js';
import { ReaderProcess } from './reader-process.js';
import { selectColumn } from './select-column.js';
import { spoolSource } from './spool.js';
import type { BinaryKind } from './subprocess-kind.js';

/** A subprocess that reads a file, and its first reply. */
export interface SubprocessReading<Answer> {
  readonly child: ReaderProcess;
  readonly answer: Answer;
  /** Ends the subprocess and deletes its temporary file. */
  close(): Promise<void>;
}

type FirstAnswer = { readonly read: SchemaMessage; readonly 'read-table': TableMessage };

/**
 * Starts a subprocess on a file. A stream is first copied to a temporary file.
 *
 * @throws the errors of `openInSubprocess`, except those of the column selection
 */
export async function startReader<Is extends keyof FirstAnswer>(
  is: Is,
  { format }: BinaryKind,
  source: Source,
  signal: AbortSignal | undefined,
): Promise<SubprocessReading<FirstAnswer[Is]>> {
  const { name } = source;
  const temporary = source.fd === undefined ? await spoolSource(source, signal) : undefined;
  let child: ReaderProcess | undefined;
  const close = async (): Promise<void> => {
    await child?.close();
    await temporary?.close();
  };
  try {
    const fd = source.fd ?? (temporary?.fd as number);
    child = new ReaderProcess({ name, what: 'read', fd, signal });
    await child.send({ message: { is, format } });
    const frame = await child.receive();
    return { child, close, answer: ('message' in frame ? frame.message : frame) as FirstAnswer[Is] };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Opens a file that a subprocess reads.
 *
 * @throws DtypeError when the column is not numeric or has another dtype than requested
 * @throws FormatError when the file is damaged
 * @throws IoError when reading fails or the subprocess crashes
 * @throws MemoryError when the subprocess exceeds its memory limit
 * @throws PackageError when the package for the format is not installed
 * @throws UsageError when the column does not exist or the choice is ambiguous
 */
export async function openInSubprocess(
  kind: BinaryKind,
  source: Source,
  request: ReadRequest,
): Promise<KeyReader> {
  const { column, dtype } = request;
  const { id } = kind;
  const { name } = source;
  const { child, close, answer } = await startReader('read', kind, source, request.signal);
  const { columns, rows } = answer;
  try {
    const wanted = selectColumn({ name, columns, column, dtype, isText: false });
    return {
      name,
      format: id,
      dtype: wanted.dtype,
      n: rows ?? undefined,
      shape: rows === null ? undefined : [rows],
      column: columns[wanted.index]?.name,
      plainAt: undefined,
      pieces: () => piecesOf(child, name, wanted, rows),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function* piecesOf(
  child: ReaderProcess,
  name: string,
  wanted: WantedColumn,
  rows: number | null,
): AsyncGenerator<Uint8Array> {
  await child.send({ message: { is: 'columns', columns: [wanted] } });
  const nulls = new NullCounter(name);
  let n = 0;
  for (;;) {
    const frame = await child.receive();
    if ('message' in frame) break;
    const [validity = new Uint8Array(0), values = new Uint8Array(0)] = frame.batch.buffers;
    nulls.count(validity, n, frame.batch.rows);
    n += frame.batch.rows;
    if (values.length !== frame.batch.rows * dtypeInfo(wanted.dtype).bytes) {
      throw new FormatError(`cannot read ${name}: a batch does not have as many bytes as its rows need`);
    }
    if (nulls.total === 0) yield values;
  }
  nulls.assertNone();
  if (rows !== null && n !== rows) {
    throw new FormatError(`cannot read ${name}: it declares ${rows} rows, and has ${n}`);
  }
}

/** Counts the nulls of a key column, which must not have any. */
class NullCounter {
  readonly #name: string;
  #first: number | undefined;
  total = 0;

  constructor(name: string) {
    this.#name = name;
  }

  /** @param begin  row of the file that the first bit belongs to */
  count(validity: Uint8Array, begin: number, rows: number): void {
    if (validity.length === 0) return;
    for (let i = 0; i < rows; i++) {
      if (((validity[i >> 3] ?? 0) >> (i & 7)) & 1) continue;
      this.#first ??= begin + i;
      this.total++;
    }
  }

  /** @throws FormatError with the number of nulls and the row of the first one */
  assertNone(): void {
    if (this.total === 0) return;
    throw new FormatError(
      `cannot read the keys of ${this.#name}: ${this.total === 1 ? 'a value is' : `${this.total} values are`} null, the ` +
        `first in row ${this.#first} (from 0). Remove or complete these rows first`,
      { details: { path: this.#name, nulls: this.total, first: this.#first } },
    );
  }
}
