/** Histograms and sums of so many keys that the count of one work-item would overflow or be lost to rounding. */
import type { Device } from '../../src/device/device.js';
import type { Dtype } from '../../src/keys/dtype.js';
import { gridStrideGroups } from '../../src/primitives/group.js';
import { histogram } from '../../src/primitives/histogram.js';
import { reduce } from '../../src/primitives/reduce.js';
import { forEachOpened, testIf } from '../each-device.js';

const GROUP = 256;

async function withKeys<T>(
  device: Device,
  keys: Uint8Array | Float32Array,
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
  // A byte counts to 255: each work-item gets more keys of one bin than that.
  const n = 300 * device.capabilities.computeUnits * 32 * GROUP;
  const able = (!small && n <= 3e7) || `${n} keys of one bin take too long on ${device.info.name}`;
  for (const step of ['private_items', 'private_bins'] as const) {
    testIf(
      able,
      title(`histogram by ${step} flushes one-byte counters of work-items before they overflow`),
      async (t) => {
        t.true(
          n / (gridStrideGroups(device, n, GROUP) * GROUP) > 256,
          'each work-item has more keys than a byte counts',
        );
        const keys = new Uint8Array(n).fill(5);
        keys[n - 1] = 6;
        const work = { dtype: 'u8' as Dtype, binning: { bits: [0, 3] as const }, step };
        const counts = await withKeys(device, keys, (own) => histogram(device, { ...own, ...work }));
        t.deepEqual(counts, Uint32Array.of(0, 0, 0, 0, 0, n - 1, 1, 0));
      },
    );
  }

  testIf(true, title('reduce compensates for rounding errors in f32 sums'), async (t) => {
    const keys = new Float32Array(small ? 4096 : 65_536).fill(1);
    // Adding 1 to such a number is lost to rounding.
    const large = keys.length / 16;
    for (let i = 0; i < large; i++) keys[4 * i] = 2 ** 24; // one of every four, which a work-item reads at once
    const sum = await withKeys(device, keys, (own) => reduce(device, { ...own, dtype: 'f32', op: 'sum' }));
    const ones = keys.length - large;
    t.true(Math.abs(Number(sum) - large * 2 ** 24 - ones) < ones / 4, `${sum}`);
  });
});
