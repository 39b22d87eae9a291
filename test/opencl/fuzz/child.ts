// Runs the programs of one session, which its argument names, and ends as the session says. Events are reported on file
// descriptor 3.
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import * as cl from '../../../src/opencl/index.js';
import { LayerControl } from '../../layer/layer.js';
import { Violation } from './machine.js';
import { device, type Order, play, trace, traits, watchLoop } from './play.js';
import { type Planned, session } from './session.js';

const order = JSON.parse(process.argv[2] ?? '') as Order;
trace(`T ${JSON.stringify(traits)}`);
const { programs, ending, copies } = session(order.seed, !device.singleThreaded, order.shape);
watchLoop();

/** Runs a program on a worker. Resolves when the worker has ended as expected. */
function onWorker(planned: Planned): Promise<void> {
  const worker = new Worker(new URL('./worker.js', import.meta.url), {
    workerData: { planned, order, copies },
  });
  const ended = new Promise<void>((resolve, reject) => {
    let thrown: Error | undefined;
    worker.on('error', (error: Error) => {
      thrown = error;
    });
    worker.on('exit', (code) => {
      trace(`w ${planned.index} ${code}`);
      if (code === 3) process.exit(3); // has reported the reason
      const expected = {
        natural: 0,
        exit: 7,
        throw: 1,
        terminate: 1,
        'releaseAll, exit': 7,
        'exit in exit': 7,
      };
      const isOurs = thrown === undefined || (planned.ending === 'throw' && thrown.message === 'on purpose');
      if (isOurs && code === expected[planned.ending]) resolve();
      else
        reject(
          new Violation(`a worker that ends by ${planned.ending} ended with ${code} ${thrown?.stack ?? ''}`),
        );
    });
  });
  worker.on('message', () => void sleep(planned.cut % 20).then(() => worker.terminate()));
  return ended;
}

async function main(): Promise<void> {
  const wanted = programs.filter(({ index }) => !order.keep || order.keep[index] !== undefined);
  // The same program ends the session, whatever steps are left out.
  const last = programs.filter(({ worker }) => !worker).at(-1);
  const workers = new Set<Promise<void>>();
  for (const planned of wanted) {
    if (planned.worker) {
      const ended = onWorker(planned);
      ended.catch(() => undefined);
      workers.add(ended);
      void ended.then(() => workers.delete(ended)).catch(() => undefined);
      if (workers.size >= 2) await Promise.all(workers);
    } else {
      await play(planned, planned === last ? ending : 'natural', order, copies);
    }
  }
  await Promise.all(workers);
  if (process.env.CLSORT_LAYER_CONTROL) await nothingIsLeft(process.env.CLSORT_LAYER_CONTROL);
  trace('D');
}

/** Under the layer: after everything is released no reference remains, and no object was used without one. */
async function nothingIsLeft(file: string): Promise<void> {
  const control = new LayerControl(file);
  cl.releaseAll({ contexts: true });
  const left = await control.settled(10_000);
  if (Object.keys(left).length > 0) throw new Violation(`references are left: ${JSON.stringify(left)}`);
  const { count, last } = control.misuses;
  if (count > 0) throw new Violation(`objects were used without a reference, in ${last}`);
  control.close();
}

try {
  await main();
} catch (error) {
  if (!(error instanceof Violation)) throw error;
  trace(`V ${error.message}`);
  process.exit(3);
}
