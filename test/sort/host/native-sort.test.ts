/** The host engine of the addon gives the bits that the reference engine gives. */
import test from 'ava';
import { bytesOf, emptyLike, type HostColumn, keyColumn } from '../../../src/keys/array.js';
import { DTYPES, type Dtype, dtypeInfo, type KeyArray } from '../../../src/keys/dtype.js';
import { Sorter } from '../../../src/sort/api/sorter.js';
import { segmentSteps } from '../../../src/sort/host/host-segments.js';
import { type HostOrder, type HostResult, hostSort } from '../../../src/sort/host/host-sort.js';
import { nativeSort } from '../../../src/sort/host/native-sort.js';
import { runSync } from '../../../src/sort/host/steps.js';
import { column, wordsOf } from '../../../src/sort/model/column.js';
import { AbortedError } from '../../../src/util/errors.js';
import { bitWindows, DISTRIBUTIONS, keysOf, SEED } from '../../distributions.js';
import { sameMultiset } from '../../reference.js';

const ORDERS = [
  { descending: false, nan: 'last' },
  { descending: true, nan: 'first' },
] as const;

/** Calls `run` with a number of threads, which sorts read before they return a promise. */
function withThreads<T>(count: number, run: () => T): T {
  const before = process.env.CLSORT_THREADS;
  process.env.CLSORT_THREADS = `${count}`;
  try {
    return run();
  } finally {
    if (before === undefined) delete process.env.CLSORT_THREADS;
    else process.env.CLSORT_THREADS = before;
  }
}

// More than two threads partition smaller arrays: those of 512 KiB of records, not of 2 MiB.
process.env.CLSORT_THREADS = '4';

/** Sizes around the limits of insertion, of a piece that is not partitioned, and of one partition. */
const SIZES = [0, 1, 2, 48, 49, 257, 4097, 2 ** 16, 2 ** 16 + 1, 2 ** 17 + 1, 2 ** 19 + 3];

const same = (a: ArrayBufferView | undefined, b: ArrayBufferView | undefined): boolean =>
  (a === undefined && b === undefined) ||
  Buffer.compare(bytesOf(a as KeyArray), bytesOf(b as KeyArray)) === 0;

const bytesFor = (n: number, bytes: number): Uint8Array => {
  const view = new Uint8Array(n * bytes);
  for (let i = 0; i < view.length; i++) view[i] = Math.imul(i, 0x9e3779b1) >>> 24;
  return view;
};

/** Results to compute: keys, positions, or values of some bytes with their keys. */
type Wanted = 'keys' | 'positions' | number;

const resultFor = (keys: KeyArray, wanted: Wanted): HostResult => {
  const n = keys.length;
  if (wanted === 'keys') return { sorted: emptyLike(keys) };
  if (wanted === 'positions') return { moved: new Uint32Array(n) };
  const view = bytesFor(n, wanted);
  return {
    sorted: emptyLike(keys),
    values: { place: view, bytes: wanted },
    moved: new Uint8Array(view.length),
  };
};

/** Sorts with both engines. @returns whether all results are equal */
async function agree(keys: KeyArray, dtype: Dtype, order: HostOrder, wanted: Wanted): Promise<boolean> {
  const column = keyColumn(keys, dtype);
  const [expected, got] = [resultFor(keys, wanted), resultFor(keys, wanted)];
  hostSort(column, order, expected);
  await nativeSort(column, order, got, {});
  return same(expected.sorted, got.sorted) && same(expected.moved, got.moved);
}

