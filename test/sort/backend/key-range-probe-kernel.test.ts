/** The probe of key bits alone: sorts on CPU devices find constant digits in another way and never use it. */
import { keyCodec } from '../../../src/keys/key-codec.js';
import { KeyRangeProbe } from '../../../src/sort/backend/key-range-probe.js';
import { column } from '../../../src/sort/model/column.js';
import { forEachOpened, testIf } from '../../each-device.js';

const N = 2 ** 17 + 5;

await forEachOpened((title, device, small) => {
  const able =
    (device.capabilities.type === 'cpu' && !small) ||
    'the probe is used from 2^24 keys on here, or takes too long';
  testIf(able, title('the probe of key bits reads every key, first and last included'), async (t) => {
    const codec = keyCodec('u32');
    const narrow = async (keys: Uint32Array) => {
      const buffer = device.buffer(keys.byteLength);
      device.queue.write(buffer, keys);
      const work = { bits: [0, 32] as const, codec };
      const bits = await new KeyRangeProbe(device).narrow(column('u32', N, keys), buffer, work);
      buffer.release();
      return bits;
    };
    const keys = Uint32Array.from({ length: N }, (_, i) => (i * 7) & 0xff);
    t.deepEqual(await narrow(keys), [0, 8]);
    for (const at of [5, 100_000, N - 2, N - 1]) {
      const other = keys.slice();
      other[at] = 0x00ab_0000;
      t.deepEqual(await narrow(other), [0, 24], `${at}`);
    }
  });
});
