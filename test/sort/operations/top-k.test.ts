/** The select of top-k over several tiles of a group, small enough for a simulator that detects races. */
import test from 'ava';
import { Sorter } from '../../../src/index.js';
import { bytesOf } from '../../algorithms/sorts.js';
import { keysOf } from '../../distributions.js';
import { deviceNames, PLATFORMS } from '../../each-device.js';
import { referenceArgsort } from '../../reference.js';

for (const name of deviceNames()) {
  test.serial(
    `${name}: topK of few keys, many of them equal, equals the first k of a stable sort`,
    async (t) => {
      await using sorter = await Sorter.open({ device: PLATFORMS[name] ?? name });
      for (const [n, k] of [
        [300, 1],
        [700, 40],
        [1025, 100],
      ] as const) {
        const keys = (keysOf('u32', 'uniform', n) as Uint32Array).map((key) => key % 7);
        const { keys: first, indices } = await sorter.topK(keys, k, {
          largest: false,
          advanced: { tuning: { select: 1 } },
        });
        const order = referenceArgsort(bytesOf(keys), 'u32').slice(0, k);
        t.deepEqual(indices, Uint32Array.from(order), `${k} of ${n}`);
        t.deepEqual(
          first,
          Uint32Array.from(order, (i) => keys[i] ?? 0),
        );
      }
    },
  );
}
