/** Random-access byte sources: a file or memory. */
import { fstatSync, readSync } from 'node:fs';
import { FormatError } from '../../../util/errors.js';
import { type Allocate, uncleared } from '../../../util/uncleared.js';
import { FD } from './protocol.js';

export interface ByteSource {
  readonly size: number;
  /**
   * Returns a copy of `length` bytes from `position` on.
   *
   * @param allocate  returns the memory of the copy; default new memory
   * @throws FormatError when the file was truncated in the meantime
   */
  bytes(position: number, length: number, allocate?: Allocate): Uint8Array<ArrayBuffer>;
}

/** Returns a source for an open file; default that of the subprocess. */
export const fileSource = (fd: number = FD.file): ByteSource => ({
  size: fstatSync(fd).size,
  bytes(position, length, allocate = uncleared) {
    const bytes = allocate(length);
    for (let at = 0; at < length; ) {
      const read = readSync(fd, bytes, at, length - at, position + at);
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
