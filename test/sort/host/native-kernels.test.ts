/** The column kernels of the addon give the bits that those of the reference engine give. */
import test from 'ava';
import { bytesOf, emptyLike, newArray } from '../../../src/keys/array.js';
import { DTYPES, type Dtype, dtypeInfo, type KeyArray } from '../../../src/keys/dtype.js';
import { keyCodec } from '../../../src/keys/key-codec.js';
import { REDUCE_OPS, type ReduceOp, runsDtype, SCAN_OPS } from '../../../src/primitives/possible.js';
import type { ColumnKernels, ColumnSelection } from '../../../src/sort/backend/column-kernels.js';
import { HostColumnKernels } from '../../../src/sort/backend/host-column-kernels.js';
import { NativeColumnKernels } from '../../../src/sort/backend/native-column-kernels.js';
import { hostSort } from '../../../src/sort/host/host-sort.js';
import { type Column, column, hostColumn, wordsOf } from '../../../src/sort/model/column.js';
import { HISTOGRAM } from '../../../src/sort/operations/histogram/histogram.js';
import { MERGE } from '../../../src/sort/operations/merge/merge.js';
import { REDUCE_RUNS } from '../../../src/sort/operations/reduce-by-key/reduce-by-key.js';
import { SEARCH_SORTED } from '../../../src/sort/operations/search-sorted/search-sorted.js';
import { COMPACT } from '../../../src/sort/operations/select/selection.js';
import { CONTAINS, CONTAINS_BY_TABLE } from '../../../src/sort/operations/sets/contains.js';
import { AbortedError } from '../../../src/util/errors.js';
import type { MaybePromise } from '../../../src/util/maybe-promise.js';
import { type Distribution, keysOf } from '../../distributions.js';
import { abortOnStart } from './abort-on-start.js';

/** Around the smallest size of the addon and the sizes of one and several slices. */
const SIZES = [2 ** 14 - 1, 2 ** 14, 2 ** 14 + 1, 2 ** 18 - 1, 2 ** 18, 2 ** 18 + 1];
const LARGEST = 2 ** 18 + 1;

const ORDERS = [
  { descending: false, nan: 'last' },
  { descending: true, nan: 'first' },
] as const;

/** All bit patterns, which include NaNs and −0; few keys; equal keys. */
const INPUTS: readonly Distribution[] = ['random-bits', 'two', 'constant'];

const columnOf = (keys: KeyArray, dtype: Dtype): Column => column(dtype, keys.length, keys);

/** Keys with special values between them: −0, infinities and NaNs of several payloads. */
function keysFor(dtype: Dtype, distribution: Distribution, n: number): Column {
  const keys = columnOf(keysOf(dtype, distribution, n), dtype);
  const { kind, width } = keys.info;
  if (kind !== 'float' || distribution === 'constant') return keys;
  const words = wordsOf(keys);
  const top = 1n << BigInt(width - 1);
  const infinity = top - 1n - keys.info.negativeNaNs;
  const specials = [0n, top, infinity, top | infinity, infinity + 1n, top - 1n, 2n * top - 1n];
  for (let i = 0; i < n; i += 101) {
    const bits = specials[(i / 101) % specials.length] as bigint;
    words[i] = (width === 64 ? bits : Number(bits)) as never;
  }
  return keys;
}

/** Returns sorted keys by stretches of 50 keys, the last stretch first. */
function stretches(sorted: Column): Column {
  const { dtype, n } = sorted;
  const keys = column(dtype, n, newArray(dtype, n));
  const [from, to] = [wordsOf(sorted), wordsOf(keys)];
  for (let i = 0; i < n; i++) to[i] = from[Math.max(0, n - 50 - i + 2 * (i % 50))] as never;
  return keys;
}

/** Makes new output columns. */
type Make = (dtype: Dtype, n: number) => Column;

/**
 * Runs work with both kernels. It returns whatever should be equal beside the outputs.
 *
 * @returns whether all outputs and results are equal
 */
async function agree(work: (kernels: ColumnKernels, make: Make) => Promise<unknown>): Promise<boolean> {
  const run = async (kernels: ColumnKernels) => {
    const outputs: Column[] = [];
    const make: Make = (dtype, n) => {
      const output = column(dtype, n, newArray(dtype, n));
      outputs.push(output);
      return output;
    };
    return { result: await work(kernels, make), outputs };
  };
  const expected = await run(new HostColumnKernels(undefined));
  const got = await run(new NativeColumnKernels(undefined));
  const same = ({ place }: Column, i: number) =>
    Buffer.compare(bytesOf(place as KeyArray), bytesOf(got.outputs[i]?.place as KeyArray)) === 0;
  return Object.is(expected.result, got.result) && expected.outputs.every(same);
}

