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
export const writeToOutput = <T>(
  { output, job, context }: Pick<FileSort, 'output' | 'context'> & { readonly job: { readonly out: string } },
  write: (output: Output) => Promise<T>,
): Promise<T> => (output ? write(output) : withOutput(job.out, context, write));

/**
 * Runs a sort. If it reads a pipe, the output is opened first, so that an unwritable path is reported before waiting
 * for the pipe.
 *
 * @param isFile whether the inputs are files of known length
 * @param sort sorts to an output that is already open, or opens it
 */
export const openForPipe = <T>(
  isFile: boolean,
  out: string,
  context: FileContext,
  sort: (output?: Output) => Promise<T>,
): Promise<T> => (isFile ? sort() : withOutput(out, context, sort));

/** Returns the properties of the result: keys or positions. */
export const factsOf = (
  { reader: { dtype, column }, reportBase: { argsort }, job }: FileSort,
  n: number | undefined,
  shape: KeyFacts['shape'] = n === undefined ? undefined : [n],
): KeyFacts => ({ dtype: argsort ? positionDtype(n, job.wideFrom) : dtype, n, shape, column });
