/** Writes keys to a file in a subprocess. */
import type { FileHandle } from 'node:fs/promises';
import { type Dtype, dtypeInfo } from '../../../keys/dtype.js';
import { IoError } from '../../../util/errors.js';
import type { Output } from '../../streams/output.js';
import type { KeyFacts, KeyWriter, WriteOptions } from '../key-file.js';
import { BATCH_ROWS, type Batch, type Compression, type Message } from './protocol.js';
import { ReadBack, type ReadBackRequest } from './read-back.js';
import { ReaderProcess } from './reader-process.js';
import { copySpool, spool } from './spool.js';
import type { BinaryKind, SubprocessKind } from './subprocess-kind.js';

/** Default name of the key column. */
const COLUMN = 'key';

/** Compression of a text by its file extension. */
const COMPRESSIONS: Readonly<Record<string, Compression>> = { gz: 'gzip', zst: 'zstd' };

const compressionOf = (name: string): Compression | undefined =>
  COMPRESSIONS[name.slice(name.lastIndexOf('.') + 1).toLowerCase()];

/** A subprocess that writes a file. */
export class WriterProcess {
  readonly child: ReaderProcess;
  readonly #output: Output;
  readonly #temporary: FileHandle | undefined;
  readonly #readBack: ReadBack | undefined;

  private constructor(
    child: ReaderProcess,
    output: Output,
    temporary: FileHandle | undefined,
    readBack: ReadBack | undefined,
  ) {
    this.child = child;
    this.#readBack = readBack;
    this.#output = output;
    this.#temporary = temporary;
    output.discardSignal?.addEventListener('abort', () => void this.close()); // stops writing when discarded
  }

  /**
   * Starts a subprocess on an output. A stream output gets a temporary file, which is copied at the end.
   *
   * @throws IoError when the subprocess cannot be used
   * @throws PackageError when the package for the format is not installed
   */
  static async start(
    message: (compression: Compression | undefined) => Message,
    { isText }: SubprocessKind,
    output: Output,
    {
      signal,
      readBack,
    }: { readonly signal?: AbortSignal | undefined; readonly readBack?: ReadBack | undefined },
  ): Promise<WriterProcess> {
    const { name, discardSignal } = output;
    const signals = [signal, discardSignal].filter((one) => one !== undefined);
    const temporary = output.fd === undefined ? await spool() : undefined;
    let child: ReaderProcess | undefined;
    try {
      const fd = output.fd ?? (temporary?.fd as number);
      child = new ReaderProcess({ name, what: 'write', fd, signal: AbortSignal.any(signals) });
      await child.send({ message: message(isText ? compressionOf(name) : undefined) });
      return new WriterProcess(child, output, temporary, readBack);
    } catch (error) {
      await child?.close();
      await temporary?.close();
      throw error;
    }
  }

  /** Sends a batch. On failure the subprocess is closed. */
  async send(batch: Batch): Promise<void> {
    try {
      await this.child.send({ batch });
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** @throws IoError when fewer rows than `rows` were written, or the file differs when read back */
  async end(rows: number): Promise<void> {
    try {
      await this.child.send({ message: { is: 'end', rows } });
      const frame = await this.child.receive();
      const written = 'message' in frame && frame.message.is === 'end' ? frame.message.rows : undefined;
      if (written !== rows) {
        throw new IoError(`cannot write ${this.#output.name}: only ${written} of ${rows} rows were written`);
      }
      const fd = this.#output.fd ?? (this.#temporary?.fd as number);
      const { name, discardSignal = new AbortController().signal } = this.#output;
      await this.#readBack?.compare({ name, fd, signal: discardSignal });
      if (this.#temporary) await copySpool(this.#temporary, this.#output);
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    await this.child.close();
    await this.#temporary?.close();
  }
}

/**
 * Opens an output for keys that a subprocess writes.
 *
 * @throws IoError when the subprocess cannot be used
 * @throws PackageError when the package for the format is not installed
 */
export async function createInSubprocess(
  kind: SubprocessKind,
  output: Output,
  { dtype, column = COLUMN }: KeyFacts,
  { header, delimiter = kind.delimiter, signal, verify = false }: WriteOptions,
): Promise<KeyWriter> {
  const { format } = kind;
  const columns = [{ name: column, dtype }];
  const readBack = verify && !kind.isText ? new ReadBack(keyReadBack(kind, dtype)) : undefined;
  const writing = await WriterProcess.start(
    (compression) => ({ is: 'write', format, columns, header, delimiter, compression }),
    kind,
    output,
    { signal, readBack },
  );
  return new SubprocessWriter(writing, dtypeInfo(dtype).bytes, readBack);
}

/** Returns the request that reads the only column of a file back. */
const keyReadBack = ({ format }: BinaryKind, dtype: Dtype): ReadBackRequest => ({
  open: { is: 'read', format },
  ask: { is: 'columns', columns: [{ index: 0, dtype }] },
  buffer: 1,
});

class SubprocessWriter implements KeyWriter {
  readonly #writing: WriterProcess;
  readonly #readBack: ReadBack | undefined;
  readonly #keyBytes: number;
  #rows = 0;

  constructor(writing: WriterProcess, keyBytes: number, readBack: ReadBack | undefined) {
    this.#writing = writing;
    this.#readBack = readBack;
    this.#keyBytes = keyBytes;
  }

  async write(piece: Uint8Array): Promise<void> {
    const step = BATCH_ROWS * this.#keyBytes;
    for (let at = 0; at < piece.length; at += step) {
      const values = piece.subarray(at, at + step);
      const rows = values.length / this.#keyBytes;
      this.#readBack?.add(values);
      await this.#writing.send({ rows, buffers: [new Uint8Array(0), values] });
      this.#rows += rows;
    }
  }

  end(): Promise<void> {
    return this.#writing.end(this.#rows);
  }
}