/** Work that writes positions to one output. */
type WidePositions = (kernels: ColumnKernels, make: (n: number) => Column) => MaybePromise<void>;

/** Whether the addon writes the same positions as u64 and as u32. */
async function agreeWide(work: WidePositions): Promise<boolean> {
  const run = async (dtype: 'u32' | 'u64') => {
    let output: ArrayLike<number | bigint> = [];
    const make = (n: number) => {
      const made = newArray(dtype, n);
      output = made;
      return column(dtype, n, made);
    };
    await work(new NativeColumnKernels(undefined), make);
    return output;
  };
  const [narrow, wide] = [await run('u32'), await run('u64')];
  return (
    Buffer.compare(
      bytesOf(BigUint64Array.from(narrow, BigInt)),
      bytesOf(BigUint64Array.from(wide, BigInt)),
    ) === 0
  );
}

/** Replaces NaNs by one: JavaScript does not specify which NaN a sum or a product results in. */
async function oneNaN(keys: Column): Promise<void> {
  const copy = column(keys.dtype, keys.n, wordsOf(keys).slice());
  await new HostColumnKernels(undefined).canonical(copy, copy);
  const [words, canonical] = [wordsOf(keys), wordsOf(copy)];
  for (let i = 0; i < keys.n; i++)
    if (words[i] !== canonical[i] && canonical[i]) words[i] = canonical[i] as never;
}

/** Returns u32 numbers that look random. */
const numbers = (n: number, below: number): Uint32Array =>
  Uint32Array.from({ length: n }, (_, i) => (Math.imul(i + 1, 0x9e3779b1) >>> 7) % below);

function sortedColumn(keys: Column, order: (typeof ORDERS)[number] = ORDERS[0]): Column {
  const sorted = emptyLike(keys.place as KeyArray);
  hostSort({ ...keys, view: wordsOf(keys) }, order, { sorted });
  return { ...keys, place: sorted };
}

