import test from 'ava';
import { keyOrdering } from '../../../src/io/records/record-ordering.js';
import { bytesOf } from '../../../src/keys/array.js';
import { Sorter } from '../../../src/sort/api/sorter.js';
import type { SortOptions } from '../../../src/sort/model/options.js';
import { Random } from '../../../src/util/random.js';
import { referenceSort } from '../../reference.js';

test('keys are sorted by the bits in which they may differ, and by all bits for a chosen algorithm', async (t) => {
  await using host = await Sorter.open({ device: 'host' });
  const windows: unknown[] = [];
  const sort = (keys: Uint8Array, options?: SortOptions): Promise<Uint8Array> => {
    windows.push(options?.bitRange);
    return host.sort(keys, options);
  };
  const sorter = { sort } as unknown as Sorter;
  for (const descending of [false, true]) {
    const order = keyOrdering({ dtype: 'f64', descending, nan: 'last', bits: [0, 64] });
    const random = new Random(5);
    const keys = bytesOf(Float64Array.from({ length: 5000 }, () => 1 + random.u32() / 2 ** 32));
    const expected = referenceSort(keys, 'f64', { descending });
    t.deepEqual(await order.sort(sorter, keys, { into: new Uint8Array(keys.length) }, 52), expected);
    t.deepEqual(await order.sort(sorter, keys, { algorithm: 'host' }, 52), expected);
    t.deepEqual(windows.splice(0), [
      [0, 52],
      [0, 64],
    ]);
  }
});
