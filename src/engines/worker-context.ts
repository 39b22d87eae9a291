/** Resources of a worker for its tasks. */
import { Readable, Writable } from 'node:stream';
import type { FileContext } from '../io/file-sort/file-job.js';
import type { Sorter } from '../sort/api/sorter.js';
import type { Progress, SortOptions } from '../sort/model/options.js';
import type { SharedFolder } from './shared-folder.js';

export interface WorkerContext {
  readonly shared: SharedFolder;
  /** Returns the sorter; opens the device on first use. */
  readonly sorter: () => Promise<Sorter>;
  /** Memory limit of a task in bytes. */
  readonly memory: number;
  /** Folder for temporary files of tasks that exceed memory; default: inside the job folder. */
  readonly tmp?: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly onWarning?: SortOptions['onWarning'] | undefined;
}

/** Returns a file context without stdin and stdout. */
export function fileContext({ signal, onProgress, onWarning }: WorkerContext): FileContext {
  return {
    signal,
    stdin: Readable.from([]),
    stdout: new Writable({
      write: (_, __, done) => done(new Error('cannot write to stdout: a task has none')),
    }),
    ...(onProgress && { onProgress }),
    ...(onWarning && { onWarning }),
  };
}