for (const dtype of DTYPES) {
  for (const order of ORDERS) {
    const how = `${order.descending ? 'descending' : 'ascending'}, NaN ${order.nan}`;
    test(`${dtype} ${how}: keys and positions of every distribution and size match`, async (t) => {
      for (const [i, distribution] of DISTRIBUTIONS.entries()) {
        for (const [j, n] of SIZES.entries()) {
          // Each distribution with every third large size: the reference takes a second for a few million keys.
          if (n > 2 ** 16 && (i + j) % 3 > 0) continue;
          const keys = keysOf(dtype, distribution, n);
          for (const wanted of ['keys', 'positions'] as const) {
            t.true(await agree(keys, dtype, order, wanted), `${distribution} ${n} ${wanted} seed ${SEED}`);
          }
        }
      }
    });
  }

  test(`${dtype}: values of 1 to 16 bytes travel with their keys`, async (t) => {
    for (let bytes = 1; bytes <= 16; bytes++) {
      for (const n of [47, 3000, 2 ** 17 + 1]) {
        const keys = keysOf(dtype, 'two', n);
        t.true(await agree(keys, dtype, { descending: bytes % 2 === 0 }, bytes), `${bytes} bytes, ${n} keys`);
      }
    }
  });

  test(`${dtype}: every bit window, the empty one included`, async (t) => {
    for (const n of [300, 2 ** 17 + 1]) {
      const keys = keysOf(dtype, 'uniform', n);
      for (const bits of bitWindows(dtype)) {
        for (const wanted of ['keys', 'positions', 8] as const) {
          t.true(await agree(keys, dtype, { bits, descending: n > 300 }, wanted), `${bits} ${n} ${wanted}`);
        }
      }
    }
  });
}

test('sorted and reversed arrays keep equal keys in order', async (t) => {
  const n = 2 ** 18;
  for (const make of [
    (i: number) => i >> 1,
    (i: number) => -i,
    (i: number) => -(i >> 1),
    (i: number) => i & 15,
  ]) {
    const keys = Int32Array.from({ length: n }, (_, i) => make(i));
    for (const wanted of ['keys', 'positions', 4] as const) {
      t.true(await agree(keys, 'i32', {}, wanted), `${make} ${wanted}`);
      t.true(await agree(keys, 'i32', { descending: true }, wanted), `${make} descending ${wanted}`);
      t.true(await agree(keys, 'i32', { bits: [4, 32] }, wanted), `${make} window ${wanted}`);
    }
  }
});

test('results in the memory of the input', async (t) => {
  for (const n of [5, 1000, 2 ** 18 + 1]) {
    for (const make of [
      () => keysOf('f64', 'uniform', n) as Float64Array,
      () => Float64Array.from({ length: n }, (_, i) => -i),
      () => Float64Array.from({ length: n }, (_, i) => i % 3),
    ]) {
      for (const bytes of [0, 4, 12]) {
        const keys = make();
        const expected = resultFor(keys, bytes || 'keys');
        hostSort(keyColumn(keys), {}, expected);
        const values = bytesFor(n, bytes);
        const result = {
          sorted: keys,
          ...(bytes && { values: { place: values, bytes }, moved: values }),
        };
        await nativeSort(keyColumn(keys), {}, result, {});
        t.true(same(expected.sorted, keys), `${n} keys`);
        if (bytes) t.true(same(expected.moved, values), `${n} values of ${bytes} bytes`);
      }
    }
  }
});

test('memory without alignment', async (t) => {
  for (const n of [100, 2 ** 18 + 1]) {
    const keys = keysOf('f64', 'uniform', n);
    const column = keyColumn(keys);
    const expected = resultFor(keys, 8);
    hostSort(column, {}, expected);
    const [sorted, moved] = [new Uint8Array(n * 8 + 3).subarray(3), new Uint8Array(n * 8 + 5).subarray(5)];
    await nativeSort(column, {}, { ...expected, sorted, moved }, {});
    t.true(same(expected.sorted, sorted) && same(expected.moved, moved), `${n} keys`);
  }
});

test('segments of all lengths, with positions from their start or from the array', async (t) => {
  const lengths = [0, 1, 2, 47, 48, 49, 300, 0, 5000, 2 ** 17 + 5, 0, 32, 2 ** 18];
  const ends = lengths.map((_, i) => lengths.slice(0, i + 1).reduce((sum, length) => sum + length, 0));
  const offsets = Uint32Array.of(0, ...ends);
  const n = ends.at(-1) as number;
  for (const dtype of ['u8', 'f32', 'i64'] as const) {
    const keys = keysOf(dtype, 'two', n);
    for (const fromSegment of [false, true]) {
      for (const wanted of ['keys', 'positions', 4, 12] as const) {
        const segments = { offsets: { n: offsets.length, place: offsets }, fromSegment };
        const [expected, got] = [resultFor(keys, wanted), resultFor(keys, wanted)];
        const column: HostColumn = keyColumn(keys, dtype);
        runSync(segmentSteps({ keys: column, settings: {}, ...expected }, segments));
        await nativeSort(column, {}, got, { segments });
        const what = `${dtype} ${wanted} ${fromSegment}`;
        t.true(same(expected.sorted, got.sorted) && same(expected.moved, got.moved), what);
      }
    }
  }
});

