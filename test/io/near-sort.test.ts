/** Insertion sort of nearly sorted keys: its result, when it gives up, and which digits are left to it. */
import test from 'ava';
import { NearSort } from '../../src/io/near-sort.js';
import { keyOrdering } from '../../src/io/record-ordering.js';
import { bytesOf } from '../../src/keys/array.js';
import { DTYPES, dtypeInfo } from '../../src/keys/dtype.js';
import { codecWords, keyCodec } from '../../src/keys/key-codec.js';
import * as cl from '../../src/opencl/index.js';
import { Sorter } from '../../src/sort/api/sorter.js';
import { Random } from '../../src/util/random.js';
import { bitWindows, DISTRIBUTIONS, keysOf } from '../distributions.js';
import { type ReferenceOrder, referenceSort } from '../reference.js';

const codesOf = (dtype: (typeof DTYPES)[number], { bits, ...order }: ReferenceOrder = {}) => {
  const [begin, end] = bits ?? [0, dtypeInfo(dtype).width];
  return { codec: keyCodec(dtype, order), mask: ((1n << BigInt(end)) - 1n) ^ ((1n << BigInt(begin)) - 1n) };
};

const wordsOf = ({ codec, mask }: ReturnType<typeof codesOf>) => codecWords(codec, mask);

/** Moves each element by up to `far` positions. */
function disturbed(bytes: Uint8Array, keyBytes: number, far: number): Uint8Array {
  const random = new Random(far);
  const n = bytes.length / keyBytes;
  const moves = Array.from({ length: n }, (_, i) => ({ i, at: i + random.below(far + 1) }));
  moves.sort((a, b) => a.at - b.at || a.i - b.i);
  return new Uint8Array(
    Buffer.concat(moves.map(({ i }) => bytes.subarray(i * keyBytes, (i + 1) * keyBytes))),
  );
}

const ORDERS: readonly ReferenceOrder[] = [
  {},
  { descending: true },
  { nan: 'first' },
  { descending: true, nan: 'first' },
];

for (const dtype of DTYPES) {
  test(`${dtype}: nearly sorted keys are sorted stably`, async (t) => {
    const { bytes: keyBytes } = dtypeInfo(dtype);
    for (const order of [...ORDERS, ...bitWindows(dtype).map((bits) => ({ bits }))]) {
      for (const distribution of DISTRIBUTIONS) {
        const sorted = referenceSort(bytesOf(keysOf(dtype, distribution, 400)), dtype, order);
        for (const far of [0, 1, 6]) {
          const keys = disturbed(sorted, keyBytes, far);
          const wanted = referenceSort(keys, dtype, order);
          const done = new Uint32Array(1);
          await cl.nearSortAsync(keys, keyBytes as 1, wordsOf(codesOf(dtype, order)), done, 2);
          t.deepEqual([...done], [1]);
          t.deepEqual(keys, wanted, `${JSON.stringify(order)} ${distribution} ${far}`);
        }
      }
    }
  });
}

test('several threads sort unaligned memory, and keys move from one share to another', async (t) => {
  const n = 300_007;
  const sorted = BigUint64Array.from({ length: n }, (_, i) => BigInt(i >> 1));
  const keys = disturbed(bytesOf(sorted), 8, 5);
  const shifted = new Uint8Array(keys.length + 1).subarray(1);
  shifted.set(keys);
  const done = new Uint32Array(1);
  await cl.nearSortAsync(shifted, 8, wordsOf(codesOf('u64')), done, 3);
  t.deepEqual([...done], [1]);
  t.true(Buffer.compare(shifted, bytesOf(sorted)) === 0);
  // The smallest keys are at the start of the second and third share, so that they move farther than to the share in
  // front.
  const late = Uint32Array.from({ length: 3 * 65_536 }, (_, i) => (i === 2 * 65_536 ? 0 : i + 1));
  await cl.nearSortAsync(late, 4, wordsOf(codesOf('u32')), done, 2);
  t.deepEqual([...done], [1]);
  t.deepEqual(late, late.slice().sort());
});

test('the insertion sort gives up on keys far from sorted order, and loses none', async (t) => {
  for (const n of [10_000, 200_000]) {
    const keys = Uint32Array.from({ length: n }, (_, i) => n - i);
    const done = Uint32Array.of(7);
    await cl.nearSortAsync(keys, 4, wordsOf(codesOf('u32')), done, 2);
    t.deepEqual([...done], [0]);
    t.deepEqual(
      keys.sort(),
      Uint32Array.from({ length: n }, (_, i) => i + 1),
    );
  }
});

