/** Random-access byte sources: the file of the subprocess, or memory. Runs in the subprocess. */
import { fstatSync, readSync } from 'node:fs';
import { FormatError } from '../../../util/errors.js';
import { FD } from './protocol.js';

export interface ByteSource {
  readonly size: number;
  /**
   * Returns a copy of `length` bytes from `position` on.
   *
   * @throws FormatError when the file was truncated in the meantime
   */
  bytes(position: number, length: number): Uint8Array<ArrayBuffer>;
}

/** Returns a source for the file of the subprocess. */
export const fileSource = (): ByteSource => ({
  size: fstatSync(FD.file).size,
  bytes(position, length) {
    const bytes = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer); // not cleared, since it is filled
    for (let at = 0; at < length; ) {
      const read = readSync(FD.file, bytes, at, length - at, position + at);
      if (read === 0) throw new FormatError('it was truncated while it was read');
      at += read;
    }
    return bytes;
  },
});

export const memorySource = (memory: Uint8Array): ByteSource => ({
  size: memory.length,
  // Not `slice`, which returns a view for a Buffer.
  bytes: (position, length) => new Uint8Array(memory.subarray(position, position + length)),
});
