import { Readable, Writable } from 'node:stream';
import type { FileContext } from '../io/file-sort/file-job.js';
import { UsageError } from '../util/errors.js';

const noStream = (): UsageError =>
  new UsageError("cannot use '-' in a batch: a batch has no stdin and stdout. Name a file");

/** Returns streams that fail, since a batch has no stdin and stdout. */
export const noStreams = (): Pick<FileContext, 'stdin' | 'stdout'> => ({
  stdin: new Readable({
    read: (): never => {
      throw noStream();
    },
  }),
  stdout: new Writable({ write: (_, __, done) => done(noStream()) }),
});
