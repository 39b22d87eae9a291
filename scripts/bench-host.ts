/**
 * Compares the host engine with `TypedArray.prototype.sort`, and prints the speedup by dtype, distribution and size.
 *
 *     npx tsc -p . && node dist/scripts/bench-host.js [--dtype u32,f64] [--count 4Ki,64Ki,1Mi]
 *
 * Both sort the same fresh keys in turns, and the best round counts: with repeated keys, branch prediction would learn
 * the data. Results are compared for integers, whose order is defined bit for bit.
 */
import { parseArgs } from 'node:util';
import { readCount } from '../src/cli/arguments.js';
import { DISTRIBUTIONS, generate } from '../src/io/operations/gen.js';
import { bytesOf, keyColumn } from '../src/keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../src/keys/dtype.js';
import { hostSort } from '../src/sort/host/host-sort.js';

const ARRAYS = {
  u8: Uint8Array,
  i8: Int8Array,
  u16: Uint16Array,
  i16: Int16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  u64: BigUint64Array,
  i64: BigInt64Array,
  f64: Float64Array,
};

/** Number of rounds for a size: small sorts need more. */
const roundsOf = (n: number): number => Math.max(3, Math.min(30, Math.floor(2 ** 21 / n)));

function timed<T>(run: () => T): [result: T, milliseconds: number] {
  const started = performance.now();
  return [run(), performance.now() - started];
}

/**
 * Returns the time of the built-in sort divided by that of the host engine.
 *
 * @throws Error when their results differ
 */
function ratio(dtype: keyof typeof ARRAYS, distribution: (typeof DISTRIBUTIONS)[number], n: number): number {
  let [builtIn, ours] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < roundsOf(n); round++) {
    const bytes = generate({ dtype, count: n, distribution, seed: round + 1 });
    const keys: KeyArray = new ARRAYS[dtype](bytes.buffer as ArrayBuffer, bytes.byteOffset, n);
    const [expected, milliseconds] = timed(() => keys.slice().sort());
    builtIn = Math.min(builtIn, milliseconds);
    const [sorted, own] = timed(() => {
      const made = keys.slice();
      hostSort(keyColumn(keys), {}, { sorted: made });
      return made;
    });
    ours = Math.min(ours, own);
    const defined = dtypeInfo(dtype).kind !== 'float';
    if (defined && Buffer.compare(bytesOf(sorted), bytesOf(expected)) !== 0) {
      throw new Error(`${dtype} ${distribution} ${n}: not what the built-in sort makes`);
    }
  }
  return builtIn / ours;
}

const { values } = parseArgs({
  options: {
    dtype: { type: 'string', default: Object.keys(ARRAYS).join(',') },
    count: { type: 'string', default: '4Ki,64Ki,1Mi' },
  },
});
const dtypes = values.dtype.split(',').filter((name): name is keyof typeof ARRAYS => name in ARRAYS);
const counts = values.count.split(',').map((text) => readCount(text));
process.stdout.write(`${['dtype', 'distribution', ...counts].join('\t')}\n`);
for (const dtype of dtypes satisfies Dtype[]) {
  for (const distribution of DISTRIBUTIONS) {
    const ratios = counts.map((n) => ratio(dtype, distribution, n).toFixed(2));
    process.stdout.write(`${[dtype, distribution, ...ratios].join('\t')}\n`);
  }
}
