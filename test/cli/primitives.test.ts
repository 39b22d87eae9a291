/** clsort reduce, scan, histogram, demo, sort --values and gen --range, each as a process. */
import { readFileSync, writeFileSync } from 'node:fs';
import ava from 'ava';
import { Random } from '../../src/util/random.js';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);

const seed = BigInt(Date.now());
const random = new Random(seed);
const keys = Uint32Array.from({ length: 5000 }, () => random.u32());
const floats = Float64Array.from({ length: 1000 }, () => random.below(2001) / 8 - 125);
writeFileSync(path('keys.u32'), keys);
writeFileSync(path('floats.f64'), floats);
writeFileSync(
  path('bytes.u8'),
  Uint8Array.from({ length: 3000 }, () => random.below(256)),
);
writeFileSync(path('none.u32'), '');

/** The host engine and a device. */
const WHERE = [
  ['--device', 'host'],
  ['--device', 'cpu'],
];

const words = (file: string): Uint32Array => new Uint32Array(readFileSync(path(file)).buffer.slice(0));

for (const where of WHERE) {
  test(`reduce prints only the result (${where.join(' ')})`, async (t) => {
    const result = async (...args: string[]) => {
      const { code, out, err } = await clsort(['reduce', ...args, ...where]);
      t.is(code, 0, err);
      return out;
    };
    const sum = keys.reduce((total, key) => total + BigInt(key), 0n);
    t.is(await result(path('keys.u32')), `${sum}\n`, `seed ${seed}`);
    t.is(await result(path('keys.u32'), path('keys.u32')), `${2n * sum}\n`);
    t.is(await result(path('keys.u32'), '--op', 'min'), `${Math.min(...keys)}\n`);
    t.is(await result(path('floats.f64'), '--op', 'max'), `${Math.max(...floats)}\n`);
    t.is(await result(path('floats.f64')), `${floats.reduce((a, b) => a + b, 0)}\n`, 'exact: eighths');
    t.is(await result(path('none.u32')), '0\n');
    t.deepEqual(JSON.parse(await result(path('keys.u32'), '--json')), {
      ...{ schema: 'clsort.reduce/1', n: 5000, dtype: 'u32', op: 'sum', result: String(sum) },
    });
  });

  test(`scan writes prefix sums as raw keys and as npy (${where.join(' ')})`, async (t) => {
    let before = 0;
    const exclusive = keys.map((key) => {
      before = (before + key) >>> 0;
      return (before - key) >>> 0;
    });
    const made = await clsort(['scan', path('keys.u32'), '-o', path('sums.u32'), ...where]);
    t.is(made.code, 0, made.err);
    t.deepEqual(words('sums.u32'), exclusive, `seed ${seed}`);
    const inclusive = ['scan', path('keys.u32'), '-o', path('sums.npy'), '--inclusive', '--json', ...where];
    t.like(JSON.parse((await clsort(inclusive)).out), { n: 5000, inclusive: true, formats: { to: 'npy' } });
    t.deepEqual(
      words('sums.npy').slice(-5000),
      exclusive.map((sum, i) => (sum + (keys[i] as number)) >>> 0),
    );
  });

  test(`histogram counts by range, by edges and by digits (${where.join(' ')})`, async (t) => {
    const counted = async (...args: string[]) => {
      const { code, out, err } = await clsort(['histogram', ...args, '--json', ...where]);
      t.is(code, 0, err);
      return JSON.parse(out);
    };
    const bytes = readFileSync(path('bytes.u8'));
    const digits = Array.from({ length: 256 }, (_, byte) => bytes.filter((one) => one === byte).length);
    t.deepEqual((await counted(path('bytes.u8'), '--bits', '0:8')).counts, digits, `seed ${seed}`);
    const { counts, edges, outside } = await counted(
      path('floats.f64'),
      '--bins',
      '5',
      '--range',
      '-100:100',
    );
    t.deepEqual(edges, ['-100', '-60', '-20', '20', '60', '100']);
    const inBin = (low: number, high: number, last: boolean) =>
      floats.filter((key) => key >= low && (key < high || (last && key === high))).length;
    t.deepEqual(
      counts,
      [-100, -60, -20, 20, 60].map((low) => inBin(low, low + 40, low === 60)),
    );
    t.is(outside, 1000 - inBin(-100, 100, true));
    const all = await counted(path('floats.f64'));
    t.is(all.counts.length, 10);
    t.is(all.outside, 0);
    t.deepEqual((await counted(path('floats.f64'), '--edges', '-200,0,200')).counts, [
      inBin(-200, 0, false),
      inBin(0, 200, true),
    ]);
    const table = await clsort(['histogram', path('bytes.u8'), '--bits', '6:8', ...where]);
    t.regex(table.out, /^digit +keys/);
    t.is(table.out.trim().split('\n').length, 5);
  });

  test(`sort --values moves the values with their keys (${where.join(' ')})`, async (t) => {
    const few = keys.map((key) => key % 100);
    writeFileSync(path('few.u32'), few);
    writeFileSync(
      path('ids.u32'),
      Uint32Array.from(few, (_, i) => i),
    );
    const outs = ['-o', path('sorted.u32'), '--values', path('ids.u32'), '--values-out', path('moved.npy')];
    const { code, err } = await clsort(['sort', path('few.u32'), ...outs, '--descending', ...where]);
    t.is(code, 0, err);
    const order = Array.from(few, (_, i) => i).toSorted((a, b) => (few[b] as number) - (few[a] as number));
    t.deepEqual(
      [...words('sorted.u32')],
      order.map((i) => few[i] as number),
    );
    t.deepEqual([...words('moved.npy').slice(-few.length)], order, 'stable');
  });
}