test('rows of equal length, and others between them', async (t) => {
  const lengths = [2, 3, 8, 31, 32, 33, 63, 64, 65].flatMap((n) => [...Array<number>(37).fill(n), 5]);
  const offsets = Uint32Array.from([0, ...lengths]);
  for (let i = 1; i < offsets.length; i++) offsets[i] = (offsets[i] as number) + (offsets[i - 1] as number);
  const segments = { offsets: { n: offsets.length, place: offsets } };
  for (const dtype of DTYPES) {
    for (const order of [...ORDERS, { bits: [2, 6] as const }]) {
      for (const inPlace of [false, true]) {
        const keys = keysOf(dtype, 'random-bits', offsets.at(-1) as number);
        const expected = emptyLike(keys);
        runSync(segmentSteps({ keys: keyColumn(keys, dtype), settings: order, sorted: expected }, segments));
        const sorted = inPlace ? keys : emptyLike(keys);
        await nativeSort(keyColumn(keys, dtype), order, { sorted }, { segments });
        t.true(same(expected, sorted), `${dtype} ${JSON.stringify(order)}`);
      }
    }
  }
});

test('an aborted sort rejects, and results in the memory of the input stay a permutation', async (t) => {
  const before = keysOf('u64', 'uniform', 2 ** 20) as BigUint64Array;
  const sortFor = async (milliseconds: number): Promise<boolean> => {
    const keys = before.slice();
    const controller = new AbortController();
    const sorting = nativeSort(keyColumn(keys), {}, { sorted: keys }, { signal: controller.signal });
    const isAborted = sorting.then(
      () => false,
      (error) => error instanceof AbortedError,
    );
    const start = performance.now();
    while (performance.now() - start < milliseconds); // a timer is not exact enough
    controller.abort();
    const aborted = await isAborted;
    t.true(sameMultiset(bytesOf(before), bytesOf(keys), 8), `after ${milliseconds} ms`);
    return aborted;
  };
  const start = performance.now();
  await nativeSort(keyColumn(before.slice()), {}, { sorted: before.slice() }, {});
  const whole = performance.now() - start;
  t.true(await sortFor(0));
  // During the partition and the sorts of its pieces; a sort may also end before its signal fires.
  for (let share = 0.05; share < 0.9; share += 0.05) await sortFor(share * whole);
});

test('slices in order that overlap are not taken for a sorted array', async (t) => {
  const keys = Uint32Array.from({ length: 2 ** 19 }, (_, i) => (i % 2 ** 15) * 16 + (i >> 15)); // slices of 2^15
  t.true(await agree(keys, 'u32', {}, 'keys'));
});

test('one and two threads sort 2 MiB of records without a partition', async (t) => {
  for (const dtype of ['u16', 'u32', 'f64'] as const) {
    for (const wanted of ['keys', 'positions', 8] as const) {
      for (const n of [2 ** 17, 2 ** 17 + 1, 2 ** 18, 2 ** 18 + 1, 2 ** 19, 2 ** 19 + 1]) {
        const keys = keysOf(dtype, 'uniform', n);
        const agreed = withThreads(1 + (n % 2), () => agree(keys, dtype, {}, wanted));
        t.true(await agreed, `${dtype} ${n} ${wanted} seed ${SEED}`);
      }
    }
  }
});

test('reversed arrays of odd length', async (t) => {
  for (const n of [2 ** 17 + 1, 2 ** 18 + 3]) {
    const keys = Uint32Array.from({ length: n }, (_, i) => n - i);
    t.true(await agree(keys, 'u32', {}, 'keys'), `${n}`);
  }
});

test('few values with rare others', async (t) => {
  const keys = Uint32Array.from({ length: 2 ** 18 }, (_, i) => i & 3);
  keys[1] = 17; // a sample takes keys at multiples of 256
  t.true(await agree(keys, 'u32', {}, 'keys'));
});

