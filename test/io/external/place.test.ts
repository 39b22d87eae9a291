/** Placing records in partitions, each in input order, natively and in JavaScript. */
import test from 'ava';
import { Placer } from '../../../src/io/external/place.js';
import { Splitters } from '../../../src/io/external/splitters.js';
import type { RecordOrdering } from '../../../src/io/records/record-ordering.js';
import { bytesOf } from '../../../src/keys/array.js';
import { DTYPES, dtypeInfo } from '../../../src/keys/dtype.js';
import { placeAsync } from '../../../src/native-host/host-functions.js';
import * as cl from '../../../src/opencl/index.js';
import { Random } from '../../../src/util/random.js';
import { bitWindows, DISTRIBUTIONS, keysOf } from '../../distributions.js';
import { type ReferenceOrder, referenceSort } from '../../reference.js';
import { orderOf, TEN_OF_TWELVE } from './small.js';

/** The model: appends each record to its partition. */
function expectedPartitions(order: RecordOrdering, splitters: Splitters, records: Uint8Array) {
  const partitions = new Uint16Array(records.length / order.recordBytes);
  splitters.place(records, partitions, new Uint32Array(splitters.partitions));
  const parts = splitters.single.map((): Uint8Array[] => []);
  partitions.forEach((p, i) => {
    parts[p]?.push(records.subarray(i * order.recordBytes, (i + 1) * order.recordBytes));
  });
  return {
    bytes: new Uint8Array(Buffer.concat(parts.flat())),
    counts: Uint32Array.from(parts, (part) => part.length),
  };
}

for (const dtype of DTYPES) {
  test(`${dtype}: keys are placed as in the model, and sorted partitions form a sorted array`, async (t) => {
    const windows = bitWindows(dtype).map((bits) => ({ bits }));
    const { bytes: recordBytes } = dtypeInfo(dtype);
    const orders: ReferenceOrder[] = [
      {},
      { descending: true },
      { nan: 'first' },
      { descending: true, nan: 'first' },
    ];
    for (const given of [...orders, ...windows]) {
      for (const distribution of DISTRIBUTIONS) {
        const records = bytesOf(keysOf(dtype, distribution, 300));
        const order = orderOf(dtype, given);
        const splitters = Splitters.of(order, records.subarray(0, 100 * recordBytes), 9);
        const wanted = expectedPartitions(order, splitters, records);
        for (const native of [true, false]) {
          const to = new Uint8Array(records.length);
          const counts = await new Placer(order, splitters, { native }).place(records, to);
          const description = `${JSON.stringify(given)} ${distribution} ${native}`;
          t.deepEqual(counts, wanted.counts, description);
          t.deepEqual(to, wanted.bytes, description);
          let begin = 0;
          const sorted: Uint8Array[] = [];
          for (const count of counts) {
            sorted.push(referenceSort(to.slice(begin, begin + count * recordBytes), dtype, given));
            begin += count * recordBytes;
          }
          t.deepEqual(
            new Uint8Array(Buffer.concat(sorted)),
            referenceSort(records, dtype, given),
            description,
          );
        }
      }
    }
  });

  test(`${dtype}: keys for several threads are placed as in the model, from unaligned memory`, async (t) => {
    const order = orderOf(dtype);
    const records = bytesOf(keysOf(dtype, 'uniform', 200_003));
    for (const partitions of [1, 2, 300]) {
      const splitters = Splitters.of(
        order,
        records.slice(0, 20 * partitions * order.recordBytes),
        partitions,
      );
      const wanted = expectedPartitions(order, splitters, records);
      const shifted = new Uint8Array(records.length + 1).subarray(1);
      shifted.set(records);
      const to = new Uint8Array(records.length);
      t.deepEqual(await new Placer(order, splitters).place(shifted, to), wanted.counts);
      t.true(Buffer.compare(to, wanted.bytes) === 0);
    }
  });
}

test('records that are not plain keys are placed in their partitions', async (t) => {
  const records = new Random(3).bytes(12 * 70_000);
  const splitters = Splitters.of(TEN_OF_TWELVE, records.subarray(0, 12 * 500), 20);
  const wanted = expectedPartitions(TEN_OF_TWELVE, splitters, records);
  const to = new Uint8Array(records.length);
  t.deepEqual(await new Placer(TEN_OF_TWELVE, splitters).place(records, to), wanted.counts);
  t.true(Buffer.compare(to, wanted.bytes) === 0);
});

test('placing no keys returns zero counts', async (t) => {
  const order = orderOf('f32');
  const splitters = Splitters.of(order, bytesOf(keysOf('f32', 'uniform', 100)), 4);
  const counts = await new Placer(order, splitters).place(new Uint8Array(0), new Uint8Array(0));
  t.deepEqual(counts, new Uint32Array(splitters.partitions));
});

/** Codes that equal the keys, and two thresholds at 10 and 20 with cells of two codes. */
const SOUND = {
  codec: new BigUint64Array(7).fill(2n ** 64n - 1n, 6),
  firsts: BigUint64Array.of(10n, 20n),
  before: Uint16Array.of(0, 1, 1, 1, 1, 1, 2),
  shift: 1,
};

test('tables with indices out of range and memory that is too small are rejected', async (t) => {
  const [keys, to, counts] = [new Uint32Array(12), new Uint32Array(12), new Uint32Array(3)];
  const place = async (changed: object) => {
    const all = { ...SOUND, keys, width: 4, to, counts, ...changed };
    const { codec, firsts, before, shift } = all;
    await placeAsync(all.keys, all.width as 4, codec, firsts, before, shift, all.to, all.counts, 2);
  };
  for (const changed of [
    { width: 3 },
    { keys: keys.subarray(1), width: 8 },
    { to: to.subarray(1) },
    { counts: counts.subarray(1) },
    { codec: SOUND.codec.subarray(1) },
    { shift: 64 },
    { before: SOUND.before.subarray(1) },
    { before: SOUND.before.map(() => 3) },
    { firsts: SOUND.firsts.slice().reverse() },
  ]) {
    await t.throwsAsync(place(changed), { message: cl.INVALID_VALUE.message }, Object.keys(changed).join());
  }
  t.deepEqual(counts, new Uint32Array(3));
  keys.set([9, 25, 10, 19, 20, 0]);
  await place({});
  t.deepEqual([...counts], [8, 2, 2]);
  t.deepEqual([...to], [9, 0, 0, 0, 0, 0, 0, 0, 10, 19, 25, 20]);
});

test('changing keys and tables during placement causes no write out of bounds', async (t) => {
  const n = 500_000;
  const keys = new Uint32Array(n);
  const [to, counts] = [new Uint32Array(n + 2).fill(7), new Uint32Array(3)];
  const [firsts, before] = [SOUND.firsts.slice(), SOUND.before.slice()];
  const placing = placeAsync(keys, 4, SOUND.codec, firsts, before, 1, to.subarray(1, n + 1), counts, 2);
  before.fill(0xffff);
  firsts.fill(2n ** 64n - 1n);
  for (let i = 0; i < n; i++) keys[i] = i & 31;
  await placing;
  t.is(
    counts.reduce((sum, count) => sum + count),
    n,
  );
  t.deepEqual([to[0], to[n + 1]], [7, 7]);
});
