/** Keys on their way into a foreign file, written by a child. */
import type { FileHandle } from 'node:fs/promises';
import { dtypeInfo } from '../../../keys/dtype.js';
import { IoError } from '../../../util/errors.js';
import type { Output } from '../../output.js';
import type { KeyFacts, KeyWriter, WriteOptions } from '../key-file.js';
import { ForeignProcess } from './foreign-process.js';
import type { ForeignKind } from './foreign-reader.js';
import { BATCH_ROWS, type Compression } from './protocol.js';
import { spool, unspool } from './spool.js';

/** Name of a column that has none. */
const COLUMN = 'key';

/** What texts are compressed with, by the last part of their names. */
const COMPRESSIONS: Readonly<Record<string, Compression>> = { gz: 'gzip', zst: 'zstd' };

const compressionOf = (name: string): Compression | undefined =>
  COMPRESSIONS[name.slice(name.lastIndexOf('.') + 1).toLowerCase()];

/** Opens an output as a foreign file. @throws IoError, UnsupportedError */
export async function createForeign(
  { format, isText, delimiter }: ForeignKind,
  output: Output,
  { dtype, column = COLUMN }: KeyFacts,
  options: WriteOptions,
): Promise<KeyWriter> {
  const { name, dropped } = output;
  const signals = [options.signal, dropped].filter((one) => one !== undefined);
  const temporary = output.fd === undefined ? await spool() : undefined;
  let child: ForeignProcess | undefined;
  try {
    const fd = output.fd ?? (temporary?.fd as number);
    child = new ForeignProcess({ name, what: 'write', fd, signal: AbortSignal.any(signals) });
    await child.send({
      message: {
        is: 'write',
        format,
        columns: [{ name: column, dtype }],
        header: options.header,
        delimiter: options.delimiter ?? delimiter,
        compression: isText ? compressionOf(name) : undefined,
      },
    });
    return new ForeignWriter(child, output, temporary, dtypeInfo(dtype).bytes);
  } catch (error) {
    await child?.close();
    await temporary?.close();
    throw error;
  }
}

class ForeignWriter implements KeyWriter {
  readonly #child: ForeignProcess;
  readonly #output: Output;
  readonly #temporary: FileHandle | undefined;
  readonly #keyBytes: number;
  #rows = 0;

  constructor(child: ForeignProcess, output: Output, temporary: FileHandle | undefined, keyBytes: number) {
    this.#child = child;
    this.#output = output;
    this.#temporary = temporary;
    this.#keyBytes = keyBytes;
    output.dropped?.addEventListener('abort', () => void this.#close()); // who drops it writes no more
  }

  async write(piece: Uint8Array): Promise<void> {
    const step = BATCH_ROWS * this.#keyBytes;
    try {
      for (let at = 0; at < piece.length; at += step) {
        const values = piece.subarray(at, at + step);
        const rows = values.length / this.#keyBytes;
        await this.#child.send({ batch: { rows, buffers: [new Uint8Array(0), values] } });
        this.#rows += rows;
      }
    } catch (error) {
      await this.#close();
      throw error;
    }
  }

  async end(): Promise<void> {
    try {
      await this.#child.send({ message: { is: 'end', rows: this.#rows } });
      const frame = await this.#child.receive();
      const rows = 'message' in frame && frame.message.is === 'end' ? frame.message.rows : undefined;
      if (rows !== this.#rows) {
        throw new IoError(`cannot write ${this.#output.name}: of ${this.#rows} rows ${rows} were written`);
      }
      if (this.#temporary) await unspool(this.#temporary, this.#output);
    } finally {
      await this.#close();
    }
  }

  async #close(): Promise<void> {
    await this.#child.close();
    await this.#temporary?.close();
  }
}
