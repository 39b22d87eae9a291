/**
 * Shares that threads partition into the memory of devices, whole and in pieces, as on devices with dedicated memory.
 */
process.env.POCL_DEVICES = 'pthread pthread';

import test from 'ava';
import { DTYPES, type KeyArray } from '../../../src/keys/dtype.js';
import type { SorterOperations } from '../../../src/sort/api/sorter-operations.js';
import type { DeviceWorker } from '../../../src/sort/multi-device/device-worker.js';
import { DeviceLostError, MemoryError } from '../../../src/util/errors.js';
import { bytesOf } from '../../algorithms/sorts.js';
import { keysOf } from '../../distributions.js';
import { referenceSort } from '../../reference.js';
import { type SeparateWorker, separateGroup } from './separate-group.js';

const TWO_DEVICES = { advanced: { tuning: { deviceCount: 2 } } } as const;
const warnings: string[] = [];
const onWarning = ({ message }: Error): void => {
  warnings.push(message);
};
let workers: SeparateWorker[] = [];
let sorter: SorterOperations;
/** How often keys moved to the memory of each worker without pieces. */
const fed = new Map<DeviceWorker, number>();
/** How often keys arrived at each worker from the memory of another one. */
const reached = new Map<DeviceWorker, number>();
/** How often keys moved from the memory of each worker to that of the other one. */
const drained = new Map<DeviceWorker, number>();
/** The worker whose next transfers fail, and whether they fail before or after the transfer. */
let fault: { readonly worker: number; readonly before: boolean } | undefined;

test.before(async () => {
  ({ workers, sorter } = await separateGroup(onWarning));
  for (const [i, worker] of workers.entries()) {
    const { arrays } = worker;
    const [feed, reach] = [arrays.feed.bind(arrays), arrays.feedUnstaged.bind(arrays)];
    const faulty = async (use: () => Promise<void>) => {
      const failing = fault?.worker === i ? fault : undefined;
      if (failing?.before) throw new DeviceLostError('the bus has gone');
      await use();
      if (failing) throw new DeviceLostError('the bus has gone');
    };
    arrays.feed = (to, use) => {
      fed.set(worker, (fed.get(worker) ?? 0) + 1);
      return faulty(() => feed(to, use));
    };
    arrays.feedUnstaged = (to, use) => {
      reached.set(worker, (reached.get(worker) ?? 0) + 1);
      return faulty(() => reach(to, use));
    };
    const drain = arrays.drain.bind(arrays);
    arrays.drain = (from, use) => {
      drained.set(worker, (drained.get(worker) ?? 0) + 1);
      return drain(from, use);
    };
  }
});
test.beforeEach(() => {
  fed.clear();
  drained.clear();
  reached.clear();
  for (const worker of workers) worker.shares = false;
  warnings.length = 0;
  fault = undefined;
});
test.after.always(() => sorter?.close());

const same = (a: ArrayBufferView, b: ArrayBufferView): boolean =>
  Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

test.serial('keys of every type that threads divide are sorted like on one device', async (t) => {
  for (const dtype of DTYPES) {
    for (const distribution of ['uniform', 'special', 'constant'] as const) {
      for (const options of [{}, { descending: true }, { nan: 'first' }] as const) {
        const keys = keysOf(dtype, distribution, 30_001) as KeyArray;
        fed.clear();
        const sorted = await sorter.sort(keys, { dtype, ...options, ...TWO_DEVICES } as never);
        const expected = referenceSort(bytesOf(keys), dtype, options);
        t.is(Buffer.compare(bytesOf(sorted as KeyArray), expected), 0, `${dtype} ${distribution}`);
        t.deepEqual(
          workers.map((worker) => fed.get(worker)),
          [1, 1],
        );
      }
    }
  }
});

test.serial(
  'keys of every type are split by the devices, which exchange the keys of other shares',
  async (t) => {
    for (const dtype of DTYPES) {
      for (const [distribution, n] of [
        ['uniform', 30_001],
        ['special', 9000],
        ['constant', 20_000],
        ['two', 20_001],
        ['sorted', 20_000],
        ['reversed', 1001],
      ] as const) {
        for (const [exchange, shares, options] of [
          [1000, false, {}],
          [2 ** 20, true, { descending: true }],
          [5000, true, { nan: 'first' }],
        ] as const) {
          const keys = keysOf(dtype, distribution, n) as KeyArray;
          for (const worker of workers) worker.shares = shares;
          fed.clear();
          drained.clear();
          reached.clear();
          const tuning = { deviceCount: 2, exchange };
          const sorted = await sorter.sort(keys, {
            dtype,
            ...options,
            advanced: { tuning },
            onWarning,
          } as never);
          const expected = referenceSort(bytesOf(keys), dtype, options);
          const what = `${dtype} ${distribution} by ${exchange}`;
          t.is(Buffer.compare(bytesOf(sorted as KeyArray), expected), 0, what);
          if (distribution === 'uniform')
            t.deepEqual([drained.size, reached.size], [2, shares ? 2 : 0], what);
        }
      }
    }
    t.deepEqual(warnings, [], 'the host split no keys');
  },
);

