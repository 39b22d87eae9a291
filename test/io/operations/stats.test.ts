import { writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import test from 'ava';
import { generate } from '../../../src/io/operations/gen.js';
import { type FileStats, type StatsJob, statsOfFiles } from '../../../src/io/operations/stats.js';
import { DTYPES, type Dtype, dtypeInfo } from '../../../src/keys/dtype.js';
import { keyValue } from '../../../src/keys/value.js';
import { scaledDouble } from '../../../src/util/ratio.js';
import { scratchFolder } from '../../cli/cli.js';
import { patterns } from '../../reference.js';
import { nowhere } from '../context.js';
import { hostSorter } from '../host-sorter.js';

const { path, remove } = scratchFolder();
test.after.always(remove);
const sorter = hostSorter(test);

/** Sixteenths, so that doubles hold the products of the reference. */
const SIXTEENTHS = [0n, 4n, 5n, 8n, 12n, 16n];
const quantiles = SIXTEENTHS.map((numerator) => ({ numerator, denominator: 16n }));

const statsOf = (job: Partial<StatsJob>, stdin: Readable = Readable.from([])): Promise<FileStats> =>
  statsOfFiles(
    sorter(),
    { in: ['-'], quantiles, ...job },
    { ...nowhere, stdin, signal: new AbortController().signal },
  );

const valuesOf = (bytes: Uint8Array, dtype: Dtype): (number | bigint)[] =>
  patterns(bytes, dtype).map((bits) => keyValue(bits, dtypeInfo(dtype)));

/** Rounds a fraction, in units of 2^-1074 for floats, as documented: by the conversion of BigInts. */
function rounded(numerator: bigint, denominator: bigint, isFloat: boolean): number | bigint {
  const floor = numerator / denominator - (numerator < 0n && numerator % denominator !== 0n ? 1n : 0n);
  const rest = 2n * (numerator - floor * denominator) - denominator;
  const integer = rest > 0n || (rest === 0n && floor % 2n !== 0n) ? floor + 1n : floor;
  if (!isFloat && (integer >= 2n ** 53n || integer <= -(2n ** 53n))) return integer;
  const length = (n: bigint): number => n.toString(2).replace('-', '').length;
  const exponent = length(numerator) - length(denominator) - 66;
  const [up, down] = [BigInt(Math.max(0, -exponent)), BigInt(Math.max(0, exponent))];
  const [dividend, divisor] = [numerator << up, denominator << down];
  // Twice the quotient, plus or minus 1 for a remainder: the conversion is the only rounding.
  const sign = numerator < 0n ? -1n : 1n;
  const quotient = 2n * (dividend / divisor) + (dividend % divisor === 0n ? 0n : sign);
  const scale = exponent - 1 - (isFloat ? 1074 : 0);
  return Number(quotient) * 2 ** Math.trunc(scale / 2) * 2 ** (scale - Math.trunc(scale / 2));
}

/** Statistics by plain JavaScript and BigInts. */
function reference(bytes: Uint8Array, dtype: Dtype) {
  const isFloat = dtypeInfo(dtype).kind === 'float';
  const all = valuesOf(bytes, dtype);
  const numbers = all.filter((value) => !Number.isNaN(value));
  numbers.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const exact = (value: number | bigint): bigint => (isFloat ? scaledDouble(Number(value)) : BigInt(value));
  const total = numbers.reduce<bigint>((sum, value) => sum + exact(value), 0n);
  return {
    n: all.length,
    nans: all.length - numbers.length,
    sum: rounded(total, 1n, isFloat),
    mean: rounded(total, BigInt(numbers.length), isFloat),
    distinct: new Set(all.map((value) => (value === 0 ? 0 : value))).size,
    quantiles: SIXTEENTHS.map((q) => {
      const place = q * BigInt(numbers.length - 1);
      const low = Number(place / 16n);
      const weight = place % 16n;
      const [from, to] = [numbers[low], numbers[low + 1] ?? numbers[low]].map((one) => exact(one as number));
      if (weight === 0n) return numbers[low];
      return rounded((from as bigint) * (16n - weight) + (to as bigint) * weight, 16n, isFloat);
    }),
  };
}

/** Returns the text of a quantile. Which of equal zeros it is does not matter. */
const quantileText = (value: unknown): string => String(value === 0 ? 0 : value);

for (const dtype of DTYPES) {
  test(`${dtype}: statistics equal those of plain JavaScript, of a file and of a pipe`, async (t) => {
    const { bytes: keyBytes, kind } = dtypeInfo(dtype);
    for (const distribution of ['uniform', 'and3', 'special'] as const) {
      const made = generate({ dtype, count: 1003, distribution, seed: 21 });
      const finite = valuesOf(made, dtype).flatMap((value, i) =>
        kind === 'float' && Math.abs(Number(value)) === Number.POSITIVE_INFINITY ? [] : [i],
      );
      const keys = Buffer.concat(finite.map((i) => made.subarray(i * keyBytes, (i + 1) * keyBytes)));
      writeFileSync(path(`${distribution}.${dtype}`), keys);
      const expected = reference(keys, dtype);
      for (const found of [
        await statsOf({ in: [path(`${distribution}.${dtype}`)], dtype }),
        await statsOf({ dtype }, Readable.from([keys.subarray(0, 333), keys.subarray(333)])),
      ]) {
        const { n, nans, sum, mean, distinct } = found;
        const about = `${dtype} ${distribution}`;
        t.deepEqual(
          { n, nans, sum, mean, distinct, quantiles: found.quantiles.map(quantileText) },
          { ...expected, quantiles: expected.quantiles.map(quantileText) },
          about,
        );
        t.is(found.ascending || found.descending, false, about);
      }
    }
  });
}

test('infinities, NaNs and no keys have the documented results', async (t) => {
  const of = (...keys: number[]) =>
    statsOf(
      { dtype: 'f64' },
      Readable.from(keys.length === 0 ? [] : [Buffer.from(Float64Array.from(keys).buffer)]),
    );
  const [inf, nan] = [Number.POSITIVE_INFINITY, Number.NaN];
  t.like(await of(inf, 1, 2), { sum: inf, mean: inf, maximum: inf, quantiles: [1, 1.5, 1.625, 2, inf, inf] });
  t.like(await of(inf, -inf), {
    sum: nan,
    mean: nan,
    quantiles: [-inf, nan, nan, nan, nan, inf],
    distinct: 2,
  });
  t.like(await of(nan, nan), {
    n: 2,
    nans: 2,
    sum: 0,
    mean: undefined,
    minimum: undefined,
    distinct: 1,
    ascending: true,
  });
  t.like(await of(), {
    n: 0,
    nans: 0,
    sum: 0,
    mean: undefined,
    maximum: undefined,
    distinct: 0,
    disorder: undefined,
  });
  t.deepEqual(
    (await of()).quantiles,
    SIXTEENTHS.map(() => undefined),
  );
  t.like(await of(2 ** 1023, 2 ** 1023), { sum: inf, mean: 2 ** 1023 });
});

test('the order is ascending, descending, or broken at the first key that contradicts both', async (t) => {
  const of = async (...keys: number[]) => {
    const { ascending, descending, disorder } = await statsOf(
      { dtype: 'i8' },
      Readable.from([Int8Array.from(keys)]),
    );
    return [ascending, descending, disorder?.at];
  };
  t.deepEqual(await of(1, 1, 2), [true, false, undefined]);
  t.deepEqual(await of(2, 1, 1), [false, true, undefined]);
  t.deepEqual(await of(3, 3), [true, true, undefined]);
  t.deepEqual(await of(1, 1, 2, 3, 2, 1), [false, false, 4]);
  t.deepEqual(await of(5, 4, 4, 3, 3, 6, 1), [false, false, 5]);
});

test('keys that exceed the memory limit are sorted through temporary files, with the same statistics', async (t) => {
  const keys = generate({ dtype: 'u64', count: 2 ** 20, distribution: 'uniform', seed: 5 });
  writeFileSync(path('large.u64'), keys);
  const job = { in: [path('large.u64'), path('large.u64')], tmp: path('') };
  const { external: _, ...whole } = await statsOf(job);
  const { external, ...found } = await statsOf({ ...job, memory: 16 * 2 ** 20 });
  t.true((external?.spilledBytes ?? 0) > 0);
  t.deepEqual(found, whole);
  const sum = patterns(keys, 'u64').reduce((total, key) => total + key, 0n);
  t.is(found.sum, 2n * sum);
  t.is(found.n, 2 ** 21);
});