test('no keys and one key are sorted, and invalid arguments are refused', async (t) => {
  const words = wordsOf(codesOf('u32'));
  const done = new Uint32Array(1);
  await cl.nearSortAsync(new Uint32Array(0), 4, words, done, 1);
  t.deepEqual([...done], [1]);
  await cl.nearSortAsync(Uint32Array.of(5), 4, words, done.fill(0), 1);
  t.deepEqual([...done], [1]);
  const keys = new Uint32Array(3);
  for (const sort of [
    () => cl.nearSortAsync(keys, 3 as 1, words, done, 1),
    () => cl.nearSortAsync(keys, 8, words, done, 1),
    () => cl.nearSortAsync(keys, 4, words.subarray(1), done, 1),
    () => cl.nearSortAsync(keys, 4, words, done.subarray(1), 1),
  ]) {
    await t.throwsAsync(async () => sort(), { message: cl.INVALID_VALUE.message });
  }
});

/** A Sorter on the host that poses as a CPU device. */
async function onCpu(body: (sorter: Sorter, windows: (readonly [number, number])[]) => Promise<void>) {
  const host = await Sorter.open({ device: 'host' });
  const windows: (readonly [number, number])[] = [];
  const sort: Sorter['sort'] = (keys, options) => {
    windows.push(options?.bitRange as [number, number]);
    return host.sort(keys, options);
  };
  await body({ device: { type: 'cpu' }, sort } as unknown as Sorter, windows);
  await host.close();
}

test('a partition is sorted by its highest digits, and insertion sort does the rest', async (t) => {
  await onCpu(async (sorter, windows) => {
    for (const descending of [false, true]) {
      const order = keyOrdering({ dtype: 'f64', descending, nan: 'last', bits: [0, 64] });
      const random = new Random(5);
      const keys = Float64Array.from({ length: 5000 }, () => 1 + random.u32() / 2 ** 32);
      const sorted = await order.sort(sorter, bytesOf(keys), { into: new Uint8Array(keys.byteLength) }, 52);
      t.deepEqual(sorted, referenceSort(bytesOf(keys), 'f64', { descending }));
      t.deepEqual(windows.splice(0), [[41, 52]]);
      // A requested algorithm sorts by all bits.
      await order.sort(sorter, bytesOf(keys), { algorithm: 'serial' }, 52).catch(() => undefined);
      t.deepEqual(windows.splice(0), [[0, 64]]);
    }
  });
});

test('keys with equal highest digits are sorted by all bits, and later attempts are skipped', async (t) => {
  await onCpu(async (sorter, windows) => {
    const order = keyOrdering({ dtype: 'u64', descending: false, nan: 'last', bits: [0, 64] });
    const random = new Random(6);
    const keys = BigUint64Array.from(
      { length: 5000 },
      (_, i) => BigInt(random.u32()) | (i === 0 ? 1n << 60n : 0n),
    );
    for (let i = 0; i < 4; i++) {
      const sorted = await order.sort(sorter, bytesOf(keys), { into: new Uint8Array(keys.byteLength) }, 61);
      t.deepEqual(sorted, referenceSort(bytesOf(keys), 'u64'));
    }
    const both: [number, number][] = [
      [50, 61],
      [0, 61],
    ];
    t.deepEqual(windows, [...both, ...both, ...both, [0, 61]]);
  });
});

test('low digits are left out only on a CPU device and only if that saves passes', (t) => {
  const near = new NearSort(codesOf('u64'));
  const [cpu, gpu, host] = [
    { device: { type: 'cpu' } },
    { device: { type: 'gpu' } },
    { device: undefined },
  ].map((sorter) => sorter as unknown as Sorter);
  t.is(near.firstBit(cpu as Sorter, 2 ** 20, [0, 64]), 42);
  t.is(near.firstBit(cpu as Sorter, 2 ** 25, [0, 59]), 32);
  t.is(near.firstBit(cpu as Sorter, 2 ** 20, [0, 33]), 0);
  t.is(near.firstBit(cpu as Sorter, 2 ** 20, [32, 64]), 32);
  t.is(near.firstBit(cpu as Sorter, 1, [0, 64]), 53);
  t.is(near.firstBit(gpu as Sorter, 2 ** 20, [0, 64]), 0);
  t.is(near.firstBit(host as Sorter, 2 ** 20, [0, 64]), 0);
});
