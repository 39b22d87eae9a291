/** Sorts on the host engine while the device compiles the program of their plan. */
import test from 'ava';
import { BuildError, type SortReport } from '../../../src/index.js';
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

test('the host engine sorts until the program is compiled, then the device, with equal bits', async (t) => {
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
});

test('each variant is compiled in the background: keys alone, positions, values', async (t) => {
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

test('a program that does not compile is reported by the next call', async (t) => {
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

test('a Sorter that is closed meanwhile waits for the compiler', async (t) => {
  const { sorter, end } = newDevice();
  await sorter.sort(KEYS);
  let isClosed = false;
  const closed = sorter.close().then(() => (isClosed = true));
  await settle();
  t.false(isClosed);
  end();
  await closed;
  t.true(isClosed);
});

test('the device sorts at once: what it has prepared before, its own arrays, requested algorithms, in place', async (t) => {
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
});