for (const dtype of DTYPES) {
  const { kind, width } = dtypeInfo(dtype);

  test(`${dtype}: gather, with positions out of range`, async (t) => {
    for (const n of SIZES) {
      const keys = keysFor(dtype, 'uniform', 1000);
      const positions = column('u32', n, numbers(n, 1010));
      t.true(await agree(async (kernels, make) => kernels.gather(keys, positions, make(dtype, n))), `${n}`);
    }
  });

  test(`${dtype}: select the first keys of both orders`, async (t) => {
    for (const [i, n] of SIZES.entries()) {
      const keys = keysFor(dtype, INPUTS[i % 3] as Distribution, n);
      for (const [j, order] of ORDERS.entries()) {
        for (const [l, k] of [0, 1, 100, n >> 1, n].entries()) {
          // Each size with every second k: the reference sorts all keys.
          if ((i + j + l) % 2 > 0) continue;
          const select = async (kernels: ColumnKernels, make: Make) =>
            kernels.select(keys, keyCodec(dtype, order), { keys: make(dtype, k), positions: make('u32', k) });
          t.true(await agree(select), `${k} of ${n} ${INPUTS[i % 3]} ${order.nan}`);
          if (n < 2 ** 14) continue; // JavaScript writes u32 only
          const to = column(dtype, k, newArray(dtype, k));
          const selectWide: WidePositions = (kernels, make) =>
            kernels.select(keys, keyCodec(dtype, order), { keys: to, positions: make(k) });
          t.true(await agreeWide(selectWide), `wide ${k} of ${n} ${INPUTS[i % 3]} ${order.nan}`);
        }
      }
    }
  });

  test(`${dtype}: reduce, scan and reduce by runs`, async (t) => {
    for (const distribution of INPUTS) {
      for (const n of [2 ** 14, LARGEST]) {
        const keys = keysFor(dtype, distribution, n);
        for (const op of SCAN_OPS) {
          const rounds = kind === 'float' && (op === 'sum' || op === 'product');
          if (dtype.endsWith('f16') && rounds) continue;
          const what = `${op} ${distribution} ${n}`;
          for (const inclusive of [false, true]) {
            const scan = async (kernels: ColumnKernels, make: Make) => {
              const to = make(dtype, n);
              await kernels.scan(keys, to, op, inclusive);
              if (rounds) await oneNaN(to);
            };
            t.true(await agree(scan), `scan ${what} ${inclusive}`);
          }
          if (op === 'product') continue;
          t.true(await agree(async (kernels) => (await kernels.reduce(keys, op))()), `reduce ${what}`);
          t.true(await agree(runs(keys, op, 3)), `short runs ${what}`);
          t.true(await agree(runs(keys, op, 70_000)), `long runs ${what}`);
        }
      }
    }
  });

  test(`${dtype}: histograms by digit and by edges`, async (t) => {
    for (const n of SIZES) {
      const keys = keysFor(dtype, n % 2 ? 'uniform' : 'two', n);
      const last = (1n << BigInt(width)) - 1n;
      const bins = [
        { bits: [0, 8] as const },
        { bits: [width - 5, width] as const },
        { bits: [3, Math.min(19, width)] as const },
        { edges: [last / 4n, last / 2n, last / 2n, (last / 4n) * 3n] },
        { edges: [0n, 5n, last] },
      ];
      for (const binning of bins) {
        const count = async (kernels: ColumnKernels, make: Make) => {
          const counts = (await kernels.run(HISTOGRAM, keys, binning))();
          wordsOf(make('u32', counts.length)).set(counts as never);
        };
        t.true(await agree(count), `${JSON.stringify(Object.values(binning)[0]?.map(String))} of ${n}`);
      }
    }
  });

  test(`${dtype}: filter and partition by masks and ranges`, async (t) => {
    const last = (1n << BigInt(width)) - 1n;
    for (const n of SIZES) {
      const keys = keysFor(dtype, 'uniform', n);
      const mask = (byte: (i: number) => number) => ({
        mask: column(
          'u8',
          n,
          Uint8Array.from({ length: n }, (_, i) => byte(i)),
        ),
      });
      const selections: ColumnSelection[] = [
        mask(() => 0),
        mask(() => 255),
        mask((i) => (Math.imul(i, 0x9e3779b1) >>> 20) & 2),
        { low: last / 4n, high: last / 2n, not: false },
        { low: last / 4n, high: last / 2n, not: true },
        { low: 0n, high: last, not: false },
        { low: 1n, high: 0n, not: false },
      ];
      for (const [i, selection] of selections.entries()) {
        for (const rest of [false, true]) {
          const compact = async (kernels: ColumnKernels, make: Make) =>
            (await kernels.run(COMPACT, keys, selection, make(dtype, n), rest))();
          t.true(await agree(compact), `selection ${i} of ${n}, rest ${rest}`);
        }
      }
    }
  });

  test(`${dtype}: distinct keys with counts, searches and merges of sorted keys`, async (t) => {
    for (const order of ORDERS) {
      const codec = keyCodec(dtype, order);
      for (const [i, n] of SIZES.entries()) {
        const sorted = sortedColumn(keysFor(dtype, INPUTS[i % 3] as Distribution, n), order);
        const other = sortedColumn(keysFor(dtype, 'two', 5000), order);
        const what = `${n} ${order.nan}`;
        const distinct = async (kernels: ColumnKernels, make: Make) => {
          const places = make('u32', n);
          const count = (await kernels.distinct(sorted, { keys: make(dtype, n), places }))();
          await kernels.counts(places, n, make('u32', count));
          return count;
        };
        t.true(await agree(distinct), `distinct ${what}`);
        const keys = keysFor(dtype, 'uniform', n);
        const inOrder = sortedColumn(keys, order);
        const searches = [
          [other, keys],
          ...(i % 3 === 1
            ? [
                [sorted, inOrder],
                [inOrder, stretches(inOrder)],
              ]
            : []),
        ];
        for (const right of [false, true]) {
          for (const [j, [among, wanted]] of searches.entries()) {
            const search = async (kernels: ColumnKernels, make: Make) =>
              kernels.run(SEARCH_SORTED, among as Column, wanted as Column, { codec, right }, make('u32', n));
            t.true(await agree(search), `search ${j} ${what} ${right}`);
          }
          if (n < 2 ** 14) continue; // JavaScript writes u32 only
          const places = await agreeWide((kernels, to) =>
            kernels.run(SEARCH_SORTED, other, keys, { codec, right }, to(n)),
          );
          t.true(places, `wide search ${what} ${right}`);
        }
        const begins = column(
          'u32',
          n >> 1,
          Uint32Array.from({ length: n >> 1 }, (_, j) => 2 * j - (j % 2)),
        );
        const segments = async (kernels: ColumnKernels, make: Make) =>
          kernels.segmentIds(begins, make('u32', n));
        if (begins.n > 0) t.true(await agree(segments), `segments ${what}`);
        const places = Uint32Array.from({ length: n }, (_, j) => (n - 1 - j + (n >> 1)) % n);
        const placed = async (kernels: ColumnKernels, make: Make) =>
          kernels.segmentIds(begins, make('u32', n), column('u32', n, places));
        if (begins.n > 0) t.true(await agree(placed), `placed segments ${what}`);
        for (const inverted of [false, true]) {
          const contains = async (kernels: ColumnKernels, make: Make) =>
            kernels.run(
              CONTAINS,
              sorted,
              i % 2 ? keys : other,
              { codec, inverted },
              make('u8', i % 2 ? n : 5000),
            );
          t.true(await agree(contains), `contains ${what} ${inverted}`);
        }
        for (const [a, b] of [
          [sorted, other],
          [other, sorted],
          [sorted, { ...other, n: 0 }],
        ] as const) {
          const merge = async (kernels: ColumnKernels, make: Make) =>
            kernels.run(MERGE, a, b, codec, make(dtype, a.n + b.n));
          t.true(await agree(merge), `merge ${a.n} and ${b.n} ${order.nan}`);
        }
      }
    }
  });

  if (dtypeInfo(dtype).width <= 32) {
    test(`${dtype}: codes of several columns in one word`, async (t) => {
      for (const [n, packed, shift] of [
        [SIZES[1], 'u32', 0],
        [SIZES[5], 'u64', 0],
        [SIZES[5], 'u64', 29],
      ] as const) {
        const keys = keysFor(dtype, 'random-bits', n as number);
        for (const order of ORDERS) {
          const work = async (kernels: ColumnKernels, make: Make) => {
            const to = make(packed, keys.n);
            await kernels.appendCodes(keys, keyCodec(dtype, order), to, shift, true);
            await kernels.appendCodes(keys, keyCodec(dtype), to, shift + 3, false);
          };
          t.true(await agree(work), `${packed} ${n} ${JSON.stringify(order)}`);
        }
      }
    });
  }

  test(`${dtype}: canonical keys`, async (t) => {
    for (const n of SIZES) {
      const keys = keysFor(dtype, 'uniform', n);
      t.true(await agree(async (kernels, make) => kernels.canonical(keys, make(dtype, n))), `${n}`);
    }
  });
}