/** Keys with a range that doubles cannot express as a difference, or cannot hold exactly. */
const WIDE_RANGES: readonly (readonly [name: string, keys: NodeJS.ArrayBufferView, bins: number])[] = [
  ['overflow.f64', Float64Array.of(-Number.MAX_VALUE, -1e308, 0, 1e308, Number.MAX_VALUE), 4],
  ['half-overflow.f64', Float64Array.of(-1e308, 0, 1.2e308), 10],
  ['largest.f32', Float32Array.of(-3.4028234663852886e38, 0, 3.4028234663852886e38), 3],
  ['equal.f64', Float64Array.of(1e300, 1e300), 10],
  ['equal-negative.f64', Float64Array.of(-1e300), 10],
  ['large.u64', BigUint64Array.of(2n ** 53n + 1n, 2n ** 64n - 1n), 10],
  ['near.u64', BigUint64Array.of(2n ** 63n + 1n, 2n ** 63n + 3n), 2],
  ['equal.u64', BigUint64Array.of(2n ** 64n - 1n), 1],
  ['wide.i64', BigInt64Array.of(-(2n ** 63n), 2n ** 63n - 1n), 10],
];

for (const [name, wide, bins] of WIDE_RANGES) {
  test(`histogram without --range has finite, rising edges around all keys of ${name}`, async (t) => {
    writeFileSync(path(name), wide);
    for (const where of WHERE) {
      const { code, out, err } = await clsort([
        ...['histogram', path(name), '--bins', String(bins), '--json', ...where],
      ]);
      t.is(code, 0, err);
      const { edges, counts, outside, n } = JSON.parse(out);
      t.is(edges.length, bins + 1);
      const numbers = edges.map(Number);
      t.true(numbers.every(Number.isFinite), `${edges}`);
      t.true(
        numbers.every((edge: number, i: number) => i === 0 || edge >= numbers[i - 1]),
        `${edges}`,
      );
      t.is(outside, 0);
      t.is(
        counts.reduce((sum: number, count: number) => sum + count, 0),
        n,
      );
    }
  });
}

