/** Sorts that are verified before they are timed. */
import test from 'ava';
import type { Algorithm } from '../../src/algorithms/algorithm.js';
import { algorithmNamed } from '../../src/algorithms/registry.js';
import { SortArrays, type SortArraysShape } from '../../src/bench/sort-arrays.js';
import type { Device } from '../../src/device/device.js';
import { forEachDevice } from '../each-device.js';

const KEYS = Uint32Array.from({ length: 300 }, (_, i) => (i * 7) % 64);

/** The outcome of a merge sort after which `spoil` was enqueued. */
async function tried(
  device: Device,
  valueBytes: SortArraysShape['valueBytes'],
  spoil?: Algorithm['enqueue'],
) {
  const arrays = await SortArrays.open(device, { dtype: 'u32', valueBytes, n: KEYS.length });
  try {
    const merge = await algorithmNamed('merge').create(device, { keyBits: 32, valueBytes });
    arrays.upload(new Uint8Array(KEYS.buffer));
    return await arrays.trial({
      name: 'merge',
      device,
      shape: merge.shape,
      supports: () => true,
      scratch: (n, options) => merge.scratch(n, options),
      enqueue: (queue, work) => {
        merge.enqueue(queue, work);
        return spoil?.(queue, work) ?? {};
      },
    });
  } finally {
    arrays.close();
  }
}

forEachDevice((title, device) => {
  for (const valueBytes of [0, 4, 8] as const) {
    test.serial(
      title(`a correct sort with ${valueBytes}-byte values passes the trial, and a wrong one fails`),
      async (t) => {
        const opened = await device();
        t.deepEqual(await tried(opened, valueBytes), {});
        const wrong = await tried(opened, valueBytes, (queue, { output }) => {
          queue.write(output, Uint32Array.of(1));
          return {};
        });
        t.regex(wrong.wrong ?? '', /order|elements/);
      },
    );
  }

  test.serial(title('a sort that swaps the values of equal keys fails the trial'), async (t) => {
    const swapped = await tried(await device(), 4, (queue, { outputValues }) => {
      // The positions of the first two keys.
      if (outputValues) queue.write(outputValues, Uint32Array.of(64, 0));
      return {};
    });
    t.deepEqual(swapped, { wrong: 'not in order' });
  });

  test.serial(title('a sort that changes an 8-byte value fails the trial'), async (t) => {
    const misplaced = await tried(await device(), 8, (queue, { outputValues }) => {
      if (outputValues) queue.write(outputValues, Uint32Array.of(999, 0));
      return {};
    });
    t.deepEqual(misplaced, { wrong: 'elements were lost or changed' });
  });
});
