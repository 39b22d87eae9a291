import type { FileJob } from '../file-sort/file-job.js';
import type { TextReadOptions } from '../formats/text/text-options.js';
import type { TableOptions } from './table-options.js';

/** The inputs, the output and the options of a table sort. */
export interface TableJob
  extends TableOptions,
    Pick<FileJob, 'nan' | 'algorithm' | 'scan' | 'radixBits' | 'tuning' | 'verify' | 'format' | 'to'>,
    TextReadOptions {
  /** Input file, or `-` for stdin. Several files are sorted together and must have the same columns. */
  readonly in: string | readonly string[];
  /** Output file, or `-` for stdout. An existing file is replaced only on success. */
  readonly out: string;
  /**
   * Memory limit in bytes for rows and their order. Larger tables are sorted with temporary files. Default: no limit.
   */
  readonly memory?: number | undefined;
  /** Folder for temporary files; default: the folder of the output. */
  readonly tmp?: string | undefined;
}
