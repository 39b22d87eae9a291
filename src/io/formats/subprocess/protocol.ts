/** What this process and the child that reads or writes a file of another format say to each other. */
import type { Dtype } from '../../../keys/dtype.js';
import type { KeyOrder } from '../../tables/key-codes.js';
import type { TableField, TableType } from '../../tables/table-type.js';

/** Formats that a child reads and writes. */
export type BinaryFormat = 'arrow' | 'arrows' | 'parquet';

/** Formats that a child writes, and that this process reads. */
export type TextFormat = 'csv' | 'ndjson';

export type SubprocessFormat = BinaryFormat | TextFormat;

/** What texts may be compressed with. */
export type Compression = 'gzip' | 'zstd';

/** How a text is to be written; what is undefined is as usual. */
export interface TextOptions {
  readonly header?: boolean | undefined;
  readonly delimiter?: string | undefined;
  readonly compression?: Compression | undefined;
}

/** A column as a file has it. */
export interface FileColumn {
  readonly name: string;
  /** The type in the words of the format: 'DECIMAL(18,3)', 'Utf8', … */
  readonly type: string;
  /** What its values are as keys; null for those that are none. */
  readonly dtype: Dtype | null;
}

/** A column that is asked for, or given. */
export interface WantedColumn {
  /** Place in the file, from 0. */
  readonly index: number;
  readonly dtype: Dtype;
}

export interface NamedColumn {
  readonly name: string;
  readonly dtype: Dtype;
}

/** Opens the file for reading; answered by a `schema`. */
export interface ReadMessage {
  readonly is: 'read';
  readonly format: BinaryFormat;
}

/** Asks for columns; answered by batches and an `end`. */
export interface ColumnsMessage {
  readonly is: 'columns';
  readonly columns: readonly WantedColumn[];
}

/** Opens the file for writing; followed by batches and an `end`, and answered by an `end`. */
export interface WriteMessage extends TextOptions {
  readonly is: 'write';
  readonly format: SubprocessFormat;
  readonly columns: readonly NamedColumn[];
}

export interface SchemaMessage {
  readonly is: 'schema';
  readonly columns: readonly FileColumn[];
  /** Rows in all; null where that is known at the end only. */
  readonly rows: number | null;
}

/** Opens the file as a table; answered by a `table`. */
export interface ReadTableMessage {
  readonly is: 'read-table';
  readonly format: BinaryFormat;
}

/** A column of a table as a file has it. */
export interface FoundField extends Omit<TableField, 'type'> {
  /** Undefined for types that are not known here. */
  readonly type?: TableType;
  /** The type in the words of the format. */
  readonly text: string;
}

export interface TableMessage {
  readonly is: 'table';
  readonly fields: readonly FoundField[];
  /** Rows in all; null where that is known at the end only. */
  readonly rows: number | null;
  /** What the file says besides, by keys. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** A column that rows are ordered by, by its place in the file. */
export interface WantedKey extends KeyOrder {
  readonly index: number;
}

/** Asks for rows; answered by batches and an `end`. Buffers of a batch: lengths of codes (u32), codes, lengths of rows, rows. */
export interface RowsMessage {
  readonly is: 'rows';
  /** The columns of the rows, by their places. */
  readonly columns: readonly number[];
  readonly keys: readonly WantedKey[];
  /** Columns that are to be told apart by a second code, whose lengths and bytes come last in a batch. */
  readonly distinct: readonly number[] | null;
}

/** Opens the file for writing; followed by batches and an `end`, and answered by an `end`. Buffers of a batch: rows. */
export interface WriteTableMessage extends TextOptions {
  readonly is: 'write-table';
  readonly format: SubprocessFormat;
  readonly fields: readonly TableField[];
  /** What the file says besides, by keys; of formats that have such. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** All batches have come, or have been written. */
export interface EndMessage {
  readonly is: 'end';
  readonly rows: number;
}

/** An error of ours, as far as it can be told. */
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
 * Rows of some columns, laid out as Arrow does: for each column in turn the bits that say which rows are no null (empty
 * when none is), then what its type has: for numbers their little-endian bytes.
 */
export interface Batch {
  readonly rows: number;
  readonly buffers: readonly Uint8Array[];
}

/** Buffers that a column of numbers has in a batch. */
export const BUFFERS_PER_COLUMN = 2;

/** Rows of a batch at most. */
export const BATCH_ROWS = 2 ** 17;

/** The descriptors of a child: what it hears, what it says, the file, and what ends when its parent has. */
export const FD = { in: 0, out: 1, errors: 2, file: 3, lifeline: 4 } as const;
