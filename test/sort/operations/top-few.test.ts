/** The selection of few first keys in order: its candidates are listed, or all keys are read again. */
import test from 'ava';
import { keyCodec } from '../../../src/keys/key-codec.js';
import { DeviceColumnKernels } from '../../../src/sort/backend/device-column-kernels.js';
import { column } from '../../../src/sort/model/column.js';
import { bytesOf } from '../../algorithms/sorts.js';
import { DISTRIBUTIONS, dtypesOn, keysOf } from '../../distributions.js';
import { forEachDevice } from '../../each-device.js';
import { pick, referenceArgsort } from '../../reference.js';

forEachDevice((title, open, small) => {
  for (const dtype of dtypesOn(small)) {
    test.serial(
      title(`few first ${dtype} keys of every distribution are those of a stable sort`),
      async (t) => {
        const device = await open();
        const kernels = new DeviceColumnKernels(device);
        // More than 4,096 candidates are not listed; a position of 2^12 and more has two digits.
        for (const [n, k] of small
          ? ([[700, 40]] as const)
          : ([
              [300, 1],
              [4099, 256],
              [40_000, 77],
            ] as const)) {
          for (const distribution of DISTRIBUTIONS) {
            for (const order of [{}, { descending: true, nan: 'first' }] as const) {
              const keys = keysOf(dtype, distribution, n);
              const { BYTES_PER_ELEMENT: bytes } = keys;
              const [input, first, positions] = [n * bytes, k * bytes, k * 4].map((size) =>
                device.buffer(Math.ceil(size / 16) * 16),
              );
              if (!input || !first || !positions) throw new Error('three buffers');
              device.queue.write(input, keys);
              device.queue.fill(first, 0xa5a5a5a5);
              device.queue.fill(positions, 0xa5a5a5a5);
              const to = { keys: column(dtype, k, first), positions: column('u32', k, positions) };
              t.true(await kernels.selectSorted(column(dtype, n, input), keyCodec(dtype, order), to));
              const [keysRead, positionsRead] = [new Uint8Array(k * bytes), new Uint32Array(k)];
              device.queue.read(first, keysRead);
              device.queue.read(positions, positionsRead);
              await device.queue.finish();
              for (const buffer of [input, first, positions]) buffer.release();
              const expected = referenceArgsort(bytesOf(keys), dtype, order).slice(0, k);
              const what = `${distribution} ${k} of ${n} ${JSON.stringify(order)}`;
              t.deepEqual(positionsRead, Uint32Array.from(expected), what);
              t.deepEqual(keysRead, pick(bytesOf(keys), bytes, expected), what);
            }
          }
        }
      },
    );
  }

  test.serial(title('many first keys are left to a sort'), async (t) => {
    const device = await open();
    const keys = column('u32', 2 ** 16, device.buffer(2 ** 18));
    const to = {
      keys: column('u32', 2049, device.buffer(2 ** 14)),
      positions: column('u32', 2049, device.buffer(2 ** 14)),
    };
    t.false(await new DeviceColumnKernels(device).selectSorted(keys, keyCodec('u32'), to));
  });
});
