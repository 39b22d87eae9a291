import test from 'ava';
import { Sorter, type SortReport } from '../../../src/index.js';
import {
  AbortedError,
  type ClsortError,
  InputError,
  NoDeviceError,
  UnsupportedError,
  UsageError,
} from '../../../src/util/errors.js';
import { fakeSorter } from '../fake-backend.js';

const random = (n: number): Uint32Array => {
  let state = 12345;
  return Uint32Array.from({ length: n }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state ^ (state << 16)) >>> 0;
  });
};

const { sorter, session } = fakeSorter();
test.after.always(() => sorter.close());

for (const n of [0, 1, 2, 1000, 100_003]) {
  test(`sort, argsort and sortPairs agree on ${n} keys`, async (t) => {
    const keys = random(n);
    const copy = keys.slice();
    const sorted = await sorter.sort(keys);
    t.deepEqual(sorted, keys.toSorted());
    const order = await sorter.argsort(keys);
    t.deepEqual(
      order.map((i) => keys[i] ?? 0),
      sorted,
    );
    const pairs = await sorter.sortPairs(keys, Float64Array.from(keys, Number));
    t.deepEqual(pairs.keys, sorted);
    t.deepEqual(pairs.values, Float64Array.from(sorted));
    t.deepEqual(keys, copy, 'the input is not touched');
  });
}

test('a descending sort is stable and returns the type of its input', async (t) => {
  const keys = Int8Array.from({ length: 5000 }, (_, i) => (i * 7) % 5);
  const order = await sorter.argsort(keys, { descending: true });
  const expected = Uint32Array.from(keys.keys()).sort((a, b) => (keys[b] ?? 0) - (keys[a] ?? 0) || a - b);
  t.deepEqual(order, expected);
  t.true((await sorter.sort(keys, { descending: true })) instanceof Int8Array);
});

test('values of 3, 12 and 16 bytes travel with their keys', async (t) => {
  const keys = random(3001);
  for (const bytes of [3, 12, 16]) {
    const values = Uint8Array.from(
      { length: keys.length * bytes },
      (_, i) => Math.imul(i, 2654435761) >>> 24,
    );
    const order = await sorter.argsort(keys);
    const result = await sorter.sortPairs(keys, values);
    const expected = Array.from(order, (i) => [...values.subarray(i * bytes, (i + 1) * bytes)]).flat();
    t.deepEqual(Array.from(result.values), expected);
  }
});

test('the report names device, algorithm, scan chain and the result of verification', async (t) => {
  const reports: SortReport[] = [];
  const onReport = (report: SortReport) => reports.push(report);
  await sorter.sort(random(20_000), { algorithm: 'amd', verify: true, onReport });
  await sorter.sort(random(9_000), { algorithm: 'amd', advanced: { scan: 5 }, onReport });
  const [first, second] = reports;
  t.like(first, { algorithm: 'amd', n: 20_000, facts: { scan: 5, padded: 32_768 } });
  t.is(first?.device.platform, session.backend.info.platform);
  t.deepEqual(first?.verified, { order: true, permutation: true });
  t.deepEqual(first?.stages, [{ stage: 'fake sort', launches: 1, seconds: null }]);
  t.deepEqual(second?.facts, { scan: 5, padded: 16_384 });
  t.is(second?.verified, undefined);
});

test('the scan option selects the amd algorithm under auto and is an error for other algorithms', async (t) => {
  t.is(sorter.plan(100, { advanced: { scan: 5 } }).algorithm, 'amd');
  t.regex(sorter.plan(100, { advanced: { scan: 5 } }).explain(), /^facts +scan 5, padded 16384$/m);
  await t.throwsAsync(sorter.sort(random(100), { algorithm: 'merge', advanced: { scan: 5 } }), {
    instanceOf: UsageError,
    message: /cannot use algorithm 'merge' with scan/,
  });
});

