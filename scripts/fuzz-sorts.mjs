#!/usr/bin/env node
// Fuzzes operations of Sorters with random data and options on several devices, compared with the plain reference:
//
//   node scripts/fuzz-sorts.mjs [--seconds N | --runs N] [--seed N] [--path P] [--devices NAME,…]
//
//   --seconds  total duration; default 60
//   --runs     number of operations instead of a duration: the same work on every machine
//   --seed     seed of fast-check; default: from the clock. It is printed; --seed with --path repeats a failure
//   --devices  names of CLSORT_TEST_DEVICES, or host; default host,pocl
//
// fast-check shrinks a failure to a small case, which is printed with its seed and path. Needs `npm run build`.

import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { driverEnv } from './drivers.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    runs: { type: 'string' },
    seed: { type: 'string' },
    path: { type: 'string' },
    devices: { type: 'string', default: 'host,pocl' },
  },
});
const names = values.devices.split(',');
// Drivers are loaded by the first call, and read their environment then.
for (const name of names) Object.assign(process.env, driverEnv(name));
process.env.CLSORT_TUNING ??= 'off';

const { DTYPES, Sorter, ClsortError } = await import('../dist/src/index.js');
const { ALGORITHMS } = await import('../dist/src/algorithms/registry.js');
const { CHECKED_OPERATIONS } = await import('../dist/src/sort/operations/cases.js');
const { startCase } = await import('../dist/src/sort/operations/case.js');
const { caseInput } = await import('../dist/src/sort/cases/input.js');
const { Reference } = await import('../dist/src/sort/cases/reference.js');
const { PLATFORMS, SMALL } = await import('../dist/test/platforms.js');
const { canonicalPatterns, pick, referenceArgsort, referenceLexsort, referenceSort } = await import(
  '../dist/test/reference.js'
);

const ARRAYS = {
  ...{
    u8: Uint8Array,
    i8: Int8Array,
    u16: Uint16Array,
    i16: Int16Array,
    f16: Uint16Array,
    bf16: Uint16Array,
  },
  ...{ u32: Uint32Array, i32: Int32Array, f32: Float32Array },
  ...{ u64: BigUint64Array, i64: BigInt64Array, f64: Float64Array },
};
const widthOf = (dtype) => 8 * ARRAYS[dtype].BYTES_PER_ELEMENT;
const bytesOf = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
const same = (a, b) => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

/** Generates keys: arbitrary bytes, few distinct values, sorted runs, or edge cases of floats. */
const keys = (most) =>
  fc
    .record({
      dtype: fc.constantFrom(...DTYPES),
      bytes: fc.oneof(
        fc.uint8Array({ maxLength: 8 * most, size: 'max' }),
        fc.array(fc.constantFrom(0, 1, 0x7f, 0x80, 0xff), { maxLength: 8 * most, size: 'max' }),
        fc.tuple(fc.nat(most), fc.nat(255)).map(([n, byte]) => new Uint8Array(8 * n).fill(byte)),
        fc.nat(most).map((n) => bytesOf(Uint32Array.from({ length: 2 * n }, (_, i) => i >> 1))),
      ),
      offset: fc.nat(3),
    })
    .map(({ dtype, bytes, offset }) => {
      const unit = widthOf(dtype) / 8;
      const n = Math.min(most, Math.floor(bytes.length / unit));
      const memory = new Uint8Array((n + offset) * unit); // arrays may begin anywhere in their memory
      memory.set(bytes.slice(0, n * unit), offset * unit);
      return { dtype, array: new ARRAYS[dtype](memory.buffer, offset * unit, n) };
    });

const orders = fc.record(
  { descending: fc.boolean(), nan: fc.constantFrom('first', 'last') },
  { requiredKeys: [] },
);
const sortOptions = fc.record(
  {
    verify: fc.boolean(),
    algorithm: fc.constantFrom('auto', ...ALGORITHMS.map(({ name }) => name)),
    bitRange: fc.tuple(fc.nat(64), fc.nat(64)),
    chunk: fc.integer({ min: 1, max: 4000 }),
  },
  { requiredKeys: [] },
);

