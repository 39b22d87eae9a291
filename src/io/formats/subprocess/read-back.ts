/** Reads a written file back and compares it with the data that was sent. */
import { createHash } from 'node:crypto';
import { IoError } from '../../../util/errors.js';
import { type TableField, typeText } from '../tables/table-type.js';
import type { Batch, BinaryFormat, WantedBatches } from './protocol.js';
import { ReaderProcess } from './reader-process.js';

/** The data to read back: the only column of a file, or the rows of a table. */
export interface ReadBackRequest {
  readonly format: BinaryFormat;
  readonly ask: WantedBatches;
  /** Expected columns, for formats with typed columns. */
  readonly fields?: readonly TableField[];
}

/** A format without a JSON type returns JSON columns as text. */
const typeNames = (fields: readonly Partial<TableField>[]): string =>
  JSON.stringify(fields.map(({ name, type }) => [name, type && typeText(type).replaceAll('json', 'text')]));

export class ReadBack {
  readonly #request: ReadBackRequest;
  readonly #sent = createHash('sha256');

  constructor(request: ReadBackRequest) {
    this.#request = request;
  }

  /** Adds sent values or rows to the hash: the last buffer, as in the batches that are read. */
  add({ buffers }: Batch): void {
    this.#sent.update(buffers.at(-1) ?? new Uint8Array(0));
  }

  /** @throws IoError when the file differs from the sent data */
  async compare({ name, fd, signal }: { name: string; fd: number; signal: AbortSignal }): Promise<void> {
    const { format, ask, fields } = this.#request;
    const found = createHash('sha256');
    const child = new ReaderProcess({ name, what: 'read', fd, signal });
    try {
      await child.send({ message: { is: 'read', format } });
      const answer = await child.receive();
      if (fields && 'message' in answer && answer.message.is === 'table') {
        const [wanted, got] = [typeNames(fields), typeNames(answer.message.fields)];
        if (wanted !== got) throw this.#error(name, `its columns are ${got}, not ${wanted}`);
      }
      await child.send({ message: ask });
      for (;;) {
        const frame = await child.receive();
        if ('message' in frame) break;
        found.update(frame.batch.buffers.at(-1) ?? new Uint8Array(0));
      }
    } finally {
      await child.close();
    }
    if (found.digest('hex') !== this.#sent.digest('hex')) throw this.#error(name, 'its values differ');
  }

  #error(name: string, why: string): IoError {
    return new IoError(
      `cannot write ${name}: the file that was read back differs from the written data, ${why}`,
      { details: { path: name } },
    );
  }
}
