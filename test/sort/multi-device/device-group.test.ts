import './two-devices.js';
import test from 'ava';
import * as clsort from '../../../src/index.js';
import { Sorter, type SortOptions, type SortReport } from '../../../src/index.js';
import { DTYPES, dtypeInfo, type KeyArray } from '../../../src/keys/dtype.js';
import { AbortedError, InputError, NoDeviceError, UsageError } from '../../../src/util/errors.js';
import { type Distribution, keysOf } from '../../distributions.js';
import { partOfName, poclNames } from '../../pocl-names.js';
import { PLATFORM } from './two-devices.js';

const NAMES = poclNames();
const [BASIC, PTHREAD] = NAMES;

let both: Sorter;
let host: Sorter;
test.before(async () => {
  both = await Sorter.open({ devices: [PLATFORM] });
  host = await Sorter.open({ device: 'host' });
});
test.after.always(async () => {
  await both?.close();
  await host?.close();
});

/** Skew of every kind, and NaNs of every kind. */
const DISTRIBUTIONS: readonly Distribution[] = ['uniform', 'constant', 'two', 'sorted', 'special'];

const TWO_DEVICES = { advanced: { tuning: { deviceCount: 2 } } } as const;

/** Like `deepEqual`, but fast for large arrays. */
const same = (a: ArrayBufferView, b: ArrayBufferView): boolean => bytesOf(a).equals(bytesOf(b));

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer =>
  Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);

test('both devices are opened, the better one first', (t) => {
  t.is(both.devices.length, 2);
  t.is(both.device, both.devices[0]);
  t.deepEqual(both.devices.map(partOfName).sort(), NAMES.toSorted());
  t.deepEqual(host.devices, []);
});

for (const dtype of DTYPES) {
  test(`${dtype}: sort, argsort, sortPairs and topK by two devices match the host bit for bit`, async (t) => {
    for (const distribution of DISTRIBUTIONS) {
      const keys = keysOf(dtype, distribution, 3001);
      const orders: SortOptions[] = [
        {},
        { descending: true },
        { nan: 'first', bitRange: [2, 7] },
        { bitRange: [1, 1] },
      ];
      for (const order of orders) {
        const options = { dtype, ...order };
        const why = `${distribution} ${JSON.stringify(order)}`;
        const sorted = await both.sort(keys, { ...options, ...TWO_DEVICES });
        t.true(same(sorted, await host.sort(keys, options)), why);
        const positions = await both.argsort(keys, { ...options, ...TWO_DEVICES });
        t.true(same(positions, await host.argsort(keys, options)), why);
        const wide = await both.argsort(keys, { ...options, ...TWO_DEVICES, positions: 'u64' });
        t.true(same(wide, BigUint64Array.from(positions, BigInt)), why);
        const values = keysOf('u64', 'uniform', 3001) as BigUint64Array;
        const pairs = await both.sortPairs(keys, values, { ...options, ...TWO_DEVICES });
        const expected = await host.sortPairs(keys, values, options);
        t.true(same(pairs.keys, expected.keys), why);
        t.true(same(pairs.values, expected.values), why);
        for (const k of [1, 100, 2000]) {
          const { descending = false, ...rest } = options;
          const of = { ...rest, largest: descending };
          const top = await both.topK(keys, k, { ...of, ...TWO_DEVICES });
          const wanted = await host.topK(keys, k, of);
          const { indices } = await both.topK(keys, k, { ...of, ...TWO_DEVICES, positions: 'u64' });
          t.true(same(indices, BigUint64Array.from(wanted.indices, BigInt)), why);
          t.true(same(top.keys, wanted.keys), `${k} of ${why}`);
          t.true(same(top.indices, wanted.indices), `${k} of ${why}`);
        }
      }
    }
  });
}

test('values of any width move with their keys', async (t) => {
  const keys = keysOf('u16', 'uniform', 2000);
  for (const bytes of [3, 16]) {
    const values = keysOf('u8', 'uniform', 2000 * bytes) as Uint8Array;
    const pairs = await both.sortPairs(keys, values, TWO_DEVICES);
    const expected = await host.sortPairs(keys, values);
    t.true(same(pairs.keys, expected.keys) && same(pairs.values, expected.values), `${bytes}`);
  }
});