for (const dtype of ['u8', 'f16', 'i32', 'f64', 'u64'] as const) {
  test(`${dtype}: keys of few codes, and others that a sample misses`, async (t) => {
    const { bytes, width } = dtypeInfo(dtype);
    const n = Math.max(2 ** 17, 2 ** 19 / bytes) + 1; // more than a piece; a sample takes keys at multiples of 256
    const [half, last] = [2n ** BigInt(width - 1), width === 8 ? 49n : 499n];
    const wordOf = (bits: bigint) => {
      const word = BigInt.asUintN(width, bits);
      return width === 64 ? word : Number(word);
    };
    const keys = keysOf(dtype, 'constant', n);
    const words = wordsOf(column(dtype, n, keys));
    // Codes at both ends of all codes and of their halves, such as zeros and NaNs, and some between.
    for (const [i, base] of [0n, half / 2n + 9n, half - 1n - last, half, 2n * half - 1n - last].entries()) {
      const few = Array.from({ length: Number(last) + 1 }, (_, at) => wordOf(base + BigInt(at)));
      const near = [base - 1n, base + last + 1n].map(wordOf);
      const far = [0n, half - 1n, half, 2n * half - 1n, (5n * half) / 4n, 3n].map(wordOf);
      for (const [j, [others, isOther]] of [
        [near, (at: number) => at % 50_000 === 7],
        [far, (at: number) => at % 50_000 < 8],
        [[...near, ...far], (at: number) => at % 3 === 0],
        [far, () => true],
      ].entries() as IterableIterator<[number, [typeof far, (at: number) => boolean]]>) {
        for (let at = 0; at < n; at++) {
          const random = Math.imul(at, 0x9e3779b1) >>> 8;
          const from = at % 256 > 0 && isOther(at) ? others : few;
          words[at] = from[random % from.length] as never;
        }
        const order = ORDERS[(i + j) % 2] as HostOrder;
        for (const bits of [undefined, [2, width - 1]] as const) {
          for (const wanted of ['keys', 'positions', 8] as const) {
            t.true(await agree(keys, dtype, { ...order, bits }, wanted), `${base} ${j} ${bits} ${wanted}`);
          }
        }
      }
    }
  });
}

test('two groups of few codes, far from each other', async (t) => {
  const n = 2 ** 18 + 2 ** 12; // each group is more than a piece
  const keys = Uint32Array.from({ length: n }, (_, i) => {
    const random = Math.imul(i, 0x9e3779b1) >>> 8;
    return (random % 500) + (i % 2 ? 3_000_000_000 : 70_000);
  });
  for (const order of ORDERS) {
    for (const wanted of ['keys', 'positions', 8] as const) {
      t.true(await agree(keys, 'u32', order, wanted), `${order.descending} ${wanted}`);
    }
    const sorted = keys.slice();
    await nativeSort(keyColumn(sorted), order, { sorted }, {});
    t.deepEqual(sorted, order.descending ? keys.slice().sort().reverse() : keys.slice().sort());
  }
});

test('keys of one code with others that a sample misses', async (t) => {
  const n = 2 ** 18; // a sample takes keys at multiples of 256
  for (const others of [[0], [5], [2 ** 32 - 1], [0, 2 ** 32 - 1], [999, 1001]]) {
    for (const code of [0, 1000, 2 ** 32 - 1]) {
      for (const every of [1, 3, 10_000]) {
        const keys = Uint32Array.from({ length: n }, (_, i) =>
          i % 256 === 0 || i % every > 0 ? code : (others[i % others.length] as number),
        );
        for (const wanted of ['keys', 'positions'] as const) {
          t.true(await agree(keys, 'u32', {}, wanted), `${others} ${code} ${every} ${wanted}`);
        }
      }
    }
  }
});

test('keys that differ in a sample only', async (t) => {
  const n = 4096; // a sample takes every 64th key
  const keys = BigUint64Array.from({ length: n }, (_, i) => {
    const low = BigInt(Math.imul(i, 0x9e3779b1) >>> 0);
    return i % 64 === 0 ? (BigInt(i + 1) << 51n) | low : low;
  });
  t.true(await agree(keys, 'u64', {}, 'keys'));
});

test('segments beyond the keys are skipped', async (t) => {
  const keys = keysOf('u32', 'uniform', 1000) as Uint32Array;
  const sorted = new Uint32Array(1000);
  const offsets = Uint32Array.of(0, 500, 2 ** 32 - 1);
  await nativeSort(keyColumn(keys), {}, { sorted }, { segments: { offsets: { n: 3, place: offsets } } });
  t.deepEqual(sorted.subarray(0, 500), keys.slice(0, 500).sort());
  t.true(sorted.subarray(500).every((key) => key === 0));
});

