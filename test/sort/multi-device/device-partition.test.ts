/** Keys partitioned over three devices with dedicated memory. */
process.env.POCL_DEVICES = 'pthread pthread pthread';

import test from 'ava';
import { bytesOf } from '../../../src/keys/array.js';
import { DTYPES, type KeyArray } from '../../../src/keys/dtype.js';
import type { SorterOperations } from '../../../src/sort/api/sorter-operations.js';
import type { DeviceWorker } from '../../../src/sort/multi-device/device-worker.js';
import { UsageError } from '../../../src/util/errors.js';
import { keysOf } from '../../distributions.js';
import { referenceSort } from '../../reference.js';
import { separateGroup } from './separate-group.js';

const warnings: string[] = [];
const onWarning = ({ message }: Error): void => {
  warnings.push(message);
};
let sorter: SorterOperations;
let workers: readonly DeviceWorker[];
/** How often keys moved from the memory of each worker to that of another one. */
const drained = new Map<DeviceWorker, number>();

test.before(async () => {
  ({ workers, sorter } = await separateGroup(onWarning));
  for (const worker of workers) {
    const drain = worker.arrays.drain.bind(worker.arrays);
    worker.arrays.drain = (from, use) => {
      drained.set(worker, (drained.get(worker) ?? 0) + 1);
      return drain(from, use);
    };
  }
});
test.after.always(() => sorter?.close());

for (const dtype of DTYPES) {
  test.serial(`${dtype}: three devices split keys and sort them like one device`, async (t) => {
    t.is(workers.length, 3);
    for (const [distribution, n] of [
      ['uniform', 40_000],
      ['constant', 9001],
      ['special', 20_000],
      ['sorted', 5000],
      ['two', 20_001],
    ] as const) {
      for (const [exchange, options] of [
        [997, {}],
        [8192, { descending: true, nan: 'first' }],
      ] as const) {
        const keys = keysOf(dtype, distribution, n) as KeyArray;
        const settings = { dtype, ...options, advanced: { tuning: { deviceCount: 3, exchange } }, onWarning };
        drained.clear();
        const sorted = await sorter.sort(keys, settings as never);
        const expected = referenceSort(bytesOf(keys), dtype, options);
        t.is(Buffer.compare(bytesOf(sorted as KeyArray), expected), 0, `${distribution} by ${exchange}`);
        if (distribution === 'uniform') t.is(drained.size, 3);
      }
    }
    t.deepEqual(warnings, [], 'the host split no keys');
  });
}

test.serial('three devices split keys unless the options leave it to the host', async (t) => {
  const keys = keysOf('u32', 'uniform', 60_000) as Uint32Array;
  for (const [tuning, devices] of [
    [{ deviceCount: 3 }, 3],
    [{ deviceCount: 3, exchange: 0 }, 0],
    [{ deviceCount: 2 }, 0],
  ] as const) {
    drained.clear();
    t.deepEqual(await sorter.sort(keys, { advanced: { tuning }, onWarning }), keys.toSorted());
    t.is(drained.size, devices, JSON.stringify(tuning));
  }
  t.deepEqual(warnings, []);
});

test.serial('three devices split few keys and no keys', async (t) => {
  for (const n of [1, 2, 3, 7]) {
    const keys = Uint32Array.from({ length: n }, (_, i) => n - i);
    t.deepEqual(
      await sorter.sort(keys, { advanced: { tuning: { deviceCount: 3, exchange: 2 } }, onWarning }),
      keys.toSorted(),
    );
  }
  t.deepEqual(
    await sorter.sort(new Uint32Array(0), { advanced: { tuning: { deviceCount: 3, exchange: 2 } } }),
    new Uint32Array(0),
  );
});

test.serial('invalid exchange sizes are rejected', async (t) => {
  for (const exchange of [-5, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    const sorting = sorter.sort(new Uint32Array(9), { advanced: { tuning: { deviceCount: 3, exchange } } });
    await t.throwsAsync(sorting, { instanceOf: UsageError, message: /tuning/ });
  }
});

test.serial('a signal aborts a sort, and the next one is correct', async (t) => {
  const keys = keysOf('u32', 'uniform', 400_000) as Uint32Array;
  const tuning = { deviceCount: 3, exchange: 1000 };
  const abort = new AbortController();
  const sorting = sorter.sort(keys, { advanced: { tuning }, signal: abort.signal });
  setTimeout(() => abort.abort(), 20);
  await t.throwsAsync(sorting, { name: 'AbortError' });
  const fewer = keys.subarray(0, 30_000);
  t.deepEqual(await sorter.sort(fewer, { advanced: { tuning } }), fewer.toSorted());
});
