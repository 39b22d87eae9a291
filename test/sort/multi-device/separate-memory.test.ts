/**
 * Shards that the host writes to the memory of three devices, as on devices with dedicated memory.
 */
process.env.POCL_DEVICES = 'pthread pthread pthread';

import test from 'ava';
import { DTYPES, type KeyArray } from '../../../src/keys/dtype.js';
import type { SorterOperations } from '../../../src/sort/api/sorter-operations.js';
import type { DeviceWorker } from '../../../src/sort/multi-device/device-worker.js';
import { DeviceLostError, MemoryError } from '../../../src/util/errors.js';
import { bytesOf } from '../../algorithms/sorts.js';
import { keysOf } from '../../distributions.js';
import { referenceSort } from '../../reference.js';
import { type SeparateWorker, separateGroup } from './separate-group.js';

const ALL_DEVICES = { advanced: { tuning: { deviceCount: 3 } } } as const;
const warnings: string[] = [];
const onWarning = ({ message }: Error): void => {
  warnings.push(message);
};
let workers: SeparateWorker[] = [];
let sorter: SorterOperations;
/** How many pieces moved to the memory of each worker. */
const stored = new Map<DeviceWorker, number>();
/** The worker whose next transfers fail, and whether they fail before or after the transfer. */
let fault: { readonly worker: number; readonly before: boolean } | undefined;

test.before(async () => {
  ({ workers, sorter } = await separateGroup(onWarning));
  for (const [i, worker] of workers.entries()) {
    const { arrays } = worker;
    const store = arrays.store.bind(arrays);
    arrays.store = async (to, view, offset) => {
      stored.set(worker, (stored.get(worker) ?? 0) + 1);
      const failing = fault?.worker === i ? fault : undefined;
      if (failing?.before) throw new DeviceLostError('the bus has gone');
      await store(to, view, offset);
      if (failing) throw new DeviceLostError('the bus has gone');
    };
  }
});
test.beforeEach(() => {
  stored.clear();
  warnings.length = 0;
  fault = undefined;
});
test.after.always(() => sorter?.close());

const same = (a: ArrayBufferView, b: ArrayBufferView): boolean =>
  Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

test.serial('keys of every type that the host splits are sorted like on one device', async (t) => {
  for (const dtype of DTYPES) {
    for (const distribution of ['uniform', 'special', 'constant'] as const) {
      for (const options of [{}, { descending: true }, { nan: 'first' }] as const) {
        const keys = keysOf(dtype, distribution, 30_001) as KeyArray;
        stored.clear();
        const sorted = await sorter.sort(keys, { dtype, ...options, ...ALL_DEVICES } as never);
        const expected = referenceSort(bytesOf(keys), dtype, options);
        t.is(Buffer.compare(bytesOf(sorted as KeyArray), expected), 0, `${dtype} ${distribution}`);
        t.deepEqual(
          workers.map((worker) => stored.get(worker)),
          [1, 1, 1],
        );
      }
    }
  }
});

test.serial('positions, and keys with a bit window, are split by the host', async (t) => {
  const keys = keysOf('u32', 'uniform', 30_001) as Uint32Array;
  const order = Uint32Array.from(keys.keys()).sort(
    (a, b) => (keys[a] as number) - (keys[b] as number) || a - b,
  );
  t.deepEqual(await sorter.argsort(keys, ALL_DEVICES), order);
  const byLow = [...keys]
    .map((key, i) => [key & 0xff, i] as const)
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  t.deepEqual(
    await sorter.sort(keys, { bitRange: [0, 8], ...ALL_DEVICES }),
    Uint32Array.from(byLow, ([, i]) => keys[i] as number),
  );
});

test.serial('a device that fails during its upload leaves its share to another one', async (t) => {
  const keys = keysOf('u32', 'uniform', 30_001) as Uint32Array;
  for (const worker of [0, 1, 2]) {
    for (const before of [true, false]) {
      fault = { worker, before };
      t.true(same(await sorter.sort(keys, ALL_DEVICES), keys.toSorted()), `${worker} ${before}`);
      t.regex(warnings.splice(0).join(), /the bus has gone; moving the shard to/);
    }
  }
});

test.serial('many concurrent sorts are correct, and an aborted one rejects', async (t) => {
  const many = Array.from({ length: 12 }, (_, i) => keysOf('u32', 'uniform', 20_000 + i) as Uint32Array);
  const sorted = await Promise.all(many.map((keys) => sorter.sort(keys, ALL_DEVICES)));
  for (const [i, keys] of many.entries()) t.true(same(sorted[i] as Uint32Array, keys.toSorted()));
  const signal = AbortSignal.abort();
  await t.throwsAsync(sorter.sort(many[0] as Uint32Array, { ...ALL_DEVICES, signal }), {
    name: 'AbortError',
  });
});

test.serial('memory for pieces is released if not all of it can be allocated', (t) => {
  const [worker] = workers as [SeparateWorker];
  const { memory } = worker.session.backend;
  const { pinned, unpin } = memory;
  const had: ArrayBufferLike[] = [];
  const given: ArrayBufferLike[] = [];
  memory.pinned = ((_, n) => {
    if (had.length === 2) throw new MemoryError('no room');
    const array = new Uint8Array(n);
    had.push(array.buffer);
    return array;
  }) as typeof pinned;
  memory.unpin = (buffer) => void given.push(buffer);
  try {
    t.throws(() => worker.takeSlots(2 ** 20), { instanceOf: MemoryError });
    t.deepEqual(given, had);
  } finally {
    Object.assign(memory, { pinned, unpin });
  }
});
