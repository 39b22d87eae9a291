/** What files are read and written with, where there is neither stdin nor stdout. */
import { Readable, Writable } from 'node:stream';
import type { FileContext } from '../../src/io/sort-file.js';

export const nowhere: FileContext = {
  stdin: Readable.from([]),
  stdout: new Writable(),
  signal: new AbortController().signal,
};
