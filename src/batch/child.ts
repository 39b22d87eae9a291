/**
 * The program of the process that works on one device, so that a driver that crashes takes no batch with it. This thread
 * hands on what is said, and ends the process with its parent, whatever the other one is held up by.
 */
import { writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

const end = (): void => void process.kill(process.pid, 'SIGKILL');
process.once('disconnect', end);
if (!process.connected) end(); // the parent ended before anybody could hear of it
try {
  writeFileSync('/proc/self/oom_score_adj', '1000'); // where memory runs out, the batch itself is to stay
} catch {
  // Not every system has it.
}
const worker = new Worker(new URL('./worker.js', import.meta.url));
process.on('message', (message) => worker.postMessage(message));
worker.on('message', (message) => process.send?.(message));
worker.on('error', (error) => {
  process.stderr.write(`${(error as Error)?.stack ?? String(error)}\n`, () => process.exit(1));
});
worker.on('exit', (code) => process.exit(code));