/** Generates the parts common to every case. */
const cases = (most) =>
  fc.record({
    device: fc.constantFrom(...names),
    operation: fc.constantFrom(...Object.keys(OPERATIONS)),
    input: keys(most),
    order: orders,
    options: sortOptions,
    number: fc.nat(5000),
    onDevice: fc.boolean(),
  });

/** Converts generated options to those of the library, for the dtype's width. */
function settled({ input, order, options: { bitRange, chunk, ...options } }) {
  const width = widthOf(input.dtype);
  const [a, b] = bitRange?.map((bit) => Math.min(bit, width)) ?? [];
  const window = bitRange && { bitRange: [Math.min(a, b), Math.max(a, b)] };
  return {
    dtype: input.dtype,
    ...order,
    ...options,
    ...window,
    ...(chunk && options.algorithm === undefined && { advanced: { tuning: { chunk } } }),
  };
}

/** Returns only the options of an operation that takes an order and nothing else. */
const ordered = ({ input, order }) => ({ dtype: input.dtype, ...order });

/** Operations; each returns pairs of actual and expected results. */
const OPERATIONS = {
  sort: async (sorter, { input: { array, dtype } }, given, options) => [
    [await sorter.sort(given, options), referenceSort(bytesOf(array), dtype, options)],
  ],
  argsort: async (sorter, { input: { array, dtype } }, given, options) => [
    [
      await sorter.argsort(given, options),
      Uint32Array.from(referenceArgsort(bytesOf(array), dtype, options)),
    ],
  ],
  sortPairs: async (sorter, { input: { array, dtype }, number }, _given, options) => {
    const width = 1 + (number % 16);
    const carried = Uint8Array.from({ length: array.length * width }, (_, i) => (i * 7 + (i >> 8)) & 0xff);
    const made = await sorter.sortPairs(array, carried, options);
    const positions = referenceArgsort(bytesOf(array), dtype, options);
    return [
      [made.keys, pick(bytesOf(array), widthOf(dtype) / 8, positions)],
      [made.values, pick(carried, width, positions)],
    ];
  },
  topK: async (sorter, one) => {
    const { array, dtype } = one.input;
    const { descending = true, ...rest } = ordered(one);
    const made = await sorter.topK(array, one.number, { ...rest, largest: descending });
    const positions = referenceArgsort(bytesOf(array), dtype, { ...rest, descending }).slice(0, one.number);
    return [
      [made.indices, Uint32Array.from(positions)],
      [made.keys, pick(bytesOf(array), widthOf(dtype) / 8, positions)],
    ];
  },
  unique: async (sorter, one) => {
    const { array, dtype } = one.input;
    const made = await sorter.unique(array, ordered(one));
    const bytes = bytesOf(array);
    const canonical = canonicalPatterns(bytes, dtype);
    const firsts = referenceLexsort([{ bytes, dtype, order: ordered(one) }]).filter(
      (position, i, all) => i === 0 || canonical[all[i - 1]] !== canonical[position],
    );
    const counts = new Map();
    for (const pattern of canonical) counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
    return [
      [made.keys, pick(bytes, widthOf(dtype) / 8, firsts)],
      [made.counts, Uint32Array.from(firsts, (first) => counts.get(canonical[first]))],
    ];
  },
  lexsort: async (sorter, one) => {
    const { array, dtype } = one.input;
    const grades = Uint8Array.from(array, (_, i) => (i * 31) % (1 + (one.number % 7)));
    const { dtype: _, ...order } = ordered(one);
    const made = await sorter.lexsort([grades, { keys: array, dtype, ...order }]);
    const columns = [
      { bytes: grades, dtype: 'u8' },
      { bytes: bytesOf(array), dtype, order },
    ];
    return [[made, Uint32Array.from(referenceLexsort(columns))]];
  },
  segmentedSort: async (sorter, one) => {
    const { array, dtype } = one.input;
    const n = array.length;
    const cuts = [one.number, one.number >> 2, one.number >> 4].map((cut) => Math.min(cut, n));
    const offsets = [0, ...cuts.toSorted((a, b) => a - b), n];
    const made = await sorter.segmentedSort(array, offsets, ordered(one));
    const unit = widthOf(dtype) / 8;
    const parts = offsets
      .slice(1)
      .map((end, s) =>
        referenceSort(bytesOf(array).subarray(offsets[s] * unit, end * unit), dtype, one.order),
      );
    return [[made, Buffer.concat(parts)]];
  },
  chosen: async (sorter, one) => {
    const { array, dtype } = one.input;
    const mask = Uint8Array.from(array, (_, i) => ((i * 7919) >> 3) % (1 + (one.number % 5)));
    const places = [...mask.keys()];
    const [chosen, others] = [places.filter((i) => mask[i]), places.filter((i) => !mask[i])];
    const unit = widthOf(dtype) / 8;
    const parted = await sorter.partition(array, mask, { dtype });
    return [
      [await sorter.filter(array, mask, { dtype }), pick(bytesOf(array), unit, chosen)],
      [parted.keys, pick(bytesOf(array), unit, [...chosen, ...others])],
      [Uint32Array.of(parted.count), Uint32Array.of(chosen.length)],
    ];
  },
  merge: async (sorter, one) => {
    const { array, dtype } = one.input;
    const order = ordered(one);
    const cut = Math.min(one.number, array.length);
    const [a, b] = [array.slice(0, cut), array.slice(cut)];
    for (const part of [a, b]) bytesOf(part).set(referenceSort(bytesOf(part), dtype, order));
    return [[await sorter.merge(a, b, order), referenceSort(bytesOf(array), dtype, order)]];
  },
  topKSegments: async (sorter, one) => {
    const { array, dtype } = one.input;
    const { descending = true, ...rest } = ordered(one);
    const n = array.length;
    const offsets = [0, Math.min(one.number >> 3, n), Math.min(one.number, n), n];
    const k = one.number % 50;
    const made = await sorter.topKSegments(array, offsets, k, { ...rest, largest: descending });
    const unit = widthOf(dtype) / 8;
    const places = offsets.slice(1).flatMap((end, s) => {
      const part = bytesOf(array).subarray(offsets[s] * unit, end * unit);
      const positions = referenceArgsort(part, dtype, { ...rest, descending }).slice(0, k);
      return positions.map((position) => offsets[s] + position);
    });
    return [
      [made.indices, Uint32Array.from(places)],
      [made.keys, pick(bytesOf(array), unit, places)],
    ];
  },
};

