#!/usr/bin/env node
// Fuzzes the host engine of the addon: random sorts and operations, compared bit for bit with the JavaScript engine.
//
//   node scripts/fuzz-host.mjs [--seconds N] [--seed N] [--case N] [--most N]
//
//   --seconds  total duration; default 60
//   --seed     default: from the clock. It is printed; --seed with --case repeats one case
//   --most     maximum number of keys; default 2^20
//
// A case is drawn from the seed and its number alone. Needs `npm run build`.

import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    case: { type: 'string' },
    most: { type: 'string', default: String(2 ** 20) },
  },
});
const most = Number(options.most);

const { bytesOf, emptyLike, keyColumn, newArray } = await import('../dist/src/keys/array.js');
const { DTYPES, dtypeInfo } = await import('../dist/src/keys/dtype.js');
const { keyCodec } = await import('../dist/src/keys/key-codec.js');
const { runsDtype, SCAN_OPS } = await import('../dist/src/primitives/possible.js');
const { HostColumnKernels } = await import('../dist/src/sort/backend/host-column-kernels.js');
const { NativeColumnKernels } = await import('../dist/src/sort/backend/native-column-kernels.js');
const { segmentSteps } = await import('../dist/src/sort/host/host-segments.js');
const { hostSort } = await import('../dist/src/sort/host/host-sort.js');
const { nativeProblem, nativeSort } = await import('../dist/src/sort/host/native-sort.js');
const { runSync } = await import('../dist/src/sort/host/steps.js');
const { column, wordsOf } = await import('../dist/src/sort/model/column.js');
const { HISTOGRAM } = await import('../dist/src/sort/operations/histogram/histogram.js');
const { MERGE } = await import('../dist/src/sort/operations/merge/merge.js');
const { REDUCE_RUNS } = await import('../dist/src/sort/operations/reduce-by-key/reduce-by-key.js');
const { CONTAINS } = await import('../dist/src/sort/operations/sets/contains.js');
const { SEARCH_SORTED } = await import('../dist/src/sort/operations/search-sorted/search-sorted.js');
const { COMPACT } = await import('../dist/src/sort/operations/select/selection.js');
const { DISTRIBUTIONS, keysOf } = await import('../dist/test/distributions.js');

if (nativeProblem()) throw nativeProblem();

