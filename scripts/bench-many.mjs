#!/usr/bin/env node
// Compares `sortMany` on many small arrays with a loop of TypedArray.prototype.sort in the same process, in turns.
// Prints both times, from arrays to arrays, and their ratio. All results are compared. In each turn a function is
// called twice and the second call is timed: the first one includes the garbage collection of the other function's
// arrays.
//
//   node scripts/bench-many.mjs [--device auto] [--arrays 10000] [--length 1000] [--dtype f32] [--repeats 7]

import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { Sorter } from '../dist/src/index.js';
import { newArray } from '../dist/src/keys/array.js';
import { DTYPES } from '../dist/src/keys/dtype.js';
import { Random } from '../dist/src/util/random.js';

const { values } = parseArgs({
  options: {
    device: { type: 'string', default: 'all' },
    arrays: { type: 'string', default: '10000' },
    length: { type: 'string', default: '1000' },
    dtype: { type: 'string', default: 'f32' },
    repeats: { type: 'string', default: '7' },
  },
});
const [count, length, repeats] = [values.arrays, values.length, values.repeats].map(Number);
/** Dtypes that the built-in sort supports. */
const dtypes = DTYPES.filter((dtype) => !dtype.endsWith('f16'));
if (!dtypes.includes(values.dtype) || !(count > 0) || !(length > 0) || !(repeats > 0)) {
  console.error(`expected positive numbers, and a dtype of ${dtypes.join(' ')}`);
  process.exit(2);
}

const Keys = newArray(values.dtype, 0).constructor;
/** Returns numbers in [0, 1) for floats, random bits for integers. */
const random = new Random(1);
const key = { f32: () => random.u32() / 2 ** 32, f64: () => random.u32() / 2 ** 32 }[values.dtype];
const wide = Keys === BigUint64Array || Keys === BigInt64Array;
const next = key ?? (wide ? () => (BigInt(random.u32()) << 32n) | BigInt(random.u32()) : () => random.u32());
const arrays = Array.from({ length: count }, () => Keys.from({ length }, next));

const sorter = await Sorter.open({ device: values.device });
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const timed = async (make) => {
  await make();
  const cpu = process.cpuUsage();
  const started = performance.now();
  const result = await make();
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return { result, seconds, cpu: (user + system) / 1e6 };
};
const many = () => sorter.sortMany(arrays);
/** The built-in sort works in place, so it sorts copies: `sortMany` keeps its input as well. */
const loop = async () => arrays.map((array) => array.slice().sort());

try {
  await many(); // compiles
  const times = { many: [], loop: [], manyCpu: [], loopCpu: [] };
  for (let i = 0; i < repeats; i++) {
    const one = await timed(many);
    const other = await timed(loop);
    for (const [j, sorted] of one.result.entries()) {
      const bytes = [sorted, other.result[j]].map((a) => Buffer.from(a.buffer, a.byteOffset, a.byteLength));
      if (Buffer.compare(...bytes) !== 0) throw new Error(`array ${j} is not sorted right`);
    }
    times.many.push(one.seconds);
    times.loop.push(other.seconds);
    times.manyCpu.push(one.cpu);
    times.loopCpu.push(other.cpu);
  }
  const [a, b, aCpu, bCpu] = [times.many, times.loop, times.manyCpu, times.loopCpu].map(median);
  const ms = (seconds) => `${(seconds * 1000).toFixed(1)} ms`;
  console.log(
    `${count} arrays of ${length} ${values.dtype} keys on ${sorter.device?.name ?? 'the host engine'}`,
  );
  console.log(`sortMany             ${ms(a)} (processors ${ms(aCpu)})`);
  console.log(`loop of sort()       ${ms(b)} (processors ${ms(bCpu)})`);
  console.log(`${(b / a).toFixed(2)} times sooner; load average ${loadavg()[0].toFixed(1)}`);
} finally {
  await sorter.close();
}
