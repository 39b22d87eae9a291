#!/usr/bin/env node
// A short test that the package works on a machine: sorts 1 to 2^16 keys of all dtypes on a CPU device, verifies them
// there and compares them with the host engine.
//
//   node scripts/small-sorts.mjs [DTYPE …]        (default: all eleven)

import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import { Sorter } from '../dist/src/index.js';

const ARRAYS = {
  u8: Uint8Array,
  i8: Int8Array,
  u16: Uint16Array,
  i16: Int16Array,
  f16: Uint16Array,
  bf16: Uint16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  u64: BigUint64Array,
  i64: BigInt64Array,
  f64: Float64Array,
};
const SIZES = [1, 257, 4_097, 2 ** 16];
/**
 * An algorithm for CPUs, and the classic one. The choice of `auto` for few keys is omitted: under emulation it compiles
 * for minutes.
 */
const ALGORITHMS = ['serial', 'amd'];

/** Returns random bits, which for floats include every kind of number. */
function randomKeys(dtype, n) {
  const bytes = new Uint8Array(n * ARRAYS[dtype].BYTES_PER_ELEMENT);
  for (let at = 0; at < bytes.length; at += 2 ** 16)
    webcrypto.getRandomValues(bytes.subarray(at, at + 2 ** 16));
  return new ARRAYS[dtype](bytes.buffer);
}

const bytesOf = ({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength);

const wanted = process.argv.slice(2);
const device = await Sorter.open({ device: 'cpu' });
const host = await Sorter.open({ device: 'host' });
try {
  for (const dtype of wanted.length > 0 ? wanted : Object.keys(ARRAYS)) {
    for (const algorithm of ALGORITHMS) {
      let last;
      for (const n of SIZES) {
        const keys = randomKeys(dtype, n);
        const onReport = (report) => {
          last = report;
        };
        const sorted = await device.sort(keys, { dtype, algorithm, verify: true, onReport });
        assert.equal(last.device.type, 'cpu');
        assert.ok(last.verified, 'the sort says that it was verified');
        assert.deepEqual(bytesOf(sorted), bytesOf(await host.sort(keys, { dtype })), `${n} ${dtype} keys`);
      }
      console.log(`${dtype}: ${SIZES.join(', ')} keys by ${last.algorithm} on ${last.device.name}, verified`);
    }
  }
} finally {
  await device.close();
  await host.close();
}
