/** Sums of so many keys that the addition of one would be lost to rounding. */
import type { Device } from '../../src/device/device.js';
import { enqueueReduce, enqueueReduceAsRun } from '../../src/primitives/reduce.js';
import { forEachOpened, testIf } from '../each-device.js';

async function withKeys<T>(
  device: Device,
  keys: Float32Array,
  use: (work: { keys: ReturnType<Device['buffer']>; n: number }) => Promise<T>,
): Promise<T> {
  const buffer = device.buffer(keys.byteLength);
  try {
    device.queue.write(buffer, keys);
    return await use({ keys: buffer, n: keys.length });
  } finally {
    await device.queue.finish();
    buffer.release();
  }
}

await forEachOpened((title, device, small) => {
  for (const [form, enqueue] of Object.entries({
    reduce: enqueueReduce,
    'reduce as a run': enqueueReduceAsRun,
  })) {
    testIf(true, title(`${form} compensates for rounding errors in f32 sums`), async (t) => {
      const keys = new Float32Array(small ? 4096 : 65_536).fill(1);
      // Adding 1 to such a number is lost to rounding.
      const large = keys.length / 16;
      for (let i = 0; i < large; i++) keys[4 * i] = 2 ** 24; // one of every four, which a work-item reads at once
      const sum = await withKeys(device, keys, async (own) => {
        const read = await enqueue(device, { ...own, dtype: 'f32', op: 'sum' });
        await device.queue.finish();
        return read();
      });
      const ones = keys.length - large;
      t.true(Math.abs(Number(sum) - large * 2 ** 24 - ones) < ones / 4, `${sum}`);
    });
  }
});
