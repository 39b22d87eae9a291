// Runs one program of a session on a worker.
import { workerData } from 'node:worker_threads';
import { Violation } from './machine.js';
import { type Order, play, trace, watchLoop } from './play.js';
import type { Planned } from './session.js';

const { planned, order, copies } = workerData as { planned: Planned; order: Order; copies: boolean };
watchLoop();
// No top-level await: V8 of Node 20 crashes when a worker is terminated while it starts such a module.
play(planned, planned.ending, order, copies).catch((error) => {
  if (!(error instanceof Violation)) throw error;
  trace(`V ${error.message}`);
  process.exit(3);
});
