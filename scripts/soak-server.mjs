// The soak test of a Sorter that serves many clients concurrently; scripts/soak.mjs runs it.

import { DTYPES, Sorter } from '../dist/src/index.js';
import { Random } from '../dist/src/util/random.js';

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
/** Number of arrays per dtype that clients draw from. Their sorted order is computed in advance. */
const JOBS_PER_DTYPE = 8;
const MAX_KEYS = 2 ** 18;

/** Largest magnitudes of floats of 16 bits that are no NaNs. */
const INFINITY = { f16: 0x7c00, bf16: 0x7f80 };

/** Returns random keys with duplicates; floats include zeros of both signs and infinities, but no NaN. */
function keysOf(dtype, n, random) {
  const keys = new ARRAYS[dtype](n);
  const shift = random.below(28);
  const special = [-0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < n; i++) {
    const word = random.u32();
    if (dtype.endsWith('f16')) keys[i] = ((word & 0xffff) % (INFINITY[dtype] + 1)) | (word & 0x8000);
    else if (dtype[0] === 'f') keys[i] = word % 16 < 4 ? special[word % 4] : (word - 2 ** 31) / 2 ** shift;
    else if (dtype.endsWith('64')) keys[i] = (BigInt(word) << 32n) | BigInt(random.u32() >>> shift);
    else keys[i] = word >>> shift;
  }
  return keys;
}

/** Returns a number to compare keys by with `<`: the key, except for zeros of both signs and for bits of f16 and bf16. */
function rankOf(dtype, key) {
  if (dtype.endsWith('f16')) return key & 0x8000 ? 0x7fff - key : key;
  return Object.is(key, -0) ? -Number.MIN_VALUE : key;
}

/**
 * Returns keys with the expected result of their sort, from a comparison sort of positions that is independent of the
 * library.
 */
export function jobOf(dtype, index, random) {
  const n =
    index === 0
      ? random.below(3)
      : Math.floor(MAX_KEYS ** ((index + random.u32() / 2 ** 32) / JOBS_PER_DTYPE));
  const keys = keysOf(dtype, n, random);
  const ranks = Array.from(keys, (key) => rankOf(dtype, key));
  const descending = random.below(2) === 1;
  const direction = descending ? -1 : 1;
  const positions = Uint32Array.from({ length: n }, (_, i) => i);
  const order = positions.toSorted((a, b) =>
    ranks[a] < ranks[b] ? -direction : ranks[a] > ranks[b] ? direction : a - b,
  );
  const sorted = new ARRAYS[dtype](n);
  for (let i = 0; i < n; i++) sorted[i] = keys[order[i]];
  return { dtype, keys, positions, options: { descending, dtype }, sorted, order };
}

/** Requests of clients. Each returns pairs of actual and expected results. */
export const REQUESTS = {
  sort: async (sorter, { keys, options, sorted }) => [[await sorter.sort(keys, options), sorted]],
  argsort: async (sorter, { keys, options, order }) => [[await sorter.argsort(keys, options), order]],
  sortPairs: async (sorter, { keys, positions, options, sorted, order }) => {
    const made = await sorter.sortPairs(keys, positions, options);
    return [
      [made.keys, sorted],
      [made.values, order],
    ];
  },
  'sort of a device array': async (sorter, { keys, dtype, options, sorted }) => {
    const array = await sorter.upload(keys, { dtype });
    try {
      const made = await sorter.sort(array, options);
      try {
        return [[await made.read(), sorted]];
      } finally {
        made.dispose();
      }
    } finally {
      array.dispose();
    }
  },
};

/** Compares elements bit for bit, which checks order and permutation. */
export const isSame = (a, b) =>
  a.byteLength === b.byteLength &&
  Buffer.compare(
    new Uint8Array(a.buffer, a.byteOffset, a.byteLength),
    new Uint8Array(b.buffer, b.byteOffset, b.byteLength),
  ) === 0;

/** Returns the quantile `share` of sorted numbers. */
const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

const median = (numbers) =>
  quantile(
    numbers.toSorted((a, b) => a - b),
    0.5,
  );

/**
 * Returns the memory growth since the warm-up, in bytes: the median of the last quarter, minus the maximum of the first
 * minute, or of the first third of a shorter run. Garbage collection causes fluctuations.
 *
 * @param samples `{ seconds, rss }` over the whole run
 * @param warmUp duration in seconds
 */
export function growthOf(samples, warmUp = Math.min(60, samples.at(-1).seconds / 3)) {
  const end = samples.at(-1).seconds;
  const before = samples.filter(({ seconds }) => seconds <= warmUp).map(({ rss }) => rss);
  const after = samples.filter(({ seconds }) => seconds >= end * 0.75).map(({ rss }) => rss);
  return median(after) - Math.max(...before);
}

/** Number of sections of a run whose growth is compared. */
const STRETCHES = 6;