/** Returns a generator of pseudo-random choices (mulberry32). */
function choices(seed) {
  let state = seed >>> 0;
  const below = (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return Math.floor((((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32) * n);
  };
  return { below, one: (list) => list[below(list.length)], maybe: (percent) => below(100) < percent };
}

const same = (a, b) => a === b || Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

/** Draws a size: sizes of all magnitudes, and those around powers of two, where the engine changes its method. */
function sizeOf({ below, maybe }, least = 0) {
  const exponent = below(Math.log2(most) + 1);
  const size = maybe(30)
    ? 2 ** exponent + below(3) - 1
    : Math.floor(2 ** exponent * (1 + below(1000) / 1000));
  return Math.max(least, Math.min(size, most));
}

/** Draws keys; in floats, every tenth one is a special value in some cases. */
function keysFor(random, dtype, n) {
  const keys = keysOf(dtype, random.one(DISTRIBUTIONS), n, BigInt(random.below(2 ** 31)));
  const { kind, width, negativeNaNs } = dtypeInfo(dtype);
  if (kind !== 'float' || random.maybe(60)) return keys;
  const words = wordsOf(column(dtype, n, keys));
  const top = 1n << BigInt(width - 1);
  const infinity = top - 1n - negativeNaNs;
  const specials = [0n, top, infinity, top | infinity, infinity + 1n, top - 1n, 2n * top - 1n];
  for (let i = 0; i < n; i += 10)
    words[i] = width === 64 ? random.one(specials) : Number(random.one(specials));
  return keys;
}

const orderOf = ({ one }) => ({ descending: one([false, true]), nan: one(['first', 'last']) });

/** Returns bytes in memory that may begin at any address. */
function bytesAt({ below, maybe }, length) {
  const offset = maybe(30) ? below(16) : 0;
  const bytes = new Uint8Array(length + offset).subarray(offset);
  for (let i = 0; i < length; i++) bytes[i] = Math.imul(i, 0x9e3779b1) >>> 24;
  return bytes;
}

/** Draws ascending offsets from 0 to n. */
function offsetsFor({ below, one }, n) {
  const length = one([1, 5, 32, 1000, 200_000]);
  const offsets = [0];
  for (let at = below(length); at < n; at += below(2 * length)) offsets.push(at);
  return Uint32Array.of(...offsets.slice(0, 50_000), n);
}

/** Sorts: keys, positions or values, with the options that a sort has. */
async function sorts(random, dtype) {
  const { below, one, maybe } = random;
  const keys = keysFor(random, dtype, sizeOf(random));
  const n = keys.length;
  const [a, b] = [below(dtypeInfo(dtype).width + 1), below(dtypeInfo(dtype).width + 1)];
  const order = { ...orderOf(random), ...(maybe(30) && { bits: [Math.min(a, b), Math.max(a, b)] }) };
  const wanted = one(['keys', 'positions', 'values', 'values alone']);
  const bytes = 1 + below(16);
  const inPlace = maybe(30) && wanted.startsWith('values') + (wanted === 'keys') > 0;
  const segments = maybe(30) && { offsets: offsetsFor(random, n), fromSegment: maybe(50) };
  const what = {
    dtype,
    n,
    ...order,
    wanted,
    bytes,
    inPlace,
    segments: segments && segments.offsets.length - 1,
  };
  const given = {
    ...(segments && {
      segments: {
        offsets: { n: segments.offsets.length, place: segments.offsets },
        fromSegment: segments.fromSegment,
      },
    }),
  };
  const results = [];
  for (const engine of ['JavaScript', 'addon']) {
    const input = keys.slice();
    const [result, overwrites] = [{}, inPlace && engine === 'addon'];
    const destination = () => (engine === 'addon' ? bytesAt(random, bytesOf(keys).length) : emptyLike(keys));
    if (wanted === 'keys' || wanted === 'values') result.sorted = overwrites ? input : destination();
    if (wanted === 'positions') result.moved = new Uint32Array(n);
    if (wanted.startsWith('values')) {
      const place = bytesAt(random, n * bytes);
      result.values = { place, bytes };
      result.moved = overwrites ? place : new Uint8Array(place.length);
    }
    const source = keyColumn(input, dtype);
    if (engine === 'addon') await nativeSort(source, order, result, given);
    else if (segments) runSync(segmentSteps({ keys: source, settings: order, ...result }, given.segments));
    else hostSort(source, order, result);
    if (!overwrites && !same(input, keys)) return { what: { ...what, engine, input: 'changed' }, ok: false };
    results.push([result.sorted, result.moved]);
  }
  return { what, ok: same(results[0][0], results[1][0]) && same(results[0][1], results[1][1]) };
}

/** Replaces NaNs by one: JavaScript does not specify which NaN a sum results in. */
async function oneNaN(keys) {
  const copy = column(keys.dtype, keys.n, wordsOf(keys).slice());
  await new HostColumnKernels(undefined).canonical(copy, copy);
  const [words, canonical] = [wordsOf(keys), wordsOf(copy)];
  for (let i = 0; i < keys.n; i++) if (words[i] !== canonical[i] && canonical[i]) words[i] = canonical[i];
}

function sorted(keys, order) {
  const result = emptyLike(keys.place);
  hostSort({ ...keys, view: wordsOf(keys) }, order, { sorted: result });
  return { ...keys, place: result };
}

const numbers = ({ below }, n, most) => {
  const [factor, first] = [below(2 ** 30) * 2 + 1, below(2 ** 30)];
  return Uint32Array.from({ length: n }, (_, i) => (Math.imul(i + first, factor) >>> 3) % most);
};

/** Operations on columns. Each draws its arguments, and returns a function that runs with either kernels. */
const OPERATIONS = {
  gather(random, keys) {
    const positions = column('u32', keys.n, numbers(random, keys.n, keys.n + random.below(2)));
    return (kernels, make) => kernels.gather(keys, positions, make(keys.dtype, keys.n));
  },
  select(random, keys) {
    const k = random.one([0, 1, random.below(keys.n), keys.n]);
    const codec = keyCodec(keys.dtype, orderOf(random));
    return (kernels, make) =>
      kernels.select(keys, codec, { keys: make(keys.dtype, k), positions: make('u32', k) });
  },
  reduce({ one }, keys) {
    const op = one(keys.dtype.endsWith('f16') ? ['min', 'max'] : ['sum', 'min', 'max']);
    return async (kernels) => (await kernels.reduce(keys, op))();
  },
  scan({ one, maybe }, keys) {
    const op = one(keys.dtype.endsWith('f16') ? ['min', 'max'] : SCAN_OPS);
    const inclusive = maybe(50);
    return async (kernels, make) => {
      const to = make(keys.dtype, keys.n);
      await kernels.scan(keys, to, op, inclusive);
      if (keys.info.kind === 'float') await oneNaN(to);
    };
  },
  compact(random, keys) {
    const { below, maybe } = random;
    const share = below(101);
    const limit = 1n << BigInt(keys.info.width);
    const [low, high] = [0, 0].map(() => (BigInt(below(2 ** 30)) * limit) >> 30n);
    const mask = column(
      'u8',
      keys.n,
      Uint8Array.from({ length: keys.n }, () => (maybe(share) ? 1 + below(255) : 0)),
    );
    const selection = maybe(50) ? { mask } : { low, high, not: maybe(50) };
    const rest = maybe(50);
    return async (kernels, make) =>
      (await kernels.run(COMPACT, keys, selection, make(keys.dtype, keys.n), rest))();
  },
  distinct(random, keys) {
    const input = sorted(keys, orderOf(random));
    return async (kernels, make) => {
      const places = make('u32', keys.n);
      const count = (await kernels.distinct(input, { keys: make(keys.dtype, keys.n), places }))();
      await kernels.counts(places, keys.n, make('u32', count));
      return count;
    };
  },
  searchSorted(random, keys) {
    const order = orderOf(random);
    const other = keysFor(random, keys.dtype, sizeOf(random, 1));
    const table = sorted(column(keys.dtype, other.length, other), order);
    const search = { codec: keyCodec(keys.dtype, order), right: random.maybe(50) };
    return (kernels, make) => kernels.run(SEARCH_SORTED, table, keys, search, make('u32', keys.n));
  },
  contains(random, keys) {
    const order = orderOf(random);
    const other = keysFor(random, keys.dtype, sizeOf(random, 1));
    const table = sorted(column(keys.dtype, other.length, other), order);
    const search = { codec: keyCodec(keys.dtype, order), inverted: random.maybe(50) };
    return (kernels, make) => kernels.run(CONTAINS, table, keys, search, make('u8', keys.n));
  },
  segmentIds(random, keys) {
    const offsets = Uint32Array.from({ length: 1 + random.below(keys.n) }, () => random.below(keys.n));
    offsets[0] = 0;
    offsets.sort();
    const at = column('u32', offsets.length, offsets);
    return (kernels, make) => kernels.segmentIds(at, make('u32', keys.n));
  },
  merge(random, keys) {
    const order = orderOf(random);
    const other = keysFor(random, keys.dtype, sizeOf(random, 1));
    const [a, b] = [keys, column(keys.dtype, other.length, other)].map((one) => sorted(one, order));
    return (kernels, make) =>
      kernels.run(MERGE, a, b, keyCodec(keys.dtype, order), make(keys.dtype, a.n + b.n));
  },
  reduceRuns(random, keys) {
    const op = random.one(keys.dtype.endsWith('f16') ? ['min', 'max'] : ['sum', 'min', 'max']);
    const begins = [...new Set(offsetsFor(random, keys.n))].filter((at) => at < keys.n);
    const places = column('u32', begins.length, Uint32Array.from(begins));
    return async (kernels, make) => {
      const to = make(runsDtype(keys.dtype, op), begins.length);
      await kernels.run(REDUCE_RUNS, keys, places, op, to);
      if (keys.info.kind === 'float' && op === 'sum') await oneNaN(to);
    };
  },
  histogram({ below, maybe }, keys) {
    const { width } = keys.info;
    const begin = below(width);
    const edges = Array.from(
      { length: 2 + below(40) },
      () => (BigInt(below(2 ** 30)) << BigInt(width)) >> 30n,
    );
    const binning = maybe(50)
      ? { bits: [begin, Math.min(width, begin + 1 + below(16))] }
      : { edges: edges.sort((a, b) => (a < b ? -1 : 1)) };
    return async (kernels, make) => {
      const counts = (await kernels.run(HISTOGRAM, keys, binning))();
      wordsOf(make('u32', counts.length)).set(counts);
    };
  },
  canonical: (_random, keys) => (kernels, make) => kernels.canonical(keys, make(keys.dtype, keys.n)),
};

async function operations(random, dtype) {
  const keys = keysFor(random, dtype, sizeOf(random, 2 ** 14)); // fewer are processed in JavaScript
  const operation = random.one(Object.keys(OPERATIONS));
  const work = OPERATIONS[operation](random, column(dtype, keys.length, keys));
  const outcomes = [];
  for (const kernels of [new HostColumnKernels(undefined), new NativeColumnKernels(undefined)]) {
    const outputs = [];
    const make = (type, n) => {
      const output = column(type, n, newArray(type, n));
      outputs.push(output.place);
      return output;
    };
    outcomes.push({ result: await work(kernels, make), outputs });
  }
  const [expected, got] = outcomes;
  const equal = expected.outputs.every((output, i) => same(output, got.outputs[i]));
  return { what: { operation, dtype, n: keys.length }, ok: equal && Object.is(expected.result, got.result) };
}

const seed = Number(options.seed);
const start = performance.now();
const counted = {};
let failures = 0;
console.log(`seed ${seed}`);
for (let number = Number(options.case ?? 0); ; number++) {
  const random = choices(Math.imul(number + 1, 0x9e3779b1) ^ seed);
  const dtype = random.one(DTYPES);
  process.env.CLSORT_THREADS = String(1 + random.below(8));
  const { what, ok } = await (random.maybe(60) ? sorts : operations)(random, dtype);
  const name = what.operation ?? `sort ${what.wanted}`;
  counted[name] = (counted[name] ?? 0) + 1;
  if (!ok) {
    failures++;
    console.log(`WRONG: ${JSON.stringify(what)}, ${process.env.CLSORT_THREADS} threads`);
    console.log(`again: node scripts/fuzz-host.mjs --seed ${seed} --case ${number} --most ${most}`);
  }
  if (options.case !== undefined || performance.now() - start > Number(options.seconds) * 1000) break;
}
const all = Object.values(counted).reduce((sum, count) => sum + count, 0);
console.log(`${all} cases: ${JSON.stringify(counted)}; ${failures} went wrong`);
process.exitCode = failures === 0 ? 0 : 1;