test('scan widens the sums as the name of the output or --result-dtype says', async (t) => {
  const bytes = readFileSync(path('bytes.u8'));
  let before = 0n;
  const sums = BigUint64Array.from(bytes, (byte) => {
    before += BigInt(byte);
    return before - BigInt(byte);
  });
  t.true(before > 65_535n, 'narrower sums would wrap');
  const made = async (out: string, ...args: string[]) => {
    const ran = await clsort([
      'scan',
      path('bytes.u8'),
      '-o',
      path(out),
      '--device',
      'host',
      '--json',
      ...args,
    ]);
    t.is(ran.code, 0, ran.err);
    return { report: JSON.parse(ran.out), bytes: readFileSync(path(out)) };
  };
  const named = await made('wide.u64');
  t.like(named.report, { dtype: 'u8', result: 'u64' });
  t.deepEqual(named.bytes, Buffer.from(sums.buffer));
  const asked = await made('wide.npy', '--result-dtype', 'u64', '--verify');
  t.deepEqual(asked.bytes.subarray(-sums.byteLength), Buffer.from(sums.buffer));
  t.like((await made('own.npy')).report, { dtype: 'u8', result: 'u8' });
});

test('scan --op combines keys by other operations', async (t) => {
  const args = [
    'scan',
    path('keys.u32'),
    '-o',
    path('highest.u32'),
    '--op',
    'max',
    '--inclusive',
    '--verify',
  ];
  const { code, out, err } = await clsort([...args, '--device', 'host', '--json']);
  t.is(code, 0, err);
  t.like(JSON.parse(out), { op: 'max', inclusive: true });
  let max = 0;
  const highest = Array.from(words('keys.u32'), (key) => (max = Math.max(max, Number(key))));
  t.deepEqual([...words('highest.u32')].map(Number), highest);
});

test('an invalid use is an error that explains it', async (t) => {
  const [input, out] = [path('keys.u32'), path('never.u32')];
  writeFileSync(path('halves.f16'), new Uint16Array(10));
  const values = ['--values', path('floats.f64'), '--values-out', path('never.f64')];
  for (const [args, code, words] of [
    [['reduce', path('none.u32'), '--op', 'min', '--device', 'host'], 5, /no keys/],
    [['reduce', input, '--op', 'product'], 2, /product/],
    [
      ['scan', path('bytes.u8'), '-o', path('never.i8'), '--device', 'host'],
      2,
      /cannot write u8 keys to .*: its extension is that of i8 keys/,
    ],
    [['scan', path('bytes.u8'), '-o', out, '--result-dtype', 'i8', '--device', 'host'], 2, /every u8 key/],
    [
      ['scan', path('halves.f16'), '-o', path('never.f16'), '--device', 'host'],
      4,
      /cannot compute a sum of f16/,
    ],
    [['scan', input, '-o', out, '--op', 'mean'], 2, /mean/],
    [['histogram', input, '--bits', '0:8', '--bins', '4'], 2, /--bits/],
    [['histogram', input, '--range', '9:1'], 2, /A < B/],
    [['histogram', input, '--edges', '1,x'], 2, /expected numbers for --edges but got "x"/],
    [['histogram', '-', '--dtype', 'u32'], 2, /--range A:B/],
    [['histogram', path('none.u32')], 5, /no finite range/],
    [['sort', input, '-o', out, ...values], 5, /cannot sort pairs: there are 5000 keys, and 1000 values/],
    [
      ['sort', input, '-o', out, '--values', path('floats.f64')],
      2,
      /cannot sort pairs: --values-out is missing/,
    ],
    [['sort', input, '-o', out, ...values, '--argsort'], 2, /cannot combine --argsort and --values/],
    [
      ['sort', input, '-o', path('floats.f64'), ...values],
      2,
      /cannot write keys to .*: the job uses that file for other data/,
    ],
    [['gen', '--count', '5', '--range', '9:1', '-o', out], 2, /smaller one first/],
    [['gen', '--count', '5', '--range', '0:2.5', '-o', out], 2, /whole numbers/],
    [['gen', '--count', '5', '--range', '0:5000000000', '-o', out], 2, /expected two u32 numbers/],
    [['gen', '--count', '5', '--range', '0:5', '--distribution', 'two', '-o', out], 2, /--distribution/],
    [['demo', '--count', '0'], 2, /--count/],
    [['demo', '--algorithm', 'bogo'], 2, /bogo/],
  ] as const) {
    const { code: ended, err } = await clsort([...args]);
    t.is(ended, code, `${args.join(' ')}: ${err}`);
    t.regex(err, words);
  }
});

