/** Inputs of records: a view of key readers and of files of records that knows no formats. */
import { dtypeInfo } from '../../keys/dtype.js';
import type { KeyReader } from '../formats/key-file.js';
import type { Source } from '../streams/raw.js';

/** Reads bytes of an input at any position. */
export type ReadAt = (into: Uint8Array, position: number) => Promise<void>;

/** Records that are read once in order, and at any position where possible. */
export interface RecordInput {
  /** Name for messages: the path, or `stdin`. */
  readonly name: string;
  /** Path of the file; undefined when it cannot be opened a second time, as for a pipe. */
  readonly path?: string | undefined;
  /** Size of all records in bytes; undefined while unknown. */
  readonly bytes: number | undefined;
  /** Reads records at any position; undefined when they come only once. Then `bytes` is known. */
  readonly readAt?: ReadAt | undefined;
  /** Yields the records in order, in pieces of whole records. Can be called once. */
  pieces(): AsyncGenerator<Uint8Array>;
}

export const keyInput = (reader: KeyReader): RecordInput => ({
  name: reader.name,
  bytes: reader.n === undefined ? undefined : reader.n * dtypeInfo(reader.dtype).bytes,
  readAt: reader.n === undefined ? undefined : reader.readAt,
  pieces: () => reader.pieces(),
});

export const fileInput = (source: Source, recordBytes: number): RecordInput => ({
  name: source.name,
  bytes: source.bytes,
  readAt: source.readAt,
  pieces: () => source.pieces(recordBytes),
});
