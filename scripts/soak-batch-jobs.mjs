// Random jobs of a batch with their expected results, for scripts/soak-batches.mjs.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const ARRAYS = {
  ...{ u8: Uint8Array, i8: Int8Array, u16: Uint16Array, i16: Int16Array, u32: Uint32Array, i32: Int32Array },
  ...{ f32: Float32Array, u64: BigUint64Array, i64: BigInt64Array, f64: Float64Array },
};
const DTYPES = Object.keys(ARRAYS);
const NPY = { u32: '<u4', i32: '<i4', f32: '<f4', u64: '<u8', i64: '<i8', f64: '<f8' };

/** Returns keys with duplicates; floats exclude NaN, so that the built-in sort gives the expected result. */
function keysOf(dtype, n, random) {
  const shift = random.below(20);
  const word = () => random.u32() >>> shift;
  if (dtype.endsWith('64') && dtype[0] !== 'f') {
    return ARRAYS[dtype].from({ length: n }, () => (BigInt(word()) << 31n) ^ BigInt(random.u32()));
  }
  return ARRAYS[dtype].from({ length: n }, () => (dtype[0] === 'f' ? word() - 2 ** 31 : word()));
}

const bytesOf = ({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength);

function npyOf(keys, dtype) {
  const text = `{'descr': '${NPY[dtype]}', 'fortran_order': False, 'shape': (${keys.length},), }`;
  const header = Buffer.concat([
    Buffer.from('\x93NUMPY\x01\x00\x76\x00', 'latin1'),
    Buffer.from(`${text.padEnd(117)}\n`),
  ]);
  return Buffer.concat([header, bytesOf(keys)]);
}

/** Returns a number of keys: mostly few, so that many jobs are grouped; sometimes more than one read slice. */
function countOf(random) {
  const kind = random.below(40);
  if (kind === 0) return 0;
  if (kind < 30) return random.below(3000);
  return kind < 38 ? random.below(100_000) : 1_000_000 + random.below(500_000);
}

/**
 * Writes keys to a file in one of several formats.
 *
 * @returns its name
 */
function writeKeys(folder, name, keys, dtype, random) {
  const format = random.below(4);
  if (format === 0 && NPY[dtype]) {
    writeFileSync(join(folder, `${name}.npy`), npyOf(keys, dtype));
    return `${name}.npy`;
  }
  const packed = format === 1 && keys.length < 100_000;
  const file = `${name}.${dtype}${packed ? '.gz' : ''}`;
  writeFileSync(join(folder, file), packed ? gzipSync(bytesOf(keys), { level: 1 }) : bytesOf(keys));
  return file;
}

/** Returns the expected result: the sorted keys, and the count of each. */
function resultOf(keys, { descending, unique }) {
  const sorted = keys.slice().sort();
  if (descending) sorted.reverse();
  if (!unique) return { out: bytesOf(sorted) };
  const distinct = sorted.filter((key, i) => i === 0 || key !== sorted[i - 1]);
  const counts = new BigUint64Array(distinct.length);
  let at = -1;
  for (const [i, key] of sorted.entries()) {
    if (i === 0 || key !== sorted[i - 1]) at++;
    counts[at]++;
  }
  return { out: bytesOf(distinct), counts: bytesOf(counts) };
}

/**
 * Creates a job that succeeds, and writes its input.
 *
 * @returns `job` as in a manifest, and `files`: the expected contents of its outputs
 */
function goodJob(folder, i, random) {
  const dtype = DTYPES[random.below(DTYPES.length)];
  const descending = random.below(3) === 0;
  const how = random.below(12);
  const options = {
    ...(descending && { descending }),
    ...(random.below(8) === 0 && { verify: true }),
    ...(random.below(10) === 0 && { device: `0:${random.below(2)}` }),
  };
  const n = countOf(random);
  const keys = keysOf(dtype, n, random);
  const out = `out/${i % 5}/${i}.${dtype}`;
  if (how === 0) {
    const more = keysOf(dtype, random.below(2000), random);
    const both = ARRAYS[dtype].from([...keys, ...more]);
    const inputs = [keys, more].map((one, part) => writeKeys(folder, `in/${i}-${part}`, one, dtype, random));
    return { job: { in: inputs, out, ...options }, files: [[out, resultOf(both, { descending }).out]] };
  }
  if (how === 1) {
    const counts = `out/${i}.counts.u64`;
    const job = {
      in: writeKeys(folder, `in/${i}`, keys, dtype, random),
      out,
      ...options,
      unique: true,
      counts,
    };
    const made = resultOf(keys, { descending, unique: true });
    return {
      job,
      files: [
        [out, made.out],
        [counts, made.counts],
      ],
    };
  }
  if (how === 2) {
    const file = `in/${i}.${dtype}`;
    writeFileSync(join(folder, file), bytesOf(keys));
    return { job: { in: file, out: file, ...options }, files: [[file, resultOf(keys, { descending }).out]] };
  }
  const job = { in: writeKeys(folder, `in/${i}`, keys, dtype, random), out, ...options };
  return { job, files: [[out, resultOf(keys, { descending }).out]] };
}

/** Creates a job that always fails. */
function badJob(folder, i, random) {
  const out = `out/bad ${i}.u32`;
  const write = (name, bytes) => {
    writeFileSync(join(folder, name), bytes);
    return name;
  };
  const ways = [
    () => ({ in: write(`in/cut ${i}.u32`, Buffer.alloc(1001)), out }),
    () => ({ in: `in/none ${i}.u32`, out }),
    () => ({ in: write(`in/magic ${i}.npy`, Buffer.alloc(5000, 7)), out }),
    () => ({ in: write(`in/torn ${i}.u32.gz`, gzipSync(Buffer.alloc(4000)).subarray(0, 20)), out }),
    () => ({ in: [write(`in/a ${i}.u32`, Buffer.alloc(8)), write(`in/b ${i}.f64`, Buffer.alloc(8))], out }),
    () => ({ in: write(`in/abort ${i}.u32`, Buffer.alloc(4000)), out, algorithm: 'bitonic' }), // the driver aborts
  ];
  return ways[random.below(ways.length)]();
}

/**
 * Writes the inputs of a batch.
 *
 * @param folder exists, and has no inputs yet
 */
export function randomJobs(folder, random, { good, bad }) {
  mkdirSync(join(folder, 'in'), { recursive: true });
  return {
    good: Array.from({ length: good }, (_, i) => goodJob(folder, i, random)),
    bad: Array.from({ length: bad }, (_, i) => badJob(folder, i, random)),
  };
}
