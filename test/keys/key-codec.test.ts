/** The codec against the order of numbers in JavaScript, and against codes computed by hand. */
import test from 'ava';
import { DTYPES, type Dtype, dtypeInfo } from '../../src/keys/dtype.js';
import { codecVector, decode, encode, keyCodec, type Order } from '../../src/keys/key-codec.js';
import { Random } from '../../src/util/random.js';
import { referenceCode } from '../reference.js';

const ORDERS: readonly Order[] = [
  {},
  { descending: true },
  { nan: 'first' },
  { descending: true, nan: 'first' },
];

/** The value of a half-precision number, from sign, exponent and fraction of IEEE 754. */
function half(pattern: bigint): number {
  const [sign, exponent, fraction] = [pattern >> 15n, (pattern >> 10n) & 31n, Number(pattern & 1023n)];
  const size =
    exponent === 31n
      ? fraction > 0
        ? Number.NaN
        : Number.POSITIVE_INFINITY
      : exponent === 0n
        ? fraction * 2 ** -24
        : (1 + fraction / 1024) * 2 ** (Number(exponent) - 15);
  return sign ? -size : size;
}

/** The number that a pattern stands for. */
function numberOf(dtype: Dtype, pattern: bigint): number | bigint {
  const { width } = dtypeInfo(dtype);
  if (dtype[0] === 'u') return pattern;
  if (dtype[0] === 'i') return BigInt.asIntN(width, pattern);
  if (dtype === 'f16') return half(pattern);
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, pattern << BigInt(64 - width));
  return width <= 32 ? view.getFloat32(0) : view.getFloat64(0);
}

const isNaNumber = (number: number | bigint) => typeof number === 'number' && Number.isNaN(number);

/** Whether the first number precedes the second one. Zeros of two signs differ; NaNs are not compared. */
function isBefore(a: number | bigint, b: number | bigint, { descending, nan }: Order): boolean {
  if (isNaNumber(a) !== isNaNumber(b)) return isNaNumber(a) === (nan === 'first');
  const [x, y] = descending ? [b, a] : [a, b];
  return x < y || (Object.is(x, -0) && Object.is(y, 0));
}

/** All patterns of narrow dtypes; for the others all edge cases and random patterns. */
function patternsOf(dtype: Dtype): bigint[] {
  const { width } = dtypeInfo(dtype);
  const all = 1n << BigInt(width);
  if (width <= 16) return Array.from({ length: Number(all) }, (_, i) => BigInt(i));
  const infinity = width === 32 ? 0x7f80_0000n : 0x7ff0_0000_0000_0000n;
  const edges = [0n, all / 2n, infinity, infinity + all / 2n, all - 1n].flatMap((edge) =>
    [-2n, -1n, 0n, 1n, 2n].map((step) => BigInt.asUintN(width, edge + step)),
  );
  const random = new Random(width);
  const drawn = Array.from({ length: 3000 }, () =>
    BigInt.asUintN(width, (BigInt(random.u32()) << 32n) | BigInt(random.u32())),
  );
  return [...edges, ...drawn];
}

for (const dtype of DTYPES) {
  test(`codes of ${dtype} have the order of the numbers and decode to the keys`, (t) => {
    const all = patternsOf(dtype);
    for (const order of ORDERS) {
      const codec = keyCodec(dtype, order);
      const coded = all.map((pattern) => ({ pattern, code: encode(codec, pattern) }));
      const lost = coded.filter(({ pattern, code }) => decode(codec, code) !== pattern);
      t.deepEqual(lost, []);
      const sorted = coded.toSorted((a, b) => (a.code < b.code ? -1 : a.code > b.code ? 1 : 0));
      const wrong = sorted.filter(({ pattern }, i) => {
        const before = sorted[i - 1];
        if (before === undefined || before.pattern === pattern) return false;
        const [a, b] = [numberOf(dtype, before.pattern), numberOf(dtype, pattern)];
        return !(isNaNumber(a) && isNaNumber(b)) && !isBefore(a, b, order);
      });
      t.deepEqual(wrong, [], JSON.stringify(order));
      const ofReference = coded.filter(({ pattern, code }) => referenceCode(dtype, order, pattern) !== code);
      t.deepEqual(ofReference, [], `the reference has other codes: ${JSON.stringify(order)}`);
      t.true(codec.identity === all.every((pattern) => encode(codec, pattern) === pattern));
    }
  });
}

/** Bits of a float, its code, and its code in the other orders: descending, NaN first, both. */
const BY_HAND: readonly (readonly [Dtype, string, bigint, readonly bigint[]])[] = [
  // f16 has 2 * 1023 NaNs and 63,490 numbers.
  ['f16', '-Infinity', 0xfc00n, [0n, 63_489n, 2046n, 65_535n]],
  ['f16', '-0', 0x8000n, [31_744n, 31_745n, 33_790n, 33_791n]],
  ['f16', '+0', 0x0000n, [31_745n, 31_744n, 33_791n, 33_790n]],
  ['f16', 'Infinity', 0x7c00n, [63_489n, 0n, 65_535n, 2046n]],
  ['f16', 'the first NaN', 0x7c01n, [63_490n, 63_490n, 0n, 0n]],
  ['f16', 'the last NaN', 0xfc01n, [65_535n, 65_535n, 2045n, 2045n]],
  ['f32', '1', 0x3f80_0000n, [0xbf00_0001n, 0x4000_0000n, 0xbfff_ffffn, 0x40ff_fffen]],
  ['i8', '-128', 0x80n, [0n, 255n, 0n, 255n]],
  ['i8', '127', 0x7fn, [255n, 0n, 255n, 0n]],
  ['u16', '1', 1n, [1n, 65_534n, 1n, 65_534n]],
];

for (const [dtype, name, pattern, codes] of BY_HAND) {
  test(`the code of ${name} as ${dtype} in each order equals the value computed by hand`, (t) => {
    t.deepEqual(
      ORDERS.map((order) => encode(keyCodec(dtype, order), pattern)),
      codes,
    );
  });
}

test('codecVector returns eight words, of 64 bits for 64-bit keys', (t) => {
  t.deepEqual(
    codecVector(keyCodec('f32', { descending: true, nan: 'first' })),
    Uint32Array.of(0x8000_0000, 0xffff_ffff, 0x7f_ffff, 0xff00_0001, 0xff_fffe, 1, 0, 0),
  );
  t.deepEqual(
    codecVector(keyCodec('i64')),
    BigUint64Array.of(1n << 63n, 1n << 63n, 0n, (1n << 64n) - 1n, 0n, 0n, 0n, 0n),
  );
  t.deepEqual(codecVector(keyCodec('u8')), Uint32Array.of(0, 0, 0, 255, 0, 0, 1, 0));
});
