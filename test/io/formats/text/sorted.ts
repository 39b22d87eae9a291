/** Texts in tests: written, sorted in this process on the host, and read back. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { FileReport } from '../../../../src/io/file-sort/file-job.js';
import { sortTableFile, type TableJob } from '../../../../src/io/tables/sort-table-file.js';
import { hostSorter } from '../../../../src/sort/api/host-sorter.js';
import type { Sorter } from '../../../../src/sort/api/sorter.js';
import { nowhere } from '../../context.js';

const sorter = hostSorter(() => undefined) as Sorter;

/** The result of a sort: the output, and the messages printed meanwhile. */
export interface Sorted {
  readonly text: string;
  readonly notes: readonly string[];
  readonly warnings: readonly string[];
  readonly report: FileReport;
}

export interface SortedJob extends Omit<TableJob, 'in' | 'out'> {
  /** Last part of the name of the input. Default `csv`. */
  readonly from?: string;
  /** Last part of the name of the output. Default that of the input. */
  readonly into?: string;
}

/**
 * Sorts a text by way of files.
 * @param path returns the path of a name
 */
export async function sorted(
  path: (name: string) => string,
  input: string | Uint8Array,
  { from = 'csv', into = from, ...job }: SortedJob,
): Promise<Sorted> {
  const [source, target] = [path(`in.${from}`), path(`out.${into}`)];
  writeFileSync(source, input);
  const notes: string[] = [];
  const warnings: string[] = [];
  const report = await sortTableFile(
    sorter,
    { verify: true, ...job, in: source, out: target },
    {
      ...nowhere,
      onNote: (note) => void notes.push(note),
      onWarning: ({ message }) => void warnings.push(message),
    },
  );
  return { text: readFileSync(target, 'utf8'), notes, warnings, report };
}