test('a forced chain of 3 kernels rejects more than 16384 keys', async (t) => {
  await t.throwsAsync(sorter.sort(random(16_385), { algorithm: 'amd', advanced: { scan: 3 } }), {
    instanceOf: UsageError,
  });
  t.deepEqual(
    await sorter.sort(random(16_384), { algorithm: 'amd', advanced: { scan: 3 } }),
    random(16_384).toSorted(),
  );
});

test('overlapping calls each get their own result', async (t) => {
  const inputs = [100, 20_000, 3, 50_000].map(random);
  const results = await Promise.all(inputs.map((keys) => sorter.sort(keys)));
  t.deepEqual(
    results,
    inputs.map((keys) => keys.toSorted()),
  );
});

test('wrong arguments are typed errors and leave the Sorter usable', async (t) => {
  await t.throwsAsync(async () => sorter.sort([3, 1, 2] as unknown as Uint32Array), {
    instanceOf: InputError,
  });
  await t.throwsAsync(async () => sorter.sort(random(4), { descnding: true } as object), {
    instanceOf: UsageError,
  });
  await t.throwsAsync(async () => sorter.sort(random(4), { algorithm: 'quick' as 'auto' }), {
    instanceOf: UsageError,
  });
  await t.throwsAsync(async () => sorter.sort(random(4), { device: 'gpu' }), { instanceOf: UsageError });
  await t.throwsAsync(async () => sorter.sort(random(4), { bitRange: [0, 33] }), { instanceOf: UsageError });
  await t.throwsAsync(async () => sorter.sortPairs(random(4), random(3)), { instanceOf: InputError });
  const detached = random(4);
  structuredClone(detached, { transfer: [detached.buffer as ArrayBuffer] });
  await t.throwsAsync(async () => sorter.sort(detached), { instanceOf: InputError });
  t.deepEqual(await sorter.sort(Uint8Array.of(2, 1)), Uint8Array.of(1, 2));
});

test('an aborted signal rejects with AbortedError', async (t) => {
  const reason = new Error('enough');
  for (const task of [
    sorter.sort(random(10), { signal: AbortSignal.abort(reason) }),
    sorter.reduce(random(10), 'sum', { signal: AbortSignal.abort(reason) }),
  ]) {
    const error = await t.throwsAsync(task, { instanceOf: AbortedError });
    t.is(error?.name, 'AbortError');
    t.is(error?.code, 'ERR_CLSORT_ABORTED');
    t.is(error?.cause, reason);
  }
});

test('a closed Sorter rejects calls and can be closed twice', async (t) => {
  const own = fakeSorter().sorter;
  const array = await own.upload(random(2));
  await own.close();
  await own.close();
  for (const call of [
    () => own.sort(random(2)),
    () => own.sort(array),
    () => array.read(),
    () => own.upload(random(2)),
    () => own.upload(random(2), { sharded: true }),
  ]) {
    await t.throwsAsync(async () => call(), { instanceOf: UsageError, message: /closed/ });
  }
  array.dispose();
});

test('device host sorts and verifies on the host engine and rejects device algorithms', async (t) => {
  const host = await Sorter.open({ device: 'host' });
  const reports: SortReport[] = [];
  const keys = random(5000);
  t.deepEqual(
    await host.sort(keys, { verify: true, onReport: (report) => reports.push(report) }),
    keys.toSorted(),
  );
  t.is(reports[0]?.device.type, 'host');
  t.deepEqual(reports[0]?.verified, { order: true, permutation: true });
  await t.throwsAsync(host.sort(keys, { algorithm: 'amd' }), { instanceOf: UnsupportedError });
  await host.close();
});

test('an unknown device is an error, and auto never is', async (t) => {
  await t.throwsAsync(Sorter.open({ device: 'no such device' }), { instanceOf: NoDeviceError });
  const warnings: ClsortError[] = [];
  const auto = await Sorter.open({ onWarning: (warning) => warnings.push(warning) });
  t.deepEqual(await auto.sort(Uint32Array.of(2, 1)), Uint32Array.of(1, 2));
  t.true(warnings.length <= 1);
  await auto.close();
});
