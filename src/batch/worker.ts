/** The thread that sorts, in the process of a device: its other thread has to be free to see that process's parent end. */
import { Readable, Writable } from 'node:stream';
import { parentPort } from 'node:worker_threads';
import { ArrayPool } from '../io/array-pool.js';
import { FileSortBatcher } from '../io/file-sort-batcher.js';
import type { FileContext } from '../io/sort-file.js';
import { Sorter } from '../sort/api/sorter.js';
import { UsageError } from '../util/errors.js';
import { type FromChild, type ToChild, toldError } from './protocol.js';
import { runJob } from './run-job.js';

const say = (message: FromChild): void => parentPort?.postMessage(message);

/** Between two words about how a job goes. */
const PROGRESS_MS = 100;

const running = new Map<number, AbortController>();
let sorter: Sorter | undefined;
let arrays: ArrayPool | undefined;
let together: FileSortBatcher | undefined;

const noStream = (): UsageError => new UsageError('a batch has no stdin and no stdout: name a file');

function contextOf(id: number, signal: AbortSignal): FileContext {
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    signal,
    arrays,
    batcher: together,
    stdin: new Readable({
      read: (): never => {
        throw noStream();
      },
    }),
    stdout: new Writable({ write: (_, __, done) => done(noStream()) }),
    temporaryFiles: {
      add: (aside) => say({ is: 'aside', change: 'add', aside }),
      delete: (aside) => say({ is: 'aside', change: 'delete', aside }),
    },
    onWarning: ({ message }) => say({ is: 'warning', message }),
    onProgress: (progress) => {
      const at = performance.now();
      if (at - shownAt < PROGRESS_MS) return;
      shownAt = at;
      say({ is: 'progress', id, progress });
    },
  };
}

async function open({ device, idleBytes }: Extract<ToChild, { is: 'open' }>): Promise<void> {
  try {
    sorter = await Sorter.open({ device, onWarning: ({ message }) => say({ is: 'warning', message }) });
    arrays = new ArrayPool(sorter, idleBytes);
    // Where nobody asked for a device, few keys make no trip to it.
    together = device !== 'auto' && sorter.device ? new FileSortBatcher(sorter) : undefined;
    await sorter.prepareFiles().catch(() => undefined); // whoever needs it will be told
    say({ is: 'opened' });
  } catch (error) {
    say({ is: 'refused', error: toldError(error) });
  }
}

async function run({ id, job, memory }: Extract<ToChild, { is: 'run' }>): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  try {
    if (!sorter) throw new Error('a job came before its device');
    say({ is: 'done', id, made: await runJob(sorter, job, memory, contextOf(id, controller.signal)) });
  } catch (error) {
    say({ is: 'error', id, error: toldError(error) });
  } finally {
    running.delete(id);
  }
}

parentPort?.on('message', (message: ToChild) => {
  if (message.is === 'open') void open(message);
  else if (message.is === 'run') void run(message);
  else if (message.is === 'cancel') running.get(message.id)?.abort();
  else void Promise.resolve(sorter?.close()).finally(() => parentPort?.close());
});
