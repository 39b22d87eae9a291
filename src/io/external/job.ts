/** What is sorted in partitions, and what is told of it. */
import type { SortReport } from '../../sort/api/report.js';
import type { Output } from '../output.js';
import type { OrderingSortOptions, RecordOrdering } from '../record-ordering.js';
import type { Budget } from './budget.js';
import type { RecordInput } from './input.js';

export interface ExternalJob {
  readonly input: RecordInput;
  readonly order: RecordOrdering;
  /** The order in words, by which a sort that was ended is known again. */
  readonly orderName: string;
  /** Where the result goes: `-` for stdout. */
  readonly out: string;
  /** How the result is written; by default its bytes as they are. */
  readonly writer?: ((output: Output) => Promise<RecordWriter>) | undefined;
  /** Bytes of memory that may be taken, and what is done with them. */
  readonly budget: Budget;
  /** Folder for temporary files; default that of the output. */
  readonly tmp?: string | undefined;
  /** Goes on where a sort with the same input, output and order was ended, if there is one. */
  readonly resume?: boolean | undefined;
  /** Proves the whole: order, count and checksum. */
  readonly verify?: boolean | undefined;
  readonly options?: OrderingSortOptions | undefined;
  /** Chooses the sample. */
  readonly seed?: bigint | number | undefined;
}

/** Units on their way into a file of any format. */
export interface RecordWriter {
  write(piece: Uint8Array): Promise<void>;
  end(): Promise<void>;
}

/** What a sort through partitions did. */
export interface ExternalReport {
  readonly bytes: number;
  readonly partitions: number;
  /** Bytes of temporary files that this run wrote; 0 where partitions were in memory. */
  readonly spilledBytes: number;
  /** Bytes that an earlier run had sorted already. */
  readonly resumedBytes: number;
  readonly seconds: { readonly sample: number; readonly partition: number; readonly sort: number };
  readonly verified?: { readonly order: boolean; readonly permutation: boolean };
  /** Of the partition that took the longest; undefined where none had to be sorted. */
  readonly sort: SortReport | undefined;
}
