import { copyBytes } from '../../util/copy-bytes.js';
import type { Output } from '../streams/output.js';
import type { Text } from './line-text.js';

/** Bytes of lines that are written at a time. */
export const OUTPUT_BYTES = 2 ** 22;

/** Collects lines and writes them in large pieces. */
export class LineWriter {
  readonly #out: Output;
  readonly #terminator: number;
  #buffer = Buffer.allocUnsafe(OUTPUT_BYTES);
  #length = 0;

  constructor(out: Output, terminator: number) {
    this.#out = out;
    this.#terminator = terminator;
  }

  /** Adds a line; returns a promise when the buffer must be written first. */
  add(line: Text): Promise<void> | undefined {
    return this.copy(line.bytes, line.begin, line.end) ? undefined : this.#addAfterFlush(line);
  }

  /** Adds a line if there is space for it, and returns whether there was. */
  copy(bytes: Buffer, begin: number, end: number): boolean {
    const to = this.#buffer;
    const at = this.#length;
    if (at + end - begin >= to.length) return false;
    this.#length = copyBytes(bytes, begin, end, to, at) + 1;
    to[this.#length - 1] = this.#terminator;
    return true;
  }

  async #addAfterFlush(line: Text): Promise<void> {
    await this.flush();
    const length = line.end - line.begin + 1;
    if (length > this.#buffer.length) this.#buffer = Buffer.allocUnsafe(length);
    this.add(line);
  }

  async flush(): Promise<void> {
    await this.#out.write(this.#buffer.subarray(0, this.#length));
    this.#length = 0;
    this.#buffer = Buffer.allocUnsafe(this.#buffer.length); // the output may still read the old one
  }
}
