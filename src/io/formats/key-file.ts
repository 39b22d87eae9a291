/** What a format brings to files of keys: how they are read, and how they are written. */
import type { Dtype } from '../../keys/dtype.js';
import type { Output } from '../output.js';
import type { Source } from '../raw.js';
import type { TextReadOptions } from '../text/text-options.js';
import type { FileFormat } from './format.js';
import type { SubprocessKind } from './subprocess/subprocess-kind.js';

/** What is known of keys before they are written, or when a file of them is opened. */
export interface KeyFacts {
  readonly dtype: Dtype;
  /** Keys in all; undefined while that is not known, as for a pipe or for text. */
  readonly n: number | undefined;
  /** Dimensions, the last one varying fastest: [n], or [rows, columns]. Undefined while `n` is. */
  readonly shape: readonly number[] | undefined;
  /** Name of the column that they are, where the format has names. */
  readonly column?: string | undefined;
}

/** A file of keys that is open for reading, whatever its format. */
export interface KeyReader extends KeyFacts {
  /** For messages: the path, or `stdin`. */
  readonly name: string;
  /** Name of the format as `--format` takes it: 'raw', 'npy', … */
  readonly format: string;
  /** Whether the file has the most significant byte of each key first; an output of its format has it then, too. */
  readonly bigEndian?: boolean | undefined;
  /** Of a text: how it was found to be written; an output of its format is written so, too. */
  readonly text?: Pick<WriteOptions, 'header' | 'delimiter'> | undefined;
  /**
   * Where the keys begin, in bytes, when the source holds them as little-endian bytes one behind the other and can be
   * read at any position; undefined where they have to be taken in order.
   */
  readonly plainAt: number | undefined;
  /** The file that has them from `plainAt` on, for who reads it by itself; undefined where it is no file, or one of several. */
  readonly file?: Pick<Source, 'fd' | 'hash'> | undefined;
  /**
   * Fills `into` with whole keys, as little-endian bytes, from byte `position` of all of them on; there wherever `plainAt` is, and
   * where the keys can be had so although the file has them otherwise. `n` is what is there then, not what is claimed.
   */
  readonly readAt?: ((into: Uint8Array, position: number) => Promise<void>) | undefined;
  /**
   * The keys in order as little-endian bytes, in pieces of whole keys; to be taken once.
   *
   * @throws FormatError where what comes is not what the beginning has promised
   */
  pieces(): AsyncGenerator<Uint8Array>;
  /** Closes the source, too. */
  close(): Promise<void>;
}

/** What the caller says about a file that is to be read; what the file says itself must agree. */
export interface ReadRequest extends TextReadOptions {
  /** What raw keys are; a format that has types of its own must have this one. */
  readonly dtype?: Dtype | undefined;
  /** Whether the most significant byte of a key comes first; undefined where nobody has said: raw keys are little-endian then. */
  readonly bigEndian?: boolean | undefined;
  /**
   * The column to take, by name or by number from 0.
   *
   * @defaultValue the only one, or all of a matrix
   */
  readonly column?: string | number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Keys on their way into a file. */
export interface KeyWriter {
  /** @param piece whole keys as little-endian bytes; may be used again when this is fulfilled */
  write(piece: Uint8Array): Promise<void>;
  /** As the output's, where keys are written as they are. */
  readonly writeBy?: Output['writeBy'];
  /** Writes what a format has at its end. The output is committed by who opened it. */
  end(): Promise<void>;
}

/** A format whose files of keys are read and written. */
export interface KeyFormat extends FileFormat {
  /** As `--format` takes it and reports name it: 'raw', 'npy', … */
  readonly id: string;
  /** Whether a file of it may be compressed as a whole: it is read from its beginning to its end. */
  readonly compressible: boolean;
  /** Whether it reads and writes what is compressed by itself: it gets the file as it is. */
  readonly decompressesItself?: boolean;
  /** How its tables are read and written by a child; undefined for formats that hold keys only. */
  readonly subprocess?: SubprocessKind;
  /**
   * Reads what tells about the keys; the reader closes the source, a failure leaves that to the caller.
   *
   * @throws DtypeError, FormatError, IoError, UsageError
   */
  open(source: Source, request: ReadRequest): Promise<KeyReader>;
  /** @throws DtypeError where the format cannot hold such keys */
  create(output: Output, facts: KeyFacts, options: WriteOptions): Promise<KeyWriter>;
  /**
   * Bytes of a file of such keys, header and all; undefined where that shows at the end only.
   */
  bytes?(facts: KeyFacts): number | undefined;
}

/** How keys are written. */
export interface WriteOptions {
  /** Whether a raw file has the most significant byte of each key first; default false. */
  readonly bigEndian?: boolean | undefined;
  /** Whether names of columns come first in a text; default true. */
  readonly header?: boolean | undefined;
  /** What stands between columns; default that of the format. */
  readonly delimiter?: string | undefined;
  /** Whether a file of Arrow or Parquet is read again and compared; default false. */
  readonly verify?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}
