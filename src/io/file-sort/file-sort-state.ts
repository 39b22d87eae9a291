import type { Sorter } from '../../sort/api/sorter.js';
import type { KeyFacts, KeyReader } from '../formats/key-file.js';
import type { KeyTarget } from '../formats/keys.js';
import { type Output, withOutput } from '../streams/output.js';
import type { FileContext, FileReport, LargeFileJob } from './file-job.js';
import { positionDtype } from './positions.js';

/** The state of one file sort. */
export interface FileSort {
  readonly sorter: Sorter;
  readonly reader: KeyReader;
  readonly target: KeyTarget;
  readonly job: LargeFileJob;
  readonly context: FileContext;
  /** Fields of the report that are known in advance. */
  readonly reportBase: Pick<FileReport, 'descending' | 'argsort' | 'formats'>;
  /** The output, when it is already open. */
  readonly output: Output | undefined;
}

/** Runs `write` with the output. An output that is already open is committed by its opener. */
export const writeToOutput = (
  { output, job, context }: FileSort,
  write: (output: Output) => Promise<void>,
): Promise<void> => (output ? write(output) : withOutput(job.out, context, write));

/** Returns the properties of the result: keys or positions. */
export const factsOf = (
  { reader: { dtype, column }, reportBase: { argsort }, job }: FileSort,
  n: number | undefined,
  shape: KeyFacts['shape'] = n === undefined ? undefined : [n],
): KeyFacts => ({ dtype: argsort ? positionDtype(n, job.wideFrom) : dtype, n, shape, column });
