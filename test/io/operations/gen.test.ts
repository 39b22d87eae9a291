import test from 'ava';
import { DISTRIBUTIONS, Generator, generate } from '../../../src/io/operations/gen.js';
import { DTYPES, dtypeInfo } from '../../../src/keys/dtype.js';
import { UsageError } from '../../../src/util/errors.js';
import { keysOf } from '../../distributions.js';
import { patterns, referenceSort } from '../../reference.js';

const request = { dtype: 'u32', count: 5000, distribution: 'uniform', seed: 1n } as const;

test('keys do not depend on where pieces end', (t) => {
  for (const dtype of ['u8', 'f32', 'i64'] as const) {
    for (const distribution of DISTRIBUTIONS) {
      const whole = generate({ ...request, dtype, distribution });
      const generator = new Generator({ ...request, dtype, distribution });
      const pieces: Uint8Array[] = [];
      while (generator.remaining > 0) pieces.push(generator.next(777));
      t.deepEqual(Buffer.concat(pieces), Buffer.from(whole), `${dtype} ${distribution}`);
    }
  }
});

test('keys depend on all 64 bits of the seed, and a seed repeats its keys', (t) => {
  t.notDeepEqual(generate({ ...request, seed: 1n }), generate({ ...request, seed: 1n + (1n << 63n) }));
  t.deepEqual(
    patterns(generate({ ...request, count: 3 }), 'u32'),
    patterns(generate({ ...request, count: 3, seed: 1 }), 'u32'),
  );
});

for (const dtype of DTYPES) {
  test(`${dtype}: sorted, reversed and nearly-sorted keys have that order`, (t) => {
    const make = (distribution: 'sorted' | 'reversed' | 'nearly-sorted') =>
      generate({ ...request, dtype, count: 1000, distribution });
    const sorted = make('sorted');
    t.deepEqual(sorted, referenceSort(sorted, dtype));
    const reversed = patterns(make('reversed'), dtype).reverse();
    const back = patterns(referenceSort(make('reversed'), dtype), dtype);
    t.deepEqual(reversed, back);
    const nearly = make('nearly-sorted');
    const inOrder = patterns(referenceSort(nearly, dtype), dtype);
    const misplaced = patterns(nearly, dtype).filter((key, i) => key !== inOrder[i]).length;
    t.true(misplaced > 0);
  });

  test(`${dtype}: the other distributions have their bits and bytes`, (t) => {
    const { width } = dtypeInfo(dtype);
    const make = (distribution: (typeof DISTRIBUTIONS)[number]) =>
      patterns(generate({ ...request, dtype, count: 4000, distribution }), dtype);
    t.true(make('low-byte').every((key) => key < 256n));
    t.true(make('multiples').every((key) => key % 16n === 0n));
    t.true(new Set(make('multiples')).size > Math.min(10, 2 ** (width - 5)));
    t.true(make('high-byte').every((key) => BigInt.asUintN(width - 8, key) === 0n));
    t.true(make('high-byte').some((key) => key >> BigInt(width - 1) === 1n));
    t.is(new Set(make('constant')).size, 1);
    t.is(new Set(make('two')).size, 2);
    const runs = make('runs');
    t.true(runs.every((key, i) => key === runs[i - (i % 32)]));
    t.true(new Set(runs).size > (width === 8 ? 90 : 123), '125 runs of random keys');
    const ones = (keys: bigint[]) =>
      keys.reduce((sum, key) => sum + key.toString(2).replaceAll('0', '').length, 0) / (keys.length * width);
    t.true(Math.abs(ones(make('random-bits')) - 1 / 2) < 0.02);
    t.deepEqual(make('random-bits'), make('uniform'), 'without a range');
    t.true(Math.abs(ones(make('and3')) - 1 / 8) < 0.02);
    t.true(ones(make('and15')) < 0.01);
  });
}

test('timestamps increase by a second every 1000 keys, each less than 30 seconds late', (t) => {
  const first = 1_700_000_000;
  for (const dtype of ['u32', 'i32', 'u64', 'i64', 'f64'] as const) {
    const keys = [...keysOf(dtype, 'timestamps', 5000)].map(Number);
    const late = keys.map((key, i) => key - first - Math.floor(i / 1000));
    t.is(new Set(late).size, 30, dtype);
    t.deepEqual([Math.min(...late), Math.max(...late)], [0, 29], dtype);
  }
  const narrow = keysOf('u8', 'timestamps', 1000);
  t.true([...narrow].every((key) => ((Number(key) - first) & 255) < 30));
});

test('special floats hold both zeros, infinities, denormals and NaNs of both signs', (t) => {
  const floats = new Float32Array(generate({ ...request, dtype: 'f32', distribution: 'special' }).buffer);
  for (const wanted of [0, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** -149, -(2 ** -149)]) {
    t.true(
      floats.some((value) => Object.is(value, wanted)),
      String(wanted),
    );
  }
  const nans = new Uint32Array(floats.buffer).filter((_, i) => Number.isNaN(floats[i]));
  t.true(new Set(nans).size >= 10);
  t.true(nans.some((bits) => bits >>> 31 === 1) && nans.some((bits) => bits >>> 31 === 0));
});

test('an unknown distribution throws with a suggestion', (t) => {
  t.throws(() => new Generator({ ...request, distribution: 'revers' as 'two' }), {
    instanceOf: UsageError,
    message: /Did you mean "reversed"/,
  });
});