test('two devices compute sums and extremes of every dtype by slices', async (t) => {
  for (const dtype of DTYPES) {
    for (const op of ['sum', 'min', 'max'] as const) {
      if (dtype.endsWith('f16') && op === 'sum') continue;
      for (const distribution of ['uniform', 'special'] as const) {
        // A large array: small ones are never sharded.
        const keys = keysOf(dtype, distribution, 2 ** 22 / dtypeInfo(dtype).bytes + 5);
        const found = await both.reduce(keys, op, { dtype });
        if (op === 'sum' && dtypeInfo(dtype).kind === 'float') {
          const [alone] = both.devices;
          await using one = await Sorter.open({ device: alone?.id ?? 'none' });
          t.is(found, await one.reduce(keys, op, { dtype }), 'as one device adds them up');
        } else t.is(found, await host.reduce(keys, op, { dtype }), `${op} ${dtype} ${distribution}`);
      }
    }
  }
});

test('large sorts are measured first, and the report names the shares and the reason', async (t) => {
  const keys = keysOf('u32', 'uniform', 2 ** 20 + 1);
  const expected = await host.sort(keys);
  const reports: SortReport[] = [];
  const onReport = (report: SortReport) => reports.push(report);
  t.true(same(await both.sort(keys, { onReport }), expected));
  t.regex(
    reports[0]?.reason ?? '',
    /alone: .* expected, .* spread over 2|spread over 2 devices: .* expected/,
  );
  t.is(reports.length, 1);
  t.true(same(await both.sort(keys, { ...TWO_DEVICES, onReport, verify: true }), expected));
  const [, sharded] = reports;
  t.is(sharded?.shares?.length, 2);
  t.is(
    sharded?.shares?.reduce((sum, { n }) => sum + n, 0),
    keys.length,
  );
  t.deepEqual(
    sharded?.shares?.map(({ device }) => device.id ?? '').sort(),
    both.devices.map(({ id }) => id).sort(),
  );
  t.deepEqual(sharded?.verified, { order: true, permutation: true });
  t.true(same(await both.sort(keys, { advanced: { tuning: { deviceCount: 1 } }, onReport }), expected));
  t.is(reports[2]?.shares, undefined);
});

test('two devices sort in place, into given arrays and through the functions of the module', async (t) => {
  const keys = keysOf('f64', 'uniform', 30_000) as Float64Array;
  const expected = await host.sort(keys);
  const into = new Float64Array(keys.length);
  t.is(await both.sort(keys, { into, ...TWO_DEVICES }), into);
  t.deepEqual(into, expected);
  const own = keys.slice();
  t.is(await both.sortInPlace(own, TWO_DEVICES), own);
  t.deepEqual(own, expected);
  t.deepEqual(await clsort.sort(keys, { devices: [BASIC, 'all'], ...TWO_DEVICES }), expected);
  t.deepEqual(await clsort.topK(keys, 1, { devices: [PLATFORM] }), await host.topK(keys, 1));
  await clsort.closeAll();
});

test('keys in resizable memory are sorted by two devices and can be sharded', async (t) => {
  const keys = keysOf('u32', 'uniform', 30_000) as Uint32Array;
  const resizable = (): Uint32Array<ArrayBuffer> => {
    // ES2024, which Node 20 has.
    const make = ArrayBuffer as unknown as new (bytes: number, options: object) => ArrayBuffer;
    const own = new Uint32Array(new make(keys.byteLength, { maxByteLength: 2 * keys.byteLength }));
    own.set(keys);
    return own;
  };
  const expected = await host.sort(keys);
  t.true(same(await both.sort(resizable(), TWO_DEVICES), expected));
  t.true(same(await both.argsort(resizable(), TWO_DEVICES), await host.argsort(keys)));
  t.true(same((await both.sortPairs(resizable(), resizable(), TWO_DEVICES)).values, expected));
  t.true(same(await both.sortInPlace(resizable(), TWO_DEVICES), expected));
  t.deepEqual((await both.topK(resizable(), 9, TWO_DEVICES)).keys, (await host.topK(keys, 9)).keys);
  const fresh = await Sorter.open({ devices: [PLATFORM] }); // has measured nothing yet
  using sharded = await fresh.upload(resizable(), { sharded: true });
  const into = resizable();
  await (await fresh.sort(sharded)).readInto(into);
  t.true(same(into, expected));
  await fresh.close();
});