test('an aborted sort stops before it writes a result', async (t) => {
  const n = 2 ** 20;
  const keys = keysOf('u64', 'uniform', n) as BigUint64Array;
  for (const result of [{ sorted: keys.slice().fill(0n) }, { moved: new Uint32Array(n) }]) {
    const sorting = nativeSort(keyColumn(keys), {}, result, { signal: AbortSignal.abort() });
    await t.throwsAsync(sorting, { instanceOf: AbortedError });
    t.true([...Object.values(result)].every((view) => bytesOf(view as KeyArray).every((byte) => byte === 0)));
  }
});

test('a sort that is aborted during its partition leaves some of the result unwritten', async (t) => {
  const keys = keysOf('u64', 'uniform', 2 ** 23) as BigUint64Array;
  const sample = Array.from({ length: 8192 }, (_, i) => i * 1024 + 5);
  const isWritten = (sorted: BigUint64Array) => (i: number) => Atomics.load(sorted, i) !== 0n;
  let attempts = 0;
  for (let stopped = false; !stopped && attempts < 50; attempts++) {
    const controller = new AbortController();
    const sorted = new BigUint64Array(keys.length);
    const sorting = nativeSort(keyColumn(keys), {}, { sorted }, { signal: controller.signal });
    for (let polls = 0; polls < 10_000 && !sample.some(isWritten(sorted)); polls++);
    controller.abort();
    await t.throwsAsync(sorting, { instanceOf: AbortedError });
    stopped = !sample.every(isWritten(sorted)); // otherwise this thread had waited for a processor
  }
  t.true(attempts < 50);
});

test('a program that changes keys of few codes and the result meanwhile gets some result', async (t) => {
  const n = 2 ** 20;
  const keys = Uint32Array.from({ length: n }, (_, i) => i % 1000);
  for (const moved of [undefined, new Uint32Array(n)]) {
    for (let round = 0; round < 5; round++) {
      const sorted = new Uint32Array(n);
      const sorting = nativeSort(keyColumn(keys), {}, { sorted, ...(moved && { moved }) }, {});
      for (let i = 0; i < n; i++) {
        keys[i] = (i % 1000) + (i % 3 ? 0 : Math.imul(i, 0x85ebca6b));
        sorted[n - 1 - i] = i;
      }
      await sorting;
      keys.forEach((_, i) => {
        keys[i] = i % 1000;
      });
    }
  }
  t.true(await agree(keys, 'u32', {}, 8));
});

test('a program that changes the keys meanwhile gets some result, and no memory is damaged', async (t) => {
  const n = 2 ** 20;
  const keys = keysOf('u32', 'uniform', n) as Uint32Array;
  const values = new Uint8Array(n * 12);
  const moved = new Uint8Array(n * 12);
  for (let round = 0; round < 5; round++) {
    const sorting = nativeSort(
      keyColumn(keys),
      {},
      { sorted: new Uint32Array(n), values: { place: values, bytes: 12 }, moved },
      {},
    );
    for (let i = 0; i < n; i++) keys[i] = Math.imul(i, 0x85ebca6b + round) & (i % 2 ? 0xff : -1);
    await sorting;
  }
  t.true(await agree(keys, 'u32', {}, 12));
});

test('keys in memory that may shrink are sorted by the JavaScript engine', async (t) => {
  const Resizable = ArrayBuffer as unknown as new (
    bytes: number,
    options: { maxByteLength: number },
  ) => ArrayBuffer;
  await using sorter = await Sorter.open({ device: 'host' });
  for (const n of [1000, 2 ** 17]) {
    const keys = new Uint32Array(new Resizable(4 * n, { maxByteLength: 8 * n }));
    keys.set(keysOf('u32', 'uniform', n) as Uint32Array);
    let facts: object | undefined;
    const sorted = await sorter.sort(keys, {
      onReport: (report) => {
        facts = report.facts;
      },
    });
    t.true(same(sorted, Uint32Array.from(keys).sort()));
    t.like(facts, { engine: 'JavaScript' });
  }
});
