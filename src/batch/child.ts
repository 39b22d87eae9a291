/**
 * The program of the process that works on one device, so that a driver that crashes takes no batch with it. This thread
 * hands on what is said, and ends the process with its parent, whatever the other one is held up by.
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
