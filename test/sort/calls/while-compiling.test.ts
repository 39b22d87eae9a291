/** Calls on the host engine while the device compiles their programs. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import test from 'ava';
import { BuildError, type CallMessage, type SortReport } from '../../../src/index.js';
import type { SorterOperations } from '../../../src/sort/api/sorter-operations.js';
import { fakeSorter } from '../fake-backend.js';

/** Break-even size of the tests. */
const BELOW = 10;
const KEYS = Float64Array.from({ length: 900 }, (_, i) => (i % 7 === 0 ? Number.NaN : Math.sin(i)));

/** A Sorter of a device that no process has used before, and a function that lets its compiler end. */
function newDevice() {
  const made = fakeSorter(BELOW);
  let end = (): void => undefined;
  made.session.backend.prepared = false;
  made.session.backend.compiler = new Promise<void>((resolve) => (end = resolve));
  return { ...made, end };
}

const bytesOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** Waits until compilations that may end have ended. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test.serial(
  'the host engine sorts until the program is compiled, then the device, with equal bits',
  async (t) => {
    const { sorter, session, warnings, end } = newDevice();
    const reports: SortReport[] = [];
    const onReport = (report: SortReport): void => void reports.push(report);
    const first = await sorter.sort(KEYS, { onReport });
    const second = await sorter.sort(KEYS);
    t.deepEqual(session.backend.sorts, []);
    t.is(session.backend.compiled.length, 1);
    t.is(reports[0]?.device.type, 'host');
    t.is(reports[0]?.reason, 'the device compiles');
    end();
    await settle();
    const third = await sorter.sort(KEYS, { onReport });
    t.not(reports[1]?.device.type, 'host');
    t.is(session.backend.sorts.length, 1);
    t.is(session.backend.compiled.length, 1);
    for (const sorted of [second, third]) t.deepEqual(bytesOf(sorted), bytesOf(first));
    t.deepEqual(warnings, []);
    await sorter.close();
  },
);

test.serial('each variant is compiled in the background: keys alone, positions, values', async (t) => {
  const { sorter, session, end } = newDevice();
  await Promise.all([
    sorter.sort(KEYS),
    sorter.argsort(KEYS),
    sorter.sortPairs(KEYS, new BigUint64Array(KEYS.length)),
  ]);
  t.deepEqual(session.backend.sorts, []);
  t.is(session.backend.compiled.length, 3);
  end();
  await settle();
  await sorter.argsort(KEYS);
  t.is(session.backend.sorts.length, 1);
  await sorter.close();
});

test.serial('a program that does not compile is reported by the next call', async (t) => {
  const { sorter, session, warnings, end } = newDevice();
  const request = { n: KEYS.length, dtype: 'f64', bits: [0, 64], valueBytes: 0, algorithm: 'auto' } as const;
  const [best] = session.backend.plans(request);
  session.backend.broken.set(best?.algorithm ?? '', new BuildError('does not compile'));
  const first = await sorter.sort(KEYS);
  end();
  await settle();
  t.deepEqual(warnings, []);
  const second = await sorter.sort(KEYS);
  t.deepEqual(bytesOf(second), bytesOf(first));
  t.is(session.backend.sorts.length, 1);
  t.deepEqual(
    warnings.map(({ code }) => code),
    ['ERR_CLSORT_BUILD'],
  );
  await sorter.close();
});

test.serial('a Sorter that is closed meanwhile does not wait for the compiler', async (t) => {
  const { sorter, session, warnings, end } = newDevice();
  session.backend.broken.set('persistent', new BuildError('does not compile'));
  await sorter.sort(KEYS);
  await sorter.close();
  end();
  await settle();
  t.deepEqual(warnings, []);
});

/** A call of each operation on host arrays that has programs of its own. */
const FEW = Uint32Array.from(KEYS, (_, i) => i % 10);
const ASCENDING = FEW.toSorted();
const CALLS: Readonly<Record<string, (sorter: SorterOperations) => Promise<unknown>>> = {
  argpartition: (sorter) => sorter.argpartition(KEYS, 10),
  filter: (sorter) => sorter.filter(FEW, { above: 3 }),
  gather: (sorter) => sorter.gather(KEYS, FEW),
  histogram: (sorter) => sorter.histogram(FEW, { bins: 4, range: [0, 10] }),
  join: (sorter) => sorter.join(FEW.subarray(0, 40), FEW.subarray(0, 30)),
  merge: (sorter) => sorter.merge(ASCENDING, ASCENDING),
  nth: (sorter) => sorter.nth(KEYS, 7),
  partition: (sorter) => sorter.partition(FEW, { above: 3 }),
  quantile: (sorter) => sorter.quantile(FEW, 0.5),
  reduce: (sorter) => sorter.reduce(FEW, 'sum'),
  reduceByKey: (sorter) => sorter.reduceByKey(FEW, FEW, 'sum'),
  scan: (sorter) => sorter.scan(FEW),
  searchSorted: (sorter) => sorter.searchSorted(ASCENDING, FEW),
  segmentedSort: (sorter) => sorter.segmentedSort(KEYS, 30),
  intersect: (sorter) => sorter.intersect(FEW, ASCENDING),
  topK: (sorter) => sorter.topK(KEYS, 5),
  unique: (sorter) => sorter.unique(FEW),
};

