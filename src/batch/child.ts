/**
 * Main thread of a worker process, which isolates the batch from driver crashes. It forwards messages, and ends the
 * process together with its parent even while the sorting thread is blocked.
 */
import { Worker } from 'node:worker_threads';
import { endWithParent } from '../util/end-with-parent.js';

endWithParent();
const worker = new Worker(new URL('./worker.js', import.meta.url));
process.on('message', (message) => worker.postMessage(message));
worker.on('message', (message) => process.send?.(message));
worker.on('error', (error) => {
  process.stderr.write(`${(error as Error)?.stack ?? String(error)}\n`, () => process.exit(1));
});
worker.on('exit', (code) => process.exit(code));
