/** What a task has at hand where it runs. */
import { Readable, Writable } from 'node:stream';
import type { FileContext } from '../io/sort-file.js';
import type { Progress, SortOptions } from '../sort/api/options.js';
import type { Sorter } from '../sort/api/sorter.js';
import type { SharedFolder } from './shared-folder.js';

export interface WorkerContext {
  readonly shared: SharedFolder;
  /** Opens the device when it is first needed. */
  readonly sorter: () => Promise<Sorter>;
  /** Bytes that a task may take. */
  readonly memory: number;
  /** Folder for what is larger; default in the job's. */
  readonly tmp?: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly onWarning?: SortOptions['onWarning'] | undefined;
}

/** What files are read and written with where there is neither stdin nor stdout. */
export function fileContext({ signal, onProgress, onWarning }: WorkerContext): FileContext {
  return {
    signal,
    stdin: Readable.from([]),
    stdout: new Writable({ write: (_, __, done) => done(new Error('a task has no stdout')) }),
    ...(onProgress && { onProgress }),
    ...(onWarning && { onWarning }),
  };
}
