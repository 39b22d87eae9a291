/** The interface of a key file format: a reader and a writer. */
import type { Dtype } from '../../keys/dtype.js';
import type { Output } from '../streams/output.js';
import type { Source } from '../streams/raw.js';
import type { FileFormat } from './file-format.js';
import type { SubprocessKind } from './subprocess/subprocess-kind.js';
import type { TableFile } from './subprocess/table-file.js';
import type { TextReadOptions } from './text/text-options.js';
import type { TextTable } from './text/text-table.js';

/** An open table: text, or a file that a subprocess reads. */
export type AnyTable = TextTable | TableFile;

/** Properties of keys that are known before writing, or after opening a file. */
export interface KeyFacts {
  readonly dtype: Dtype;
  /** Total number of keys; undefined while unknown, as for a pipe or for text. */
  readonly n: number | undefined;
  /** Dimensions, the last one varying fastest: [n] or [rows, columns]. Undefined while `n` is. */
  readonly shape: readonly number[] | undefined;
  /** Name of the key column, in formats with named columns. */
  readonly column?: string | undefined;
}

/** An open key file of any format. */
export interface KeyReader extends KeyFacts {
  /** Display name for messages: the path or `stdin`. */
  readonly name: string;
  /** Name of the format as in `--format`: 'raw', 'npy', … */
  readonly format: string;
  /** Whether the file is big-endian. An output of the same format keeps this byte order. */
  readonly bigEndian?: boolean | undefined;
  /** Detected text style. An output of the same format keeps it. */
  readonly text?: Pick<WriteOptions, 'header' | 'delimiter'> | undefined;
  /**
   * Byte offset of the keys in the source, if they lie there contiguously as little-endian bytes and the source
   * supports random access. Undefined if the keys can only be read sequentially.
   */
  readonly plainAt: number | undefined;
  /**
   * The file that holds the keys from `plainAt` on, for callers that read it directly. Undefined if the source is not
   * a single file.
   */
  readonly file?: Pick<Source, 'fd' | 'hash'> | undefined;
  /**
   * Fills `into` with whole keys as little-endian bytes, from byte `position` of the key sequence on. Present
   * whenever `plainAt` is, and also when the stored keys can be converted on the fly. `n` is then the actual number
   * of keys, not a claim of the header.
   */
  readonly readAt?: ((into: Uint8Array, position: number) => Promise<void>) | undefined;
  /**
   * Yields the keys in order as little-endian bytes, in pieces of whole keys. Can be consumed once.
   *
   * @throws FormatError when the data contradicts the header
   */
  pieces(): AsyncGenerator<Uint8Array>;
  /**
   * Finds the first keys in order, without passing the others on. Can be called once, instead of `pieces`. Undefined
   * if the format reads all keys anyway.
   *
   * @throws FormatError when a key is null or the data contradicts the header
   */
  readonly first?: ((request: FirstKeysRequest) => Promise<FirstKeys>) | undefined;
  /** Closes the reader and its source. */
  close(): Promise<void>;
}

/** A request for the first `count` keys in order. Of equal keys, earlier ones come first. */
export interface FirstKeysRequest {
  readonly count: number;
  readonly descending: boolean;
  readonly nan: 'first' | 'last';
}

/** The first keys as little-endian bytes, in the order of their positions in the file. */
export interface FirstKeys {
  readonly n: number;
  readonly values: Uint8Array;
  readonly positions: Float64Array;
}

/** Options for opening a key file. They must agree with what the file states about itself. */
export interface ReadRequest extends TextReadOptions {
  /** Dtype of raw keys. A self-describing file must have this dtype. */
  readonly dtype?: Dtype | undefined;
  /** Whether keys are big-endian; undefined if unspecified, in which case raw keys are little-endian. */
  readonly bigEndian?: boolean | undefined;
  /**
   * Column to read, by name or by 0-based index. Required for a table of several columns.
   *
   * @defaultValue the only column, or all columns of a matrix
   */
  readonly column?: string | number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A request that also returns tables. */
export interface OpenRequest extends ReadRequest {
  /** Gets the table if its columns are not keys, for a caller that closes it. */
  readonly tables?: AnyTable[] | undefined;
}

/** Writes keys to a file. */
export interface KeyWriter {
  /** @param piece  whole keys as little-endian bytes; the caller may reuse it when the promise resolves */
  write(piece: Uint8Array): Promise<void>;
  /** {@link Output.writeBy} of the output, if keys are written without conversion. */
  readonly writeBy?: Output['writeBy'];
  /** Writes the trailer of the format. The opener of the output commits it. */
  end(): Promise<void>;
}

/** A format whose key files can be read and written. */
export interface KeyFormat extends FileFormat {
  /** Identifier for `--format` and for reports: 'raw', 'npy', … */
  readonly id: string;
  /** Whether a whole file of this format may be compressed, because it is read sequentially. */
  readonly compressible: boolean;
  /** Whether the format handles compression itself and therefore receives the file as stored. */
  readonly decompressesItself?: boolean;
  /** Whether a file of this format is text that people can read. */
  readonly isText?: boolean;
  /** How a subprocess reads and writes tables of this format; undefined for formats that hold keys only. */
  readonly subprocess?: SubprocessKind;
  /**
   * Reads the header. The returned reader closes the source; on failure the caller has to close it.
   *
   * @throws DtypeError when the dtype differs from the requested one or cannot be sorted
   * @throws FormatError when the file is damaged or has another format
   * @throws IoError when reading fails
   * @throws UsageError when the request does not fit the file
   */
  open(source: Source, request: OpenRequest): Promise<KeyReader>;
  /**
   * Returns an upper bound of the keys of a column, if it is less than the size of the file in bytes.
   *
   * @throws the errors of `open`
   */
  maxKeys?(source: Source): Promise<number>;
  /** @throws DtypeError when the format cannot hold such keys */
  create(output: Output, facts: KeyFacts, options: WriteOptions): Promise<KeyWriter>;
  /** Returns the size of a file with such keys in bytes, header included; undefined if unknown in advance. */
  bytes?(facts: KeyFacts): number | undefined;
}

/** Options for writing keys. */
export interface WriteOptions {
  /** Whether raw keys are written big-endian; default false. */
  readonly bigEndian?: boolean | undefined;
  /** Whether a text starts with the column names; default true. */
  readonly header?: boolean | undefined;
  /** Delimiter between columns; default: the delimiter of the format. */
  readonly delimiter?: string | undefined;
  /** Whether an Arrow or Parquet file is read back and compared after writing; default false. */
  readonly verify?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}
