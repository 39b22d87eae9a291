/** Message protocol between this process and the subprocess that reads or writes a file. */
import type { Dtype } from '../../../keys/dtype.js';
import type { KeyOrder } from '../tables/key-codes.js';
import type { TableField, TableType } from '../tables/table-type.js';

/** Formats that the subprocess reads and writes. */
export type BinaryFormat = 'arrow' | 'arrows' | 'parquet';

/** Formats that the subprocess writes and this process reads. */
export type TextFormat = 'csv' | 'ndjson';

export type SubprocessFormat = BinaryFormat | TextFormat;

/** Compression methods of text files. */
export type Compression = 'gzip' | 'zstd';

/** Text writing options; undefined selects the default. */
export interface TextOptions {
  readonly header?: boolean | undefined;
  readonly delimiter?: string | undefined;
  readonly compression?: Compression | undefined;
}

/** A column of a file. */
export interface FileColumn {
  readonly name: string;
  /** Type name in the format: 'DECIMAL(18,3)', 'Utf8', … */
  readonly type: string;
  /** Dtype of the values as keys; null if they cannot be keys. */
  readonly dtype: Dtype | null;
}

/** A requested column. */
export interface WantedColumn {
  /** 0-based column index in the file. */
  readonly index: number;
  readonly dtype: Dtype;
}

export interface NamedColumn {
  readonly name: string;
  readonly dtype: Dtype;
}

/** Opens the file for reading. The reply is a `schema`. */
export interface ReadMessage {
  readonly is: 'read';
  readonly format: BinaryFormat;
}

/** Requests columns. The reply consists of batches and an `end`. */
export interface ColumnsMessage {
  readonly is: 'columns';
  readonly columns: readonly WantedColumn[];
}

/** Opens the file for writing. Batches and an `end` follow; the reply is an `end`. */
export interface WriteMessage extends TextOptions {
  readonly is: 'write';
  readonly format: SubprocessFormat;
  readonly columns: readonly NamedColumn[];
}

export interface SchemaMessage {
  readonly is: 'schema';
  readonly columns: readonly FileColumn[];
  /** Total number of rows; null if unknown before the end. */
  readonly rows: number | null;
}

/** Opens the file as a table. The reply is a `table`. */
export interface ReadTableMessage {
  readonly is: 'read-table';
  readonly format: BinaryFormat;
}

/** A table column of a file. */
export interface FoundField extends Omit<TableField, 'type'> {
  /** Undefined for unsupported types. */
  readonly type?: TableType;
  /** Type name in the format. */
  readonly text: string;
}

export interface TableMessage {
  readonly is: 'table';
  readonly fields: readonly FoundField[];
  /** Total number of rows; null if unknown before the end. */
  readonly rows: number | null;
  /** Key-value metadata of the file. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** A key column, by its index in the file. */
export interface WantedKey extends KeyOrder {
  readonly index: number;
}

/**
 * Requests rows. The reply consists of batches and an `end`. Buffers of a batch: code lengths (u32), codes, row
 * lengths, rows.
 */
export interface RowsMessage {
  readonly is: 'rows';
  /** Indices of the columns to include in the rows. */
  readonly columns: readonly number[];
  readonly keys: readonly WantedKey[];
  /**
   * Columns that define equality of rows. Their codes are sent as a second code, whose lengths and bytes come last in
   * a batch.
   */
  readonly distinct: readonly number[] | null;
}

/** Opens the file for writing. Batches and an `end` follow; the reply is an `end`. Buffers of a batch: rows. */
export interface WriteTableMessage extends TextOptions {
  readonly is: 'write-table';
  readonly format: SubprocessFormat;
  readonly fields: readonly TableField[];
  /** Key-value metadata to write, in formats that support it. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** Marks the end of the batches, when sent or when written. */
export interface EndMessage {
  readonly is: 'end';
  readonly rows: number;
}

/** A serialized ClsortError. */
export interface ErrorMessage {
  readonly is: 'error';
  readonly code: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export type Message =
  | ReadMessage
  | ColumnsMessage
  | WriteMessage
  | SchemaMessage
  | ReadTableMessage
  | TableMessage
  | RowsMessage
  | WriteTableMessage
  | EndMessage
  | ErrorMessage;

/**
 * Rows of some columns in Arrow layout. Each column has its validity bits (empty if it has no nulls), then the
 * buffers of its type: for numbers, the little-endian values.
 */
export interface Batch {
  readonly rows: number;
  readonly buffers: readonly Uint8Array[];
}

/** Number of buffers per numeric column in a batch. */
export const BUFFERS_PER_COLUMN = 2;

/** Maximum number of rows per batch: a megabyte of 64-bit keys. */
export const BATCH_ROWS = 2 ** 17;

/** File descriptors of the subprocess. The lifeline closes when the parent exits. */
export const FD = { in: 0, out: 1, errors: 2, file: 3, lifeline: 4 } as const;
