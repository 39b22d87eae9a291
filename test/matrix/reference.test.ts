/** The matrix's reference against numbers written down by hand, and against the reference of the other tests. */
import test from 'ava';
import { DTYPES, type Dtype } from '../../src/keys/dtype.js';
import { digitCounts, edgesFrom, valueCounts } from '../../src/sort/cases/histograms.js';
import { ExactSum, Reference, referenceRows, widthOf } from '../../src/sort/cases/reference.js';
import { checkScan, checkSum } from '../../src/sort/cases/sums.js';
import { Random } from '../../src/util/random.js';
import { referenceArgsort, referenceLexsort } from '../reference.js';

const bytesOf = ({ buffer }: ArrayBufferView): Uint8Array => new Uint8Array(buffer as ArrayBuffer);
const of = (dtype: Dtype, array: ArrayBufferView): Reference => new Reference(dtype, bytesOf(array));

test('f32 keys order zeros by sign and NaNs by their bits at one end', (t) => {
  const bits = Uint32Array.of(
    0xffc00000,
    0x3f800000,
    0x80000000,
    0x7fc00000,
    0,
    0xff800000,
    0xffffffff,
    0x7f800001,
  );
  const reference = of('f32', bits);
  t.deepEqual([...reference.order()], [5, 2, 4, 1, 7, 3, 6, 0]);
  t.deepEqual([...reference.order({ descending: true })], [1, 4, 2, 5, 7, 3, 6, 0]);
  t.deepEqual([...reference.order({ nan: 'first' })], [7, 3, 6, 0, 5, 2, 4, 1]);
});

test('f16 bits decode to their numbers', (t) => {
  const bits = Uint16Array.of(0x3c00, 0xc000, 0x7bff, 0x0001, 0x0400, 0x7c00, 0xfc00, 0x8000, 0x7e00);
  const numbers = [
    1,
    -2,
    65504,
    2 ** -24,
    2 ** -14,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    -0,
    Number.NaN,
  ];
  t.deepEqual([...(of('f16', bits).values as Float64Array)], numbers);
});

test('bf16 bits decode to their numbers', (t) => {
  const bits = Uint16Array.of(0x3f80, 0xc000, 0x7f7f, 0x0001, 0x7f80, 0xff80, 0x8000, 0x7fc0);
  const largest = (2 - 2 ** -7) * 2 ** 127;
  const numbers = [
    ...[1, -2, largest, 2 ** -133],
    ...[Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, Number.NaN],
  ];
  t.deepEqual([...(of('bf16', bits).values as Float32Array)], numbers);
});

for (const dtype of DTYPES) {
  test(`${dtype}: random bits sort in every order as in the reference of the other tests`, (t) => {
    const width = widthOf(dtype);
    const random = new Random(7);
    const few = random.bytes(20 * width);
    const bytes = random.bytes(500 * width);
    for (let i = 0; i < 200; i++)
      bytes.set(few.subarray(width * (i % 20), width * ((i % 20) + 1)), i * 2 * width);
    const reference = new Reference(dtype, bytes);
    for (const descending of [false, true]) {
      for (const nan of ['first', 'last'] as const) {
        t.deepEqual(
          [...reference.order({ descending, nan })],
          referenceArgsort(bytes, dtype, { descending, nan }),
        );
      }
      const columns = [{ bytes, dtype, order: { descending } }];
      t.deepEqual(referenceRows([reference.values], 500, descending), referenceLexsort(columns));
    }
    const { first, counts } = reference.distinct({});
    t.is(
      counts.reduce((sum, count) => sum + count, 0),
      500,
    );
    t.is(new Set(first).size, first.length);
    const digits = digitCounts(reference, 2, 8);
    t.is(digits.length, 64);
    t.is(
      digits.reduce((sum, count) => sum + count, 0),
      500,
      'every key has a digit',
    );
  });
}

test('digits follow the key order, with negative floats first', (t) => {
  const floats = of(
    'f32',
    Float32Array.of(Number.NEGATIVE_INFINITY, -0, 0, Number.POSITIVE_INFINITY, Number.NaN),
  );
  const top = digitCounts(floats, 31, 32);
  t.deepEqual([...top], [3, 2], 'all NaNs are last, so both zeros are in the lower half');
  t.deepEqual([...digitCounts(of('i8', Int8Array.of(-128, -1, 0, 127)), 7, 8)], [2, 2]);
});

test('histogram edges increase, and each bin counts the keys between its edges', (t) => {
  const reference = of('i16', Int16Array.of(5, -3, 9, 5, 100, -200, 7, 7, 7));
  const edges = edgesFrom(reference);
  t.true(edges.every((edge, i) => i === 0 || edge > (edges[i - 1] as number)));
  t.deepEqual([...valueCounts(of('u8', Uint8Array.of(0, 1, 2, 3, 4, 5)), [1, 3, 5])], [2, 3]);
  t.deepEqual([...valueCounts(of('f32', Float32Array.of(-0, 0, Number.NaN, 1)), [0, 1])], [3]);
});

test('checkSum and checkScan accept correct sums and report wrong ones', (t) => {
  const whole = of('i64', BigInt64Array.of(2n ** 62n, 2n ** 62n, 5n));
  t.is(checkSum(whole, -(2n ** 63n) + 5n), undefined);
  t.regex(checkSum(whole, 5n) ?? '', /expected -9223372036854775803 for the sum but got 5/);
  const floats = of('f64', Float64Array.of(1e16, 1, -1e16));
  t.is(new ExactSum().value, 0);
  t.is(checkSum(floats, 1), undefined);
  t.is(checkSum(floats, 0), undefined, 'within the error bound');
  t.truthy(checkSum(floats, 20));
  t.truthy(checkSum(floats, Number.NaN));
  t.is(checkScan(of('u32', Uint32Array.of(2 ** 32 - 1, 3)), Uint32Array.of(2 ** 32 - 1, 2), true), undefined);
  t.regex(
    checkScan(of('u32', Uint32Array.of(1, 3)), Uint32Array.of(0, 2), false) ?? '',
    /expected 1 for sum 1 but got 2/,
  );
  t.truthy(checkScan(of('f32', Float32Array.of(1, 2, 4)), Float32Array.of(1, 3, 7.5), true));
});
