// Sorts on a device until it is terminated by scripts/soak-devices.mjs.

import { parentPort, workerData } from 'node:worker_threads';
import { Sorter } from '../dist/src/index.js';

const sorter = await Sorter.open({ device: workerData.device, onWarning: () => undefined });
for (let round = 0; ; round++) {
  const keys = Uint32Array.from(
    { length: 5000 + (round % 7) * 3000 },
    (_, i) => Math.imul(i + round, 2654435761) >>> 0,
  );
  const sorted = await sorter.sort(keys);
  const wanted = keys.toSorted();
  parentPort.postMessage(sorted.every((key, i) => key === wanted[i]) ? 'right' : `round ${round} is wrong`);
}
