import test from 'ava';
import { DeviceColumnKernels } from '../../../src/sort/backend/device-column-kernels.js';
import { HostColumnKernels } from '../../../src/sort/backend/host-column-kernels.js';
import { column } from '../../../src/sort/model/column.js';
import { forEachDevice } from '../../each-device.js';

const CASES = [
  [0, 1],
  [5, 3001],
  [2 ** 32 - 3001, 3001],
] as const;

/** n consecutive positions from the first one on. */
const positions = (first: number, n: number): Uint32Array =>
  Uint32Array.from({ length: n }, (_, i) => first + i);

test('host: positions begin at the given index', async (t) => {
  for (const [first, n] of CASES) {
    const place = new Uint32Array(n);
    await new HostColumnKernels(undefined).positions(column('u32', n, place), first);
    t.deepEqual(place, positions(first, n));
  }
});

forEachDevice((title, open) => {
  test(title('positions begin at the given index, and nothing beyond them is written'), async (t) => {
    const device = await open();
    for (const [first, n] of CASES) {
      const buffer = device.buffer(4 * (n + 1));
      device.queue.fill(buffer, 7);
      await new DeviceColumnKernels(device).positions(column('u32', n, buffer), first);
      const all = new Uint32Array(n + 1);
      device.queue.read(buffer, all);
      await device.queue.finish();
      t.deepEqual(all, Uint32Array.of(...positions(first, n), 7));
      buffer.release();
    }
  });
});