test('gen --range draws numbers from an inclusive range, and a seed repeats them', async (t) => {
  const make = async (out: string, range: string, ...more: string[]) => {
    const { code, err } = await clsort([
      'gen',
      '--count',
      '4000',
      '--range',
      range,
      '-o',
      path(out),
      ...more,
    ]);
    t.is(code, 0, err);
    return readFileSync(path(out));
  };
  const signed = new Int8Array((await make('a.i8', '-2:2')).buffer.slice(0));
  const of = (bytes: Buffer) => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const drawn = new Int8Array(of(readFileSync(path('a.i8'))));
  t.deepEqual(
    [...new Set(drawn)].toSorted((a, b) => a - b),
    [-2, -1, 0, 1, 2],
  );
  t.true(signed.length >= 4000);
  for (const one of new Set(drawn)) t.true(drawn.filter((key) => key === one).length > 600, 'a fifth each');
  const wide = new BigUint64Array(of(await make('a.u64', '18446744073709551610:18446744073709551615')));
  t.true(wide.every((key) => key >= 18446744073709551610n));
  const unit = new Float32Array(of(await make('a.f32', '-1:1')));
  t.true(unit.every((key) => key >= -1 && key <= 1));
  t.true(Math.abs(unit.reduce((a, b) => a + b, 0) / 4000) < 0.1);
  t.deepEqual(await make('b.i8', '-2:2'), readFileSync(path('a.i8')));
  t.notDeepEqual(await make('c.i8', '-2:2', '--seed', '2'), readFileSync(path('a.i8')));
});

test('gen draws uniform floats from [0, 1), and random bits by name', async (t) => {
  for (const [name, Floats] of [
    ['unit.f32', Float32Array],
    ['unit.f64', Float64Array],
  ] as const) {
    const make = async (...more: string[]) => {
      const { code, err } = await clsort(['gen', '--count', '4000', '-o', path(name), ...more]);
      t.is(code, 0, err);
      const { buffer, byteOffset, length } = readFileSync(path(name));
      return [...new Floats(buffer.slice(byteOffset, byteOffset + length))];
    };
    const unit = await make();
    t.true(unit.every((key) => key >= 0 && key < 1));
    t.true(Math.abs(unit.reduce((a, b) => a + b, 0) / 4000 - 0.5) < 0.05);
    t.true(new Set(unit).size > 3900);
    const any = await make('--distribution', 'random-bits');
    t.true(
      any.some((key) => Math.abs(key) > 1e30) && any.some((key) => key < 0),
      'all exponents, both signs',
    );
  }
});

test('demo prints 32 keys, the sorted keys and the times', async (t) => {
  const { code, out, err } = await clsort(['demo', '--device', 'cpu']);
  t.is(code, 0, err);
  const lines = out.trimEnd().split('\n');
  const drawn = lines[0]?.split('\t').map(Number) ?? [];
  t.is(drawn.length, 32);
  t.true(drawn.every((key) => key >= 0 && key < 1000));
  t.deepEqual(
    lines[1]?.split('\t').map(Number),
    drawn.toSorted((a, b) => a - b),
  );
  t.regex(lines[2] ?? '', /^device\t.* from array to array; amd on /);
  t.regex(lines[3] ?? '', /^host\t.*; 32 keys, seed \d+$/);
  const times = [...out.matchAll(/^(?:device|host)\t.*$/gm)].length;
  t.is(times, 2);
  t.true(lines.length === 4 || /^note\t.*--count 2\^24$/.test(lines[4] ?? ''), out);
  const json = JSON.parse(
    (await clsort(['demo', '--seed', '7', '--count', '100', '--json', '--device', 'cpu'])).out,
  );
  t.is(json.n, 100);
  t.true(json.host.seconds > 0 && json.device.seconds > 0);
});
