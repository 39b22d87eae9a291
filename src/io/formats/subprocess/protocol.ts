/** Message protocol between this process and the subprocess that reads or writes a file. */
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

/** Opens the file for reading. The reply is a `table`. */
export interface ReadMessage {
  readonly is: 'read';
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
  /** Rows that cannot be among this number of first rows in order are left out. Default: none. */
  readonly head?: number | undefined;
  /** Whether statistics of the file may exclude rows from the first ones without reading them. Default: false. */
  readonly trustsStatistics?: boolean | undefined;
}

/**
 * Requests numeric columns, by their indices in the file. The reply consists of batches and an `end`. Buffers of a
 * batch, per column: validity bits (empty if there are no nulls) and little-endian values.
 */
export interface ColumnsMessage {
  readonly is: 'columns';
  readonly columns: readonly number[];
}

/**
 * Requests the first keys in order of a numeric column without nulls. The reply consists of batches, of which the last
 * has three buffers, and an `end`. The buffers are little-endian values, in the order of their rows; the numbers of these
 * rows (f64); and the number of nulls and the row of the first null (f64).
 */
export interface FirstKeysMessage extends Pick<RowsMessage, 'trustsStatistics'> {
  readonly is: 'first keys';
  readonly key: WantedKey;
  readonly head: number;
}

export type WantedBatches = RowsMessage | ColumnsMessage | FirstKeysMessage;

/**
 * Opens the file for writing. Batches and an `end` follow; the reply is an `end`. Buffers of a batch: rows, or for
 * numeric columns without nulls the same as those of a `columns` request.
 */
export interface WriteMessage extends TextOptions {
  readonly is: 'write';
  readonly format: SubprocessFormat;
  readonly layout: 'rows' | 'columns';
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

export type Message = ReadMessage | TableMessage | WantedBatches | WriteMessage | EndMessage | ErrorMessage;

export interface Batch {
  /** Number of rows that were read, including those that are left out. */
  readonly rows: number;
  readonly buffers: readonly Uint8Array[];
}

/** An open table in the subprocess. */
export interface TableSource extends Omit<TableMessage, 'is'> {
  batches(wanted: WantedBatches): AsyncIterable<Batch> | Iterable<Batch>;
}

/** Returns the next batch to write; undefined after the last one. */
export type NextBatch = () => Batch | undefined;

/** Maximum number of rows per batch: a megabyte of 64-bit keys. */
export const BATCH_ROWS = 2 ** 17;

/** File descriptors of the subprocess. The lifeline closes when the parent exits. */
export const FD = { in: 0, out: 1, errors: 2, file: 3, lifeline: 4 } as const;
