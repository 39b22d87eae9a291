import type { FileSortOptions } from '../sort-file.js';
import type { TextReadOptions } from '../text/text-options.js';
import type { TableOptions } from './table-options.js';

/** Which tables to sort, from where to where, and how. */
export interface TableJob
  extends TableOptions,
    Pick<FileSortOptions, 'nan' | 'algorithm' | 'scan' | 'radixBits' | 'verify' | 'format' | 'to'>,
    TextReadOptions {
  /** File, `-` for stdin; of several the rows of all, whose columns have to be the same. */
  readonly in: string | readonly string[];
  /** Result, `-` for stdout. An existing file is replaced when all is well. */
  readonly out: string;
  /** Most bytes that rows and their order may take; what is more is sorted by way of temporary files. Default: no limit. */
  readonly memory?: number | undefined;
  /** Folder for temporary files; default that of the output. */
  readonly tmp?: string | undefined;
}
