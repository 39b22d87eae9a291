/** A context for files, without stdin and stdout. */
import { Readable, Writable } from 'node:stream';
import type { FileContext } from '../../src/io/file-sort/file-job.js';

export const nowhere: FileContext = {
  stdin: Readable.from([]),
  stdout: new Writable(),
  signal: new AbortController().signal,
};