/** Reduces runs of about `length` values. */
function runs(values: Column, op: ReduceOp, length: number) {
  const begins: number[] = [];
  for (let at = 0; at < values.n; at += 1 + ((Math.imul(at + 1, 0x9e3779b1) >>> 8) % (2 * length)))
    begins.push(at);
  const places = column('u32', begins.length, Uint32Array.from(begins));
  return async (kernels: ColumnKernels, make: Make) => {
    const to = make(runsDtype(values.dtype, op), begins.length);
    await kernels.run(REDUCE_RUNS, values, places, op, to);
    if (values.info.kind === 'float' && op === 'sum') await oneNaN(to);
  };
}

test('a scan into the memory of its keys', async (t) => {
  for (const dtype of ['u32', 'f64'] as const) {
    const inPlace = async (kernels: ColumnKernels, make: Make) => {
      const keys = make(dtype, LARGEST);
      bytesOf(keys.place as KeyArray).set(bytesOf(keysOf(dtype, 'two', LARGEST)));
      await kernels.scan(keys, keys, 'sum', false);
    };
    t.true(await agree(inPlace), dtype);
  }
});

test('memory of resizable buffers', async (t) => {
  const Resizable = ArrayBuffer as unknown as new (
    bytes: number,
    options: { maxByteLength: number },
  ) => ArrayBuffer;
  const keys = new Uint32Array(new Resizable(4 * LARGEST, { maxByteLength: 8 * LARGEST }));
  keys.set(numbers(LARGEST, 1000));
  const sum = async (kernels: ColumnKernels) => (await kernels.reduce(columnOf(keys, 'u32'), 'sum'))();
  t.true(await agree(sum));
});

