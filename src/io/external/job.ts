/** An external sort: input, order and output. */
import type { Sorter } from '../../sort/api/sorter.js';
import type { SortOptions } from '../../sort/model/options.js';
import type { SortReport } from '../../sort/model/report.js';
import type { KeyWriter } from '../formats/key-file.js';
import type { RecordInput } from '../records/record-input.js';
import type { OrderingSortOptions, RecordOrdering } from '../records/record-ordering.js';
import type { Output, OutputContext } from '../streams/output.js';
import type { Budget } from './budget.js';
import type { InputReader } from './input-reader.js';

export interface ExternalJob {
  readonly input: RecordInput;
  readonly order: RecordOrdering;
  /** Description of the order, which must match to resume a sort. */
  readonly orderName: string;
  /** Path of the output, `-` for stdout. */
  readonly out: string;
  /** Opens the writer of the result; default: raw bytes. */
  readonly writer?: ((output: Output) => Promise<RecordWriter>) | undefined;
  /** Memory limit, and its division into buffers. */
  readonly budget: Budget;
  /** Folder for temporary files; default the folder of the output. */
  readonly tmp?: string | undefined;
  /** Resume an interrupted sort of the same input, output and order, if there is one. */
  readonly resume?: boolean | undefined;
  /** Verify the result: order, count and checksum. */
  readonly verify?: boolean | undefined;
  readonly options?: OrderingSortOptions | undefined;
  /** Seed of the sample. */
  readonly seed?: bigint | number | undefined;
}

/** Streams and callbacks of an external sort. */
export interface ExternalContext extends Pick<SortOptions, 'onProgress'>, OutputContext {
  /** Receives notes for users, such as the location of temporary files. */
  readonly onNote?: ((text: string) => void) | undefined;
}

/** One external sort, with its open input and output. */
export interface ExternalSort {
  readonly sorter: Sorter;
  readonly job: ExternalJob;
  readonly context: ExternalContext;
  readonly reading: InputReader;
  /** The output when it is already open. */
  readonly output: Output | undefined;
}

/** Writes records to a file of any format. */
export type RecordWriter = Pick<KeyWriter, 'write' | 'end'>;

/** Report of an external sort. */
export interface ExternalReport {
  readonly bytes: number;
  readonly partitions: number;
  /** Bytes of temporary files that this run wrote; 0 when partitions were in memory. */
  readonly spilledBytes: number;
  /** Bytes that an earlier run had already sorted. */
  readonly resumedBytes: number;
  readonly seconds: { readonly sample: number; readonly partition: number; readonly sort: number };
  readonly verified?: { readonly order: boolean; readonly permutation: boolean };
  /** Report of the slowest partition; undefined when none had to be sorted. */
  readonly sort: SortReport | undefined;
}