/** Runs a case of the matrix on the generated keys. Sums of f16 and bf16 are not supported. */
const runCase = (operation) => async (sorter, one) => {
  const { array, dtype } = one.input;
  if (array.length < (operation.minKeys ?? 0)) return [];
  const reference = new Reference(dtype, bytesOf(array).slice());
  const { descending = false, nan = 'last' } = one.order;
  const call = { dtype };
  const order = { algorithm: 'auto', isStable: true, descending, nan };
  const options = { ...order, call, sort: { ...call, descending, nan } };
  // Sums of arbitrary floats may be infinite, which the check of sums does not expect.
  const isFloat = /^b?f/.test(dtype);
  const summands = isFloat ? new Reference(dtype, new Uint8Array(array.byteLength)) : reference;
  try {
    const check = await startCase(operation, sorter, caseInput(reference, summands, one.number), options);
    const wrong = check();
    if (wrong !== undefined) throw new Error(`${operation.name}: ${wrong}`);
  } catch (error) {
    if (!dtype.endsWith('f16') || error.code !== 'ERR_CLSORT_UNSUPPORTED') throw error;
  }
  return [];
};
for (const operation of CHECKED_OPERATIONS) OPERATIONS[operation.name] ??= runCase(operation);

/** Operations that accept keys on the device, and operations that accept all sort options. */
const SORTS = new Set(['sort', 'argsort']);
const WITH_OPTIONS = new Set([...SORTS, 'sortPairs']);