test('members by a table are those by a search', async (t) => {
  const n = 2 ** 16 + 1;
  const kernels = new NativeColumnKernels(undefined);
  for (const dtype of DTYPES) {
    const { kind, width } = dtypeInfo(dtype);
    if (kind === 'float') continue;
    const [least, greatest] =
      kind === 'signed'
        ? [-(2n ** BigInt(width - 1)), 2n ** BigInt(width - 1) - 1n]
        : [0n, 2n ** BigInt(width) - 1n];
    const middle = (least + greatest) / 2n;
    for (const begin of [least, middle - 50n, greatest - 100n]) {
      const columnOfValues = (value: (i: number) => bigint) => {
        const array = newArray(dtype, n);
        for (let i = 0; i < n; i++) array[i] = (width === 64 ? value(i) : Number(value(i))) as never;
        return columnOf(array, dtype);
      };
      const others = columnOfValues((i) => begin + BigInt(((i * 37) % 101) & ~1));
      const keys = columnOfValues((i) => (i % 5 ? begin + BigInt(i % 101) : i % 2 ? least : greatest));
      for (const order of ORDERS) {
        const codec = keyCodec(dtype, order);
        const sorted = columnOf(emptyLike(others.place as KeyArray, n), dtype);
        hostSort(hostColumn(others), order, { sorted: sorted.place as KeyArray });
        for (const inverted of [false, true]) {
          const [mask, expected] = [new Uint8Array(n).fill(7), new Uint8Array(n)];
          const how = { codec, inverted };
          t.true(await kernels.run(CONTAINS_BY_TABLE, others, keys, how, columnOf(mask, 'u8')));
          await kernels.run(CONTAINS, sorted, keys, how, columnOf(expected, 'u8'));
          t.deepEqual(mask, expected, `${dtype} from ${begin} ${JSON.stringify(order)} ${inverted}`);
        }
      }
    }
    const wide = columnOf(keysOf(dtype, 'uniform', n), dtype);
    const how = { codec: keyCodec(dtype), inverted: false };
    const used = await kernels.run(CONTAINS_BY_TABLE, wide, wide, how, columnOf(new Uint8Array(n), 'u8'));
    t.is(used, width <= 16, 'a table of a large range takes more memory than the keys');
  }
});

test('an aborted operation rejects', async (t) => {
  const n = 2 ** 24;
  const keys = columnOf(keysOf('f64', 'uniform', n), 'f64');
  const kernels = new NativeColumnKernels(abortOnStart());
  const places = column('u32', n, new Uint32Array(n));
  const searching = kernels.run(SEARCH_SORTED, keys, keys, { codec: keyCodec('f64'), right: false }, places);
  await t.throwsAsync(searching, { instanceOf: AbortedError });
  for (const op of REDUCE_OPS) await t.throwsAsync(kernels.reduce(keys, op), { instanceOf: AbortedError });
});

test('a program that changes the arrays meanwhile gets some result, and no memory is damaged', async (t) => {
  const n = 2 ** 19;
  const words = keysOf('u32', 'uniform', n) as Uint32Array;
  const bytes = new Uint8Array(n);
  const keys = columnOf(words, 'u32');
  const kernels = new NativeColumnKernels(undefined);
  const make = (size = n) => column('u32', size, new Uint32Array(size));
  for (let round = 0; round < 5; round++) {
    const all = [
      kernels.gather(keys, keys, make()),
      kernels.select(keys, keyCodec('u32'), { keys: make(n / 8), positions: make(n / 8) }),
      kernels.run(COMPACT, keys, { mask: columnOf(bytes, 'u8') }, make(), true),
      kernels.distinct(keys, { keys: make(), places: make() }),
      kernels.run(MERGE, keys, keys, keyCodec('u32'), make(2 * n)),
      kernels.run(REDUCE_RUNS, keys, keys, 'sum', column('u64', n, new BigUint64Array(n))),
      kernels.run(HISTOGRAM, keys, { bits: [16, 32] }),
    ];
    for (let i = 0; i < n; i++) {
      words[i] = Math.imul(i, 0x85ebca6b + round) & (i % 2 ? 0xff : -1);
      bytes[i] = i & round;
    }
    await Promise.all(all);
  }
  t.true(await agree(async (same) => (await same.reduce(keys, 'sum'))()));
});