for (const [operation, call] of Object.entries(CALLS)) {
  test.serial(
    `${operation}: the host engine runs the first call while the device makes it in the background`,
    async (t) => {
      const { sorter, session, warnings, end } = newDevice();
      const { backend } = session;
      backend.overlaps = true;
      const devices: (string | undefined)[] = [];
      const listen = (message: unknown): void => void devices.push((message as CallMessage).device?.type);
      subscribe('clsort:call', listen);
      try {
        const results = [await call(sorter)];
        t.deepEqual(devices, ['host']);
        end();
        while (backend.made.length === 0) await settle();
        await settle();
        t.is(backend.made.length, 1);
        t.is(backend.made[0]?.split(' ')[0], operation);
        results.push(await call(sorter));
        t.is(devices.length, 2, 'the call in the background has no message');
        t.not(devices[1], 'host');
        t.deepEqual(results[1], results[0]);
        t.is(backend.made.length, 1);
        t.deepEqual(warnings, []);
      } finally {
        unsubscribe('clsort:call', listen);
        await sorter.close();
      }
    },
  );
}

test.serial('the device gets a copy of the arguments, and options decide on the kind', async (t) => {
  const { sorter, session, end } = newDevice();
  const { backend } = session;
  backend.overlaps = true;
  const keys = Buffer.from(new ArrayBuffer(FEW.length)).fill(7);
  const expected = await sorter.unique(new Uint8Array(FEW.length).fill(7), { algorithm: 'host' });
  let reports = 0;
  const made = await sorter.unique(keys, { onReport: () => void reports++ });
  structuredClone(keys.buffer, { transfer: [keys.buffer] }); // the device needs none of it
  t.deepEqual(Array.from(made.keys), Array.from(expected.keys));
  await sorter.scan(FEW);
  await sorter.scan(FEW, { op: 'max' });
  end();
  while (backend.made.length < 3) await settle();
  t.deepEqual(backend.made.map((kind) => kind.split(' ')[0]).toSorted(), ['scan', 'scan', 'unique']);
  t.is(new Set(backend.made).size, 3);
  t.is(reports, 1);
  await sorter.close();
});

test.serial(
  'the device runs at once: what it made before, calls with into, and arrays that are too large',
  async (t) => {
    const { sorter, session, end } = newDevice();
    const { backend } = session;
    backend.overlaps = true;
    end();
    await sorter.scan(FEW, { into: new Uint32Array(FEW.length) });
    backend.prepared = true;
    await sorter.scan(FEW);
    await settle();
    t.deepEqual(backend.made, []);
    await sorter.close();
  },
);

test.serial(
  'the device sorts at once: what it has prepared before, its own arrays, requested algorithms, in place',
  async (t) => {
    const { sorter, session, end } = newDevice();
    const { backend } = session;
    end();
    const [best] = backend.plans({
      ...{ n: KEYS.length, dtype: 'f64', bits: [0, 64], valueBytes: 0, algorithm: 'auto' },
    });
    const algorithm = best?.algorithm as 'persistent';
    await sorter.sort(KEYS, { algorithm });
    t.is(backend.sorts.length, 1);
    const onDevice = await sorter.upload(KEYS);
    await sorter.argsort(onDevice);
    t.is(backend.sorts.length, 2);
    await sorter.sort(KEYS.slice(), { descending: true });
    t.is(backend.sorts.length, 3, 'the program for one order serves the other');
    await sorter.sortInPlace(Uint16Array.from(KEYS, (key) => key * 50));
    t.is(backend.sorts.length, 4);
    backend.prepared = true;
    await sorter.sort(Uint8Array.from(KEYS, (key) => key * 50));
    t.is(backend.sorts.at(-1)?.job.keys.dtype, 'u8');
    await sorter.close();
  },
);
