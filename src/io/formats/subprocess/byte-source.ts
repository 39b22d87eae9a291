/** Bytes that are read at any place: of the child's file, or of memory. Runs in the child. */
import { fstatSync, readSync } from 'node:fs';
import { FormatError } from '../../../util/errors.js';
import { FD } from './protocol.js';

export interface ByteSource {
  readonly size: number;
  /** So many bytes from `position` on, in memory of their own. @throws FormatError where the file was cut meanwhile */
  bytes(position: number, length: number): Uint8Array<ArrayBuffer>;
}

/** The file of the child. */
export const fileSource = (): ByteSource => ({
  size: fstatSync(FD.file).size,
  bytes(position, length) {
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length; ) {
      const read = readSync(FD.file, bytes, at, length - at, position + at);
      if (read === 0) throw new FormatError('the file was cut meanwhile');
      at += read;
    }
    return bytes;
  },
});

export const memorySource = (memory: Uint8Array): ByteSource => ({
  size: memory.length,
  // Not by slice, which of a Buffer is a view.
  bytes: (position, length) => new Uint8Array(memory.subarray(position, position + length)),
});
