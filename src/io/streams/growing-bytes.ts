import { copyBytes } from '../../util/copy-bytes.js';

/** Bytes that grow on demand. */
export class GrowingBytes {
  /** The memory, with room after `length`; replaced when it grows. */
  bytes: Uint8Array<ArrayBuffer>;
  length = 0;
  readonly #maxBytes: number;

  constructor(firstBytes = 1024, maxBytes = Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxBytes;
    this.bytes = new Uint8Array(Math.min(maxBytes, firstBytes));
  }

  /**
   * Appends `more` zero bytes and returns their offset.
   *
   * @throws RangeError when the length would exceed its maximum
   */
  reserve(more: number): number {
    const at = this.length;
    const length = at + more;
    if (length > this.#maxBytes) throw new RangeError(`it holds more than ${this.#maxBytes} bytes`);
    this.length = length;
    if (length > this.bytes.length) {
      const grown = new Uint8Array(Math.min(this.#maxBytes, Math.max(length, 2 * this.bytes.length)));
      grown.set(this.bytes);
      this.bytes = grown;
    }
    return at;
  }

  append(from: Uint8Array, begin = 0, end = from.length): void {
    const at = this.reserve(end - begin);
    copyBytes(from, begin, end, this.bytes, at);
  }
}
