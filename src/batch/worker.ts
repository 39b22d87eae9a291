/** A worker process: sorts on one device for a batch, so that a crash or hang of its driver cannot end the batch. */
import type { FileContext } from '../io/file-sort/file-job.js';
import { FileSortBatcher } from '../io/file-sort/file-sort-batcher.js';
import { ArrayPool } from '../io/streams/array-pool.js';
import { Sorter } from '../sort/api/sorter.js';
import { endWithParent } from '../util/end-with-parent.js';
import { noStreams } from './no-streams.js';
import { type FromChild, serializeError, type ToChild } from './protocol.js';
import { runJob } from './run-job.js';

const send = (message: FromChild): void => void process.send?.(message);

/** Minimum milliseconds between two progress messages of a job: the eye needs no more. */
const PROGRESS_MS = 100;

const running = new Map<number, AbortController>();
let sorter: Sorter | undefined;
let arrays: ArrayPool | undefined;
let hashes = true;
let fileBatcher: FileSortBatcher | undefined;

function contextOf(id: number, signal: AbortSignal): FileContext {
  let reportedAt = Number.NEGATIVE_INFINITY;
  return {
    ...noStreams(),
    signal,
    arrays,
    batcher: fileBatcher,
    temporaryFiles: {
      add: (path) => send({ is: 'temporary', change: 'add', path }),
      delete: (path) => send({ is: 'temporary', change: 'delete', path }),
    },
    onWarning: ({ message }) => send({ is: 'warning', message }),
    onProgress: (progress) => {
      const at = performance.now();
      if (at - reportedAt < PROGRESS_MS) return;
      reportedAt = at;
      send({ is: 'progress', id, progress });
    },
  };
}

async function open({ device, idleBytes, ...opened }: Extract<ToChild, { is: 'open' }>): Promise<void> {
  try {
    hashes = opened.hashes;
    sorter = await Sorter.open({ device, onWarning: ({ message }) => send({ is: 'warning', message }) });
    arrays = new ArrayPool(sorter, idleBytes);
    // With device 'auto', small arrays are sorted on the host and need no batching.
    fileBatcher = device !== 'auto' && sorter.device ? new FileSortBatcher(sorter) : undefined;
    await sorter.prepareFiles().catch(() => undefined); // an operation that needs it reports the error
    send({ is: 'opened' });
  } catch (error) {
    send({ is: 'refused', error: serializeError(error) });
  }
}

async function run({ id, job, memory }: Extract<ToChild, { is: 'run' }>): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  try {
    if (!sorter) throw new Error('cannot run a job: no device is open');
    send({
      is: 'done',
      id,
      completion: await runJob(sorter, { job, memory, hashes }, contextOf(id, controller.signal)),
    });
  } catch (error) {
    send({ is: 'error', id, error: serializeError(error) });
  } finally {
    running.delete(id);
  }
}

endWithParent();
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error?.stack ?? String(error)}\n`, () => process.exit(1));
});
process.on('message', (message: ToChild) => {
  if (message.is === 'open') void open(message);
  else if (message.is === 'run') void run(message);
  else if (message.is === 'cancel') running.get(message.id)?.abort();
  else void Promise.resolve(sorter?.close()).finally(() => process.exit());
});
process.channel?.ref(); // the process waits for messages
