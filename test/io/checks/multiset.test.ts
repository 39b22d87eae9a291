/** Products over multisets: equal to the definition, natively and in JavaScript, and different for other multisets. */
import test from 'ava';
import { Multiset, randomPoints } from '../../../src/io/checks/multiset.js';
import { bytesOf, keyWords } from '../../../src/keys/array.js';
import { type Dtype, dtypeInfo } from '../../../src/keys/dtype.js';
import { multisetAsync } from '../../../src/native-host/host-functions.js';
import * as cl from '../../../src/opencl/index.js';
import { keysOf } from '../../distributions.js';

const PRIME = 2n ** 61n - 1n;
const WIDTHS = ['u8', 'u16', 'u32', 'u64'] as const satisfies readonly Dtype[];

/** By definition, in BigInt. */
function model(keys: Iterable<number | bigint>, [r = 0n, s = 0n]: BigUint64Array): bigint {
  let product = 1n;
  for (const key of keys) {
    const [low, high] = [BigInt(key) & (2n ** 60n - 1n), BigInt(key) >> 60n];
    product = (product * (r + low + s * high)) % PRIME;
  }
  return product;
}

const POINTS = {
  random: randomPoints(),
  zero: new BigUint64Array(4),
  largest: new BigUint64Array(4).fill(PRIME - 1n),
};

for (const dtype of WIDTHS) {
  for (const [name, points] of Object.entries(POINTS)) {
    test(`${dtype}: products at ${name} points equal the definition`, async (t) => {
      const { bytes } = dtypeInfo(dtype);
      for (const n of [0, 1, 2, 3, 4, 5, 1001, 70_000]) {
        for (const keys of [
          keysOf(dtype, 'uniform', n),
          keysOf(dtype, 'high-byte', n),
          bytesOf(new Uint8Array(n * bytes).fill(0xff)),
        ]) {
          const words = keyWords(bytesOf(keys), dtypeInfo(dtype));
          const expected = [0, 2].map((at) => model(words, points.subarray(at)));
          const products = BigUint64Array.of(1n, 1n);
          await multisetAsync(words, bytes as 1, points, products, 2);
          t.deepEqual([...products], expected, `${n}`);
          const [own, plain] = [true, false].map(
            (native) => new Multiset(dtypeInfo(dtype).bytes, points, { native }),
          );
          await own?.add(bytesOf(words));
          const half = Math.floor(n / 2) * bytes;
          await plain?.add(bytesOf(words).subarray(half)); // in any pieces, in any order
          await plain?.add(bytesOf(words).subarray(0, half));
          t.true(plain && own?.equals(plain), `${n}, without the addon`);
        }
      }
    });
  }
}

test('different multisets with equal sums, powers or products are distinguished', async (t) => {
  const equal = async (a: readonly bigint[], b: readonly bigint[]): Promise<boolean> => {
    const points = randomPoints();
    const sets = [a, b].map(() => new Multiset(dtypeInfo('u64').bytes, points));
    await sets[0]?.add(bytesOf(BigUint64Array.from(a)));
    await sets[1]?.add(bytesOf(BigUint64Array.from(b)));
    return sets[1] !== undefined && sets[0]?.equals(sets[1]) === true;
  };
  t.true(await equal([1n, 2n, 3n, 3n], [3n, 1n, 3n, 2n]));
  t.false(await equal([1n, 5n, 6n], [2n, 3n, 7n])); // the same sum
  t.false(await equal([0n, 4n, 5n], [1n, 2n, 6n])); // of squares as well
  t.false(await equal([2n, 6n], [3n, 4n])); // the same product
  t.false(await equal([0n, 0n, 1n], [0n, 1n, 1n]));
  t.false(await equal([], [0n]));
  t.false(await equal([2n ** 61n - 1n], [0n]), 'keys that are equal modulo the prime');
  t.false(await equal([2n ** 60n, 0n], [2n ** 61n, 0n]));
});

test('invalid arguments are refused', async (t) => {
  const [keys, points, products] = [new Uint8Array(12), randomPoints(), BigUint64Array.of(1n, 1n)];
  const refused = async (...args: Parameters<typeof multisetAsync>) =>
    t.throwsAsync(async () => multisetAsync(...args), { message: cl.INVALID_VALUE.message });
  await refused(keys, 3 as 1, points, products, 1);
  await refused(keys, 8, points, products, 1);
  await refused(keys, 4, points.subarray(1), products, 1);
  await refused(keys, 4, points, products.subarray(1), 1);
  await refused(keys, 4, new BigUint64Array(4).fill(PRIME), products, 1);
  t.deepEqual(products, BigUint64Array.of(1n, 1n));
});
