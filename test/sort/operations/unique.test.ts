/** The columns of unique, beside its keys and counts, which operations.test.ts covers. */
import test from 'ava';
import { UsageError } from '../../../src/util/errors.js';
import { forEachSorter } from '../../each-sorter.js';

const KEYS = Float32Array.of(3, -0, Number.NaN, 3, 0, 1, Number.NaN);

const ALL = { counts: true, index: true, inverse: true } as const;

forEachSorter((title, open) => {
  test.serial(title('unique returns the columns that were requested'), async (t) => {
    const sorter = await open();
    const [keys, counts] = [Float32Array.of(-0, 1, 3, Number.NaN), Uint32Array.of(2, 1, 2, 2)];
    const [index, inverse] = [Uint32Array.of(1, 5, 0, 2), Uint32Array.of(2, 0, 3, 2, 0, 1, 3)];
    t.deepEqual(await sorter.unique(KEYS), { keys, counts });
    t.deepEqual(await sorter.unique(KEYS, ALL), { keys, counts, index, inverse });
    t.deepEqual(await sorter.unique(KEYS, { index: true }), { keys, index });
    t.deepEqual(await sorter.unique(KEYS, { inverse: true, counts: true }), { keys, counts, inverse });
    t.deepEqual(await sorter.unique(KEYS, { counts: false }), { keys } as never);
    t.deepEqual(await sorter.unique(KEYS, { counts: false, verify: true }), { keys } as never);
    t.deepEqual(await sorter.unique(KEYS, { ...ALL, descending: true, verify: true }), {
      keys: Float32Array.of(3, 1, -0, Number.NaN),
      counts: Uint32Array.of(2, 1, 2, 2),
      index: Uint32Array.of(0, 5, 1, 2),
      inverse: Uint32Array.of(0, 2, 3, 0, 2, 1, 3),
    });
    const none = new Uint32Array(0);
    t.deepEqual(await sorter.unique(none, ALL), { keys: none, counts: none, index: none, inverse: none });
    t.deepEqual(await sorter.unique(Uint8Array.of(5), { inverse: true }), {
      keys: Uint8Array.of(5),
      inverse: Uint32Array.of(0),
    });
    await t.throwsAsync(sorter.unique(KEYS, { index: 1 as never }), { instanceOf: UsageError });
  });

  test.serial(title('all columns of unique of a device array are device arrays'), async (t) => {
    const sorter = await open();
    using array = await sorter.upload(Uint32Array.from({ length: 5000 }, (_, i) => (i * 7919) % 1000));
    const { keys, counts, index, inverse } = await sorter.unique(array, ALL);
    t.deepEqual(
      await keys.read(),
      Uint32Array.from({ length: 1000 }, (_, i) => i),
    );
    t.deepEqual(await counts.read(), new Uint32Array(1000).fill(5));
    t.deepEqual(await (await sorter.gather(array, index)).read(), await keys.read());
    t.deepEqual(await (await sorter.gather(keys, inverse)).read(), await array.read());
    for (const one of [keys, counts, index, inverse]) one.dispose();
  });
});
