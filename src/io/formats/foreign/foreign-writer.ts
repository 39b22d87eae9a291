/** Keys on their way into a foreign file, written by a child. */
import type { FileHandle } from 'node:fs/promises';
import { type Dtype, dtypeInfo } from '../../../keys/dtype.js';
import { IoError } from '../../../util/errors.js';
import type { Output } from '../../output.js';
import type { KeyFacts, KeyWriter, WriteOptions } from '../key-file.js';
import type { BinaryKind, ForeignKind } from './foreign.js';
import { ForeignProcess } from './foreign-process.js';
import { BATCH_ROWS, type Batch, type Compression, type Message } from './protocol.js';
import { ReadBack, type ReadBackRequest } from './read-back.js';
import { spool, unspool } from './spool.js';

/** Name of a column that has none. */
const COLUMN = 'key';

/** What texts are compressed with, by the last part of their names. */
const COMPRESSIONS: Readonly<Record<string, Compression>> = { gz: 'gzip', zst: 'zstd' };

const compressionOf = (name: string): Compression | undefined =>
  COMPRESSIONS[name.slice(name.lastIndexOf('.') + 1).toLowerCase()];

/** A child that writes a foreign file. */
export class Writing {
  readonly child: ForeignProcess;
  readonly #output: Output;
  readonly #temporary: FileHandle | undefined;
  readonly #readBack: ReadBack | undefined;

  private constructor(
    child: ForeignProcess,
    output: Output,
    temporary: FileHandle | undefined,
    readBack: ReadBack | undefined,
  ) {
    this.child = child;
    this.#readBack = readBack;
    this.#output = output;
    this.#temporary = temporary;
    output.dropped?.addEventListener('abort', () => void this.close()); // who drops it writes no more
  }

  /** Starts a child on an output, or on a file that goes there in the end. @throws IoError, PackageError */
  static async start(
    message: (compression: Compression | undefined) => Message,
    { isText }: ForeignKind,
    output: Output,
    {
      signal,
      readBack,
    }: { readonly signal?: AbortSignal | undefined; readonly readBack?: ReadBack | undefined },
  ): Promise<Writing> {
    const { name, dropped } = output;
    const signals = [signal, dropped].filter((one) => one !== undefined);
    const temporary = output.fd === undefined ? await spool() : undefined;
    let child: ForeignProcess | undefined;
    try {
      const fd = output.fd ?? (temporary?.fd as number);
      child = new ForeignProcess({ name, what: 'write', fd, signal: AbortSignal.any(signals) });
      await child.send({ message: message(isText ? compressionOf(name) : undefined) });
      return new Writing(child, output, temporary, readBack);
    } catch (error) {
      await child?.close();
      await temporary?.close();
      throw error;
    }
  }

  /** Sends a batch; after a failure the child is gone. */
  async send(batch: Batch): Promise<void> {
    try {
      await this.child.send({ batch });
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** @throws IoError when not all of so many rows were written */
  async end(rows: number): Promise<void> {
    try {
      await this.child.send({ message: { is: 'end', rows } });
      const frame = await this.child.receive();
      const written = 'message' in frame && frame.message.is === 'end' ? frame.message.rows : undefined;
      if (written !== rows) {
        throw new IoError(`cannot write ${this.#output.name}: of ${rows} rows ${written} were written`);
      }
      const fd = this.#output.fd ?? (this.#temporary?.fd as number);
      const { name, dropped = new AbortController().signal } = this.#output;
      await this.#readBack?.compare({ name, fd, signal: dropped });
      if (this.#temporary) await unspool(this.#temporary, this.#output);
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    await this.child.close();
    await this.#temporary?.close();
  }
}

/** Opens an output as a foreign file. @throws IoError, PackageError */
export async function createForeign(
  kind: ForeignKind,
  output: Output,
  { dtype, column = COLUMN }: KeyFacts,
  { header, delimiter = kind.delimiter, signal, verify = false }: WriteOptions,
): Promise<KeyWriter> {
  const { format } = kind;
  const columns = [{ name: column, dtype }];
  const readBack = verify && !kind.isText ? new ReadBack(keysOf(kind, dtype)) : undefined;
  const writing = await Writing.start(
    (compression) => ({ is: 'write', format, columns, header, delimiter, compression }),
    kind,
    output,
    { signal, readBack },
  );
  return new ForeignWriter(writing, dtypeInfo(dtype).bytes, readBack);
}

/** How the only column of a file is read again. */
const keysOf = ({ format }: BinaryKind, dtype: Dtype): ReadBackRequest => ({
  open: { is: 'read', format },
  ask: { is: 'columns', columns: [{ index: 0, dtype }] },
  buffer: 1,
});

class ForeignWriter implements KeyWriter {
  readonly #writing: Writing;
  readonly #readBack: ReadBack | undefined;
  readonly #keyBytes: number;
  #rows = 0;

  constructor(writing: Writing, keyBytes: number, readBack: ReadBack | undefined) {
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