/**
 * Returns the trend of memory after the warm-up, in bytes: the median growth per section, times the number of sections.
 * A leak grows in all sections; a single growth, such as a compiler's allocation for its largest program, affects one.
 *
 * @param samples, warmUp as for `growthOf`
 */
export function tendencyOf(samples, warmUp) {
  const end = samples.at(-1).seconds;
  const step = (end - warmUp) / (STRETCHES + 1);
  const levels = Array.from({ length: STRETCHES + 1 }, (_, i) => {
    const [from, to] = [warmUp + i * step, warmUp + (i + 1) * step];
    return median(samples.filter(({ seconds }) => seconds >= from && seconds <= to).map(({ rss }) => rss));
  });
  return median(levels.slice(1).map((level, i) => level - levels[i])) * STRETCHES;
}

const milliseconds = (seconds) => `${(seconds * 1000).toFixed(1)} ms`;
const mebibytes = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
/**
 * Warm-up rounds of all sorts at once: this many consecutive rounds with little memory growth, and at most that many
 * rounds.
 */
const [STEADY_ROUNDS, MAX_ROUNDS] = [8, 200];
const STEADY_BYTES = 2 ** 20;
/** Maximum number of failures printed individually. */
const MAX_PRINTED = 10;

/**
 * Simulates clients that each request one sort after the other, of arrays of mixed sizes and dtypes, through one
 * Sorter. Every result is compared with the expected one.
 *
 * @param device as for `Sorter.open`
 * @param mostGrowth bytes by which memory may grow after the warm-up
 * @param dtypes of the keys
 * @returns the number of wrong results and errors, plus one when memory grew
 */
export async function soakServer({ device, minutes, clients, mostGrowth, dtypes = DTYPES }) {
  const unknown = dtypes.find((dtype) => !DTYPES.includes(dtype));
  if (unknown !== undefined) throw new Error(`no dtype '${unknown}': ${DTYPES.join(', ')}`);
  const random = new Random(1);
  const jobs = dtypes.flatMap((dtype) =>
    Array.from({ length: JOBS_PER_DTYPE }, (_, i) => jobOf(dtype, i, random)),
  );
  const requests = Object.entries(REQUESTS);
  const sorter = await Sorter.open({ device });
  const latencies = [];
  const samples = [];
  let failures = 0;
  const fail = (what) => {
    if (++failures <= MAX_PRINTED) console.log(`FAILED: ${what}`);
  };
  const call = async ([name, request], job) => {
    const what = () => `${name} of ${job.keys.length} ${job.dtype} keys, ${JSON.stringify(job.options)}`;
    try {
      const begin = performance.now();
      const results = await request(sorter, job);
      latencies.push((performance.now() - begin) / 1000);
      if (!results.every(([made, wanted]) => isSame(made, wanted))) fail(`${what()}: wrong`);
    } catch (error) {
      fail(`${what()}: ${error?.stack ?? error}`);
    }
  };
  // Programs are compiled, and pass their self-tests, before the first client arrives.
  for (const job of jobs) for (const request of requests) await call(request, job);
  // So are those of combined sorts, which no caller awaits: wait until memory use is stable.
  for (let round = 0, steady = 0; round < MAX_ROUNDS && steady < STEADY_ROUNDS; round++) {
    const before = process.memoryUsage.rss();
    await Promise.all(jobs.map((job) => call(requests[random.below(requests.length)], job)));
    steady = process.memoryUsage.rss() - before < STEADY_BYTES ? steady + 1 : 0;
  }
  latencies.length = 0;

  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1000;
  const end = minutes * 60;
  const sample = () => samples.push({ seconds: elapsed(), rss: process.memoryUsage.rss() });
  const tell = () => {
    const sorted = latencies.toSorted((a, b) => a - b);
    const [p50, p99] = [0.5, 0.99].map((share) => milliseconds(quantile(sorted, share) ?? 0));
    const calls = `${latencies.length} calls in ${elapsed().toFixed(1)} s`;
    console.log(`server: ${calls}, p50 ${p50}, p99 ${p99}, ${mebibytes(samples.at(-1).rss)} resident`);
  };
  sample();
  const sampling = setInterval(sample, Math.min(1000, end * 10));
  const telling = setInterval(tell, end * 100);
  const client = async (own) => {
    while (elapsed() < end) await call(requests[own.below(requests.length)], jobs[own.below(jobs.length)]);
  };
  try {
    await Promise.all(Array.from({ length: clients }, (_, i) => client(new Random(i + 2))));
  } finally {
    clearInterval(sampling);
    clearInterval(telling);
    await sorter.close();
  }
  sample();
  tell();
  if (latencies.length === 0) fail('no call succeeded');
  const growth = growthOf(samples);
  const flat = growth <= mostGrowth;
  if (!flat) failures++;
  const verdict = flat ? 'flat' : `GROWS, by more than ${mebibytes(mostGrowth)}`;
  console.log(`server: ${failures} failures; ${mebibytes(growth)} more after the warm-up: ${verdict}`);
  return failures;
}