test.serial(
  'keys with a bit window, and keys that move values or positions, are split by the host',
  async (t) => {
    const keys = keysOf('f32', 'special', 30_001) as Float32Array;
    const tuning = { deviceCount: 2, exchange: 5000 };
    for (const options of [{ bitRange: [0, 9] }, { bitRange: [1, 32], descending: true }] as const) {
      const sorted = await sorter.sort(keys, { ...options, advanced: { tuning } } as never);
      t.is(
        Buffer.compare(bytesOf(sorted as KeyArray), referenceSort(bytesOf(keys), 'f32', options as never)),
        0,
      );
    }
    await sorter.argsort(keys, { advanced: { tuning } });
    t.is(drained.size, 0);
  },
);

test.serial(
  'if a device fails while it splits keys, the host splits them and the other device sorts its share',
  async (t) => {
    const keys = keysOf('u32', 'uniform', 30_001) as Uint32Array;
    for (const [i, worker] of [0, 1, 0, 1].entries()) {
      for (const before of [true, false]) {
        for (const one of workers) one.shares = i >= 2;
        fault = { worker, before };
        const tuning = { deviceCount: 2, exchange: 4000 };
        t.true(
          same(await sorter.sort(keys, { advanced: { tuning }, onWarning }), keys.toSorted()),
          `${worker} ${before}`,
        );
        t.regex(warnings.shift() ?? '', /the bus has gone; falling back to the host/);
        t.regex(warnings.splice(0).join(), /the bus has gone; moving the shard to/);
      }
    }
    fault = undefined;
    const tuning = { deviceCount: 2, exchange: 4000 };
    const many = Array.from({ length: 6 }, (_, i) => keysOf('u32', 'uniform', 20_000 + i) as Uint32Array);
    const sorted = await Promise.all(many.map((keys) => sorter.sort(keys, { advanced: { tuning } })));
    for (const [i, keys] of many.entries()) t.true(same(sorted[i] as Uint32Array, keys.toSorted()));
  },
);

test.serial('positions and values, and keys with a bit window, are transferred in pieces', async (t) => {
  const keys = keysOf('u32', 'uniform', 30_001) as Uint32Array;
  const order = Uint32Array.from(keys.keys()).sort(
    (a, b) => (keys[a] as number) - (keys[b] as number) || a - b,
  );
  t.deepEqual(await sorter.argsort(keys, TWO_DEVICES), order);
  const byLow = [...keys]
    .map((key, i) => [key & 0xff, i] as const)
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  t.deepEqual(
    await sorter.sort(keys, { bitRange: [0, 8], ...TWO_DEVICES }),
    Uint32Array.from(byLow, ([, i]) => keys[i] as number),
  );
  t.is(fed.size, 0);
});

test.serial('a device that fails during its upload leaves its share to the other one', async (t) => {
  const keys = keysOf('u32', 'uniform', 30_001) as Uint32Array;
  for (const worker of [0, 1]) {
    for (const before of [true, false]) {
      fault = { worker, before };
      t.true(same(await sorter.sort(keys, TWO_DEVICES), keys.toSorted()), `${worker} ${before}`);
      t.regex(warnings.splice(0).join(), /the bus has gone; moving the shard to/);
    }
  }
});

test.serial('many concurrent sorts are correct, and an aborted one rejects', async (t) => {
  const many = Array.from({ length: 12 }, (_, i) => keysOf('u32', 'uniform', 20_000 + i) as Uint32Array);
  const sorted = await Promise.all(many.map((keys) => sorter.sort(keys, TWO_DEVICES)));
  for (const [i, keys] of many.entries()) t.true(same(sorted[i] as Uint32Array, keys.toSorted()));
  const signal = AbortSignal.abort();
  await t.throwsAsync(sorter.sort(many[0] as Uint32Array, { ...TWO_DEVICES, signal }), {
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
