/**
 * Calls on a device: their overhead beside their commands (waits and events), and the handling of results on the
 * device.
 */

import test from 'ava';
import type { Buffer } from '../../../src/device/memory/buffer.js';
import { Queue } from '../../../src/device/queue/queue.js';
import { type ClsortError, type DeviceArray, Sorter, type SortReport } from '../../../src/index.js';
import { DeviceBackend } from '../../../src/sort/backend/device-session.js';
import type { Call } from '../../../src/sort/calls/call.js';
import { Execution } from '../../../src/sort/calls/call-scheduler.js';
import { type Column, column } from '../../../src/sort/model/column.js';
import type { SortOptions } from '../../../src/sort/model/options.js';
import { parseSortOptions } from '../../../src/sort/model/parse-options.js';
import { enqueueGather } from '../../../src/sort/operations/gather/gather.js';
import { enqueueDigitHistogram } from '../../../src/sort/operations/histogram/histogram.js';
import { enqueueLexsort } from '../../../src/sort/operations/lexsort/lexsort.js';
import { enqueueReduce } from '../../../src/sort/operations/reduce/reduce.js';
import { enqueueScan } from '../../../src/sort/operations/scan/scan.js';
import { segmentColumn } from '../../../src/sort/operations/segments/segment-column.js';
import { enqueueSegmentedSort } from '../../../src/sort/operations/segments/sort-segments.js';
import { enqueueTopK } from '../../../src/sort/operations/top-k/top-k.js';
import { enqueueUnique } from '../../../src/sort/operations/unique/unique.js';
import { forEachDevice } from '../../each-device.js';

const random = (n: number): Uint32Array =>
  Uint32Array.from({ length: n }, (_, i) => Math.imul(i + 1, 2654435761) >>> 7);

const bufferOf = ({ place }: Column) => place as Buffer;

/** Counts the waits for a queue and the downloads from it while `use` runs. */
async function counted(queue: Queue, use: () => Promise<unknown>): Promise<{ waits: number; reads: number }> {
  const counts = { waits: 0, reads: 0 };
  const [finish, read] = [queue.finish.bind(queue), queue.read.bind(queue)];
  queue.finish = (...args) => {
    counts.waits++;
    return finish(...args);
  };
  queue.read = (...args) => {
    counts.reads++;
    return read(...args);
  };
  try {
    await use();
  } finally {
    Object.assign(queue, { finish, read });
  }
  return counts;
}