test('many concurrent calls, large and small, each get their own result', async (t) => {
  const arrays = Array.from({ length: 24 }, (_, i) => keysOf('u32', 'uniform', 1000 + 5000 * i, BigInt(i)));
  const sorted = await Promise.all(arrays.map((keys, i) => both.sort(keys, i % 2 ? TWO_DEVICES : {})));
  for (const [i, keys] of arrays.entries()) t.true(same(sorted[i] as Uint32Array, await host.sort(keys)));
});

test('other operations and device arrays use the best device', async (t) => {
  const keys = keysOf('u32', 'special', 10_000) as Uint32Array;
  const array = await both.upload(keys);
  t.deepEqual(await (await both.sort(array)).read(), await host.sort(keys));
  t.deepEqual(await both.unique(keys), await host.unique(keys));
  t.deepEqual(
    await both.segmentedSort(keys, [0, 10, 10_000]),
    await host.segmentedSort(keys, [0, 10, 10_000]),
  );
  t.is(both.plan(100).engine, 'device');
});

test('a signal aborts a sort, and the next one is correct', async (t) => {
  const keys = keysOf('u32', 'uniform', 2 ** 20);
  await t.throwsAsync(both.sort(keys, { ...TWO_DEVICES, signal: AbortSignal.abort() }), {
    instanceOf: AbortedError,
  });
  const controller = new AbortController();
  const call = both.sort(keys, { ...TWO_DEVICES, signal: controller.signal });
  setImmediate(() => controller.abort());
  await call.then(
    (sorted) => t.true(same(sorted, keys.toSorted())), // it was measured before
    (error: unknown) => t.true(error instanceof AbortedError),
  );
  t.true(same(await both.sort(keys, TWO_DEVICES), keys.toSorted()));
});

test('an array that is detached during a sort rejects it', async (t) => {
  const keys = keysOf('u32', 'uniform', 2 ** 20) as Uint32Array;
  const call = both.sort(keys, TWO_DEVICES);
  structuredClone(keys.buffer, { transfer: [keys.buffer as ArrayBuffer] });
  await t.throwsAsync(call, { instanceOf: InputError });
});

test('devices are given by one option, and unknown names are rejected', async (t) => {
  await t.throwsAsync(Sorter.open({ devices: [] }), { instanceOf: UsageError, message: /one or more names/ });
  await t.throwsAsync(Sorter.open({ devices: ['gpu'], device: 'cpu' }), {
    instanceOf: UsageError,
    message: /together/,
  });
  await t.throwsAsync(clsort.sort(Uint32Array.of(1), { devices: ['gpu'], device: 'cpu' }), {
    instanceOf: UsageError,
  });
  await t.throwsAsync(Sorter.open({ devices: [BASIC, 'nonesuch'] }), {
    instanceOf: NoDeviceError,
    message: new RegExp(`'nonesuch': available are .*${BASIC}.*${PTHREAD}`),
  });
  await t.throwsAsync(Sorter.open({ devices: ['host', 'all'] }), {
    instanceOf: UsageError,
    message: /alone/,
  });
  await t.throwsAsync(both.sort(Uint32Array.of(1), { devices: ['all'] }), { instanceOf: UsageError });
  await using one = await Sorter.open({ devices: [BASIC, BASIC.toUpperCase(), '0:0'] });
  t.is(one.devices.length, 1);
  await using none = await Sorter.open({ devices: ['host'] });
  t.is(none.device, undefined);
  t.deepEqual(await none.sort(Uint32Array.of(2, 1)), Uint32Array.of(1, 2));
});

test('two devices sort empty arrays, single keys and views at any offset', async (t) => {
  for (const n of [0, 1, 2, 3]) {
    const keys = Uint32Array.from({ length: n }, (_, i) => n - i) as KeyArray;
    t.deepEqual(await both.sort(keys, TWO_DEVICES), keys.toSorted());
    t.deepEqual((await both.topK(keys, 5, { ...TWO_DEVICES, largest: false })).keys, keys.toSorted());
  }
  const bytes = keysOf('u8', 'uniform', 4001) as Uint8Array;
  const odd = bytes.subarray(1);
  t.deepEqual(
    bytesOf(await both.sort(odd, { dtype: 'u32', ...TWO_DEVICES })),
    bytesOf(await host.sort(odd, { dtype: 'u32' })),
  );
});