/** Returns whether an error rejects an explicitly requested combination that is unsupported. */
const isRefusal = (error, options) =>
  error instanceof ClsortError &&
  ['ERR_CLSORT_UNSUPPORTED', 'ERR_CLSORT_USAGE'].includes(error.code) &&
  options.algorithm !== undefined &&
  options.algorithm !== 'auto';

const sorters = new Map();
const counted = {};

async function holds(one) {
  const sorter = sorters.get(one.device);
  const options = settled(one);
  const { array } = one.input;
  const before = bytesOf(array).slice();
  let uploaded;
  try {
    if (one.onDevice && SORTS.has(one.operation) && one.device !== 'host') {
      uploaded = await sorter.upload(array, { dtype: one.input.dtype });
    }
    const results = await OPERATIONS[one.operation](sorter, one, uploaded ?? array, options);
    for (const [made, wanted] of results) {
      const read = typeof made.read === 'function' ? await made.read() : made;
      if (typeof made.dispose === 'function') made.dispose();
      if (!same(read, wanted)) return `${one.operation} on ${one.device} is wrong`;
    }
    if (!same(array, before)) return 'the input was changed';
    counted[one.operation] = (counted[one.operation] ?? 0) + 1;
    return undefined;
  } catch (error) {
    if (WITH_OPTIONS.has(one.operation) && isRefusal(error, options)) {
      counted.refused = (counted.refused ?? 0) + 1;
      return undefined;
    }
    throw error;
  } finally {
    uploaded?.dispose();
  }
}

const seconds = Number(values.seconds);
const runs = Number(values.runs ?? 1_000_000);
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
if (!(seconds > 0 && runs > 0) || !Number.isInteger(seed)) {
  console.error(
    'usage: node scripts/fuzz-sorts.mjs [--seconds N | --runs N] [--seed N] [--path P] [--devices NAME,…]',
  );
  process.exit(2);
}
console.log(`seed ${seed}, devices ${names.join(' ')}`);
for (const name of names) {
  sorters.set(name, await Sorter.open({ device: PLATFORMS[name] ?? name, onWarning: () => undefined }));
}
const most = names.some((name) => SMALL.has(name)) ? 300 : 3000;
const outcome = await fc.check(
  fc.asyncProperty(cases(most), async (one) => {
    const wrong = await holds(one);
    if (wrong !== undefined) throw new Error(wrong);
  }),
  {
    seed,
    ...(values.path && { path: values.path }),
    numRuns: runs,
    ...(values.runs === undefined && { interruptAfterTimeLimit: seconds * 1000 }),
    markInterruptAsFailure: false,
  },
);
for (const sorter of sorters.values()) await sorter.close();
const all = Object.values(counted).reduce((sum, count) => sum + count, 0);
if (outcome.failed) {
  const { input, ...rest } = outcome.counterexample?.[0] ?? {};
  console.log(`FAILED: ${outcome.errorInstance?.stack ?? outcome.error}`);
  if (input)
    console.log(
      JSON.stringify({
        ...rest,
        dtype: input.dtype,
        n: input.array.length,
        bytes: Buffer.from(bytesOf(input.array)).toString('hex').slice(0, 2000),
      }),
    );
  console.log(
    `again: node scripts/fuzz-sorts.mjs --devices ${names.join(',')} --seed ${outcome.seed} --path ${outcome.counterexamplePath}`,
  );
} else if (all === 0) console.log('FAILED: nothing was tried');
console.log(`${all} cases: ${JSON.stringify(counted)}`);
process.exitCode = outcome.failed || all === 0 ? 1 : 0;