forEachDevice((title, open, small) => {
  // On CPU devices, host keys are probed from this size on.
  const n = small ? 500 : 2 ** 17 + 3;

  test.serial(
    title('a call on device arrays waits once for the queue, and unique once more for its length'),
    async (t) => {
      const device = await open();
      const { queue } = device;
      const backend = new DeviceBackend(device);
      const made = [n, n, n, n].map((length) => column('u32', length, device.buffer(length * 4)));
      const [keys, values, sorted, moved] = made as [Column, Column, Column, Column];
      const words = Uint32Array.from({ length: n }, (_, i) => Math.imul(i, 2654435761) >>> 12);
      queue.write(bufferOf(keys), words);
      queue.write(
        bufferOf(values),
        words.map((_, i) => n - 1 - i),
      );
      await queue.finish();
      const few = (k: number) => ({
        keys: { ...sorted, n: k },
        positions: { ...moved, n: k },
        counts: { ...moved, n: k },
      });
      const calls: Record<string, (call: Call) => unknown> = {
        sort: (call) => call.sort({ keys, sorted: sorted.place }),
        argsort: (call) => call.sort({ keys, moved: moved.place }),
        sortPairs: (call) =>
          call.sort({ keys, sorted: sorted.place, values: { ...values, bytes: 4 }, moved: moved.place }),
        topK: (call) => enqueueTopK(call, keys, few(10)),
        lexsort: (call) => enqueueLexsort(call, [{ keys, order: { descending: false, nan: 'last' } }], moved),
        segmentedSort: (call) =>
          enqueueSegmentedSort(call, { keys, ...segmentColumn([0, 7, n], n), sorted: sorted.place }),
        reduce: (call) => enqueueReduce(call, keys, 'sum'),
        scan: (call) => enqueueScan(call, keys, sorted, { op: 'sum', inclusive: true }),
        histogram: (call) => enqueueDigitHistogram(call, keys, [0, 8]),
        gather: (call) => enqueueGather(call, [keys], values, [sorted]),
        unique: (call) => enqueueUnique(call, keys, few),
      };
      for (const [name, use] of Object.entries(calls)) {
        const run = async () => {
          const onWarning = ({ message }: Error) => t.fail(message);
          const by = {
            backend,
            settings: parseSortOptions({ advanced: { tuning: { select: 1 } } }),
            onWarning,
          };
          await Execution.run(by, async (call) => {
            await use(call);
            return () => undefined;
          });
        };
        await run(); // self-tests have their own waits
        const { waits, reads } = await counted(queue, run);
        t.is(waits, name === 'unique' ? 2 : 1, name);
        t.true(reads <= 2, `${name}: ${reads}`);
      }
      for (const one of made) bufferOf(one).release();
    },
  );

  test.serial(
    title(
      'an operation whose programs are built, and those that use its result, have enqueued all when they return',
    ),
    async (t) => {
      const sorter = await Sorter.open({ device: (await open()).info.id });
      try {
        const keys = await sorter.upload(Uint32Array.from({ length: 500 }, (_, i) => (i * 7) % 500));
        const chain = () => {
          const scanned = sorter.scan(keys, { op: 'max' });
          return [scanned, sorter.gather(keys, scanned), sorter.searchSorted(scanned, keys)];
        };
        const read = async (arrays: Promise<DeviceArray>[]) =>
          Promise.all((await Promise.all(arrays)).map((array) => array.read()));
        const first = await read(chain());
        let launches = 0;
        const { run } = Queue.prototype;
        Queue.prototype.run = function (...args) {
          launches++;
          return run.apply(this, args);
        };
        let again: Promise<DeviceArray>[] = [];
        try {
          again = chain();
          const made = launches;
          t.true(made >= 3, String(made));
          await Promise.all(again);
          t.is(launches, made);
        } finally {
          Queue.prototype.run = run;
        }
        t.deepEqual(await read(again), first);
      } finally {
        await sorter.close();
      }
    },
  );

  test.serial(title('a sort of a host array waits once for the queue'), async (t) => {
    const device = await open();
    const backend = new DeviceBackend(device);
    const onWarning = ({ message }: Error) => t.fail(message);
    const keys = Uint32Array.from({ length: 400 }, (_, i) => Math.imul(i, 2654435761) >>> 12);
    const sorted = new Uint32Array(400);
    const run = async () => {
      await Execution.run({ backend, settings: parseSortOptions(), onWarning }, async (call) => {
        await call.sort({ keys: column('u32', 400, keys), sorted });
        return () => undefined;
      });
    };
    await run();
    t.is((await counted(device.queue, run)).waits, 1);
    t.deepEqual(sorted, keys.toSorted());
  });

  test.serial(title('events are kept only if the report contains times'), async (t) => {
    const device = await open();
    const backend = new DeviceBackend(device);
    const keys = Uint32Array.from({ length: 3000 }, (_, i) => Math.imul(i, 2654435761));
    const reported = async (options: SortOptions): Promise<SortReport> => {
      const reports: SortReport[] = [];
      const settings = parseSortOptions({ ...options, onReport: (report) => reports.push(report) });
      await Execution.run({ backend, settings, onWarning: () => undefined }, async (call) => {
        await call.sort({ keys: column('u32', 3000, keys), sorted: new Uint32Array(3000) });
        return () => undefined;
      });
      return reports[0] as SortReport;
    };
    const [plain, profiled] = [await reported({}), await reported({ profile: true })];
    const named = ({ stages }: SortReport) => stages.map(({ stage, launches }) => `${stage} ${launches}`);
    t.deepEqual(named(plain), named(profiled));
    t.true(plain.stages.length > 0);
    t.true(plain.stages.every(({ seconds }) => seconds === null));
    if (device.capabilities.quirks.reportsTimes) {
      t.true(profiled.stages.some(({ seconds }) => seconds !== null && seconds > 0));
    }
  });
  test.serial(title('calls take promises of arrays that the device has not computed yet'), async (t) => {
    await using sorter = await Sorter.open({ device: (await open()).info.id });
    const keys = random(small ? 300 : 5003);
    const uploaded = sorter.upload(keys);
    const sorted = sorter.gather(uploaded, sorter.argsort(uploaded));
    const falling = sorter.sort(sorter.sort(sorted), { descending: true });
    const distinct = sorter.unique(sorter.sortInPlace(falling));
    t.is(await sorter.reduce(falling, 'max'), Math.max(...keys));
    const expected = keys.toSorted();
    t.deepEqual(await (await sorted).read(), expected);
    t.deepEqual(await (await distinct).keys.read(), expected);
    t.deepEqual(await (await falling).read(), expected);
  });

  test.serial(title('a result that fails verification is computed by another algorithm'), async (t) => {
    const device = await open();
    const warnings: string[] = [];
    const keys = random(900);
    const names: string[] = [];
    const backend = new DeviceBackend(device);
    const sort = async () => {
      const sorted = new Uint32Array(900);
      const onReport = ({ algorithm }: SortReport) => names.push(algorithm);
      const by = { backend, onWarning: ({ code }: ClsortError) => warnings.push(code) };
      const settings = parseSortOptions({ verify: true, onReport });
      await Execution.run({ ...by, settings }, async (call) => {
        await call.sort({ keys: column('u32', 900, keys), sorted });
        return () => undefined;
      });
      t.deepEqual(sorted, keys.toSorted());
    };
    await sort();
    t.deepEqual(warnings, []);
    // The sums over the output come out wrong, as if the algorithm had lost a key.
    const { queue } = device;
    const [read, finish] = [queue.read.bind(queue), queue.finish.bind(queue)];
    let sums: BigUint64Array | undefined;
    queue.read = (buffer, view, offset) => {
      if (view instanceof BigUint64Array) sums = view;
      read(buffer, view, offset);
    };
    queue.finish = async (deadline) => {
      await finish(deadline);
      if (!sums) return;
      sums[0] = (sums[0] ?? 0n) ^ 1n;
      Object.assign(queue, { read, finish });
    };
    await sort();
    t.deepEqual(warnings, ['ERR_CLSORT_MISMATCH']);
    t.not(names[1], names[0]);
  });
});
