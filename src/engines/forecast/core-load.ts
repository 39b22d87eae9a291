/** Runs in a worker thread: a load similar to that of tasks, arithmetic with stores at random places in memory. */
import { parentPort } from 'node:worker_threads';

/** More than caches hold. */
const PLACES = 2 ** 23;
const STEPS = 2 ** 24;

const places = new Uint32Array(PLACES);

parentPort?.on('message', () => {
  const begun = performance.now();
  let state = 1;
  for (let i = 0; i < STEPS; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    places[(state >>> 0) % PLACES] = i;
  }
  parentPort?.postMessage(performance.now() - begun);
});
