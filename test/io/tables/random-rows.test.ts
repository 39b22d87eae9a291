import { readFileSync, writeFileSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import test from 'ava';
import { npyHeader } from '../../../src/io/formats/npy-header.js';
import { generate } from '../../../src/io/operations/gen.js';
import { type SampleJob, sampleFile } from '../../../src/io/tables/sample.js';
import { type ShuffleJob, shuffleFile } from '../../../src/io/tables/shuffle.js';
import { DTYPES, dtypeInfo } from '../../../src/keys/dtype.js';
import { FormatError, UsageError } from '../../../src/util/errors.js';
import { Random } from '../../../src/util/random.js';
import { scratchFolder } from '../../cli/cli.js';
import { pick } from '../../reference.js';
import { nowhere } from '../context.js';
import { hostSorter } from '../host-sorter.js';

const { path, folder, remove } = scratchFolder();
test.after.always(remove);
const sorter = hostSorter(test);

const contextOf = (input: Uint8Array | undefined) => ({
  ...nowhere,
  stdin: Readable.from(input ? [input] : []),
  stdout: new PassThrough().resume(),
  signal: new AbortController().signal,
});
const shuffle = (job: ShuffleJob, input?: Uint8Array) => shuffleFile(sorter(), job, contextOf(input));
const sample = (job: SampleJob, input?: Uint8Array) => sampleFile(sorter(), job, contextOf(input));

/** The random numbers of rows. */
function numbersOf(n: number, seed: bigint): bigint[] {
  const random = new Random(seed);
  return Array.from({ length: n }, () => {
    const high = BigInt(random.u32());
    return (high << 32n) | BigInt(random.u32());
  });
}

/** The positions of a shuffle, by plain JavaScript. */
function orderOf(n: number, seed: bigint): number[] {
  const numbers = numbersOf(n, seed);
  const compare = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);
  return numbers
    .map((_, i) => i)
    .sort((a, b) => compare(numbers[a] as bigint, numbers[b] as bigint) || a - b);
}

const sampleOf = (n: number, seed: bigint, count: number): number[] =>
  orderOf(n, seed)
    .slice(0, count)
    .sort((a, b) => a - b);

for (const dtype of DTYPES) {
  test(`${dtype}: shuffles and samples of keys are those of plain JavaScript, of files and pipes`, async (t) => {
    const { bytes } = dtypeInfo(dtype);
    const keys = generate({ dtype, count: 1001, distribution: 'special', seed: 31 });
    const [from, out] = [path(`in.${dtype}`), path(`out.${dtype}`)];
    writeFileSync(from, keys);
    const job = { in: [from], out, seed: 9n };
    const shuffled = { n: 1001, formats: ['raw', 'raw'], noun: `${dtype} keys` };
    t.deepEqual(await shuffle(job), shuffled as never);
    t.deepEqual(readFileSync(out), Buffer.from(pick(keys, bytes, orderOf(1001, 9n))));
    t.deepEqual(await shuffle({ ...job, in: ['-'], dtype }, keys), shuffled as never);
    t.deepEqual(readFileSync(out), Buffer.from(pick(keys, bytes, orderOf(1001, 9n))));
    for (const count of [0, 1, 100, 500, 1001, 5000]) {
      t.like(await sample({ ...job, count }), { n: 1001, written: Math.min(count, 1001) });
      t.deepEqual(readFileSync(out), Buffer.from(pick(keys, bytes, sampleOf(1001, 9n, count))), `${count}`);
    }
    for (const [numerator, denominator] of [
      [0n, 1n],
      [1n, 10n],
      [1n, 1n],
    ] as const) {
      const isIn = (number: bigint): boolean => number * denominator < numerator * 2n ** 64n;
      const expected = numbersOf(1001, 9n).flatMap((number, i) => (isIn(number) ? [i] : []));
      const { written } = await sample(
        { ...job, in: ['-'], dtype, fraction: { numerator, denominator } },
        keys,
      );
      t.is(written, expected.length);
      t.deepEqual(readFileSync(out), Buffer.from(pick(keys, bytes, expected)));
    }
  });
}

const COUNT = 300;
const records = Array.from(
  { length: COUNT },
  (_, i) => `${i},"a ""b"",${i}\nc",${i % 7 === 0 ? '' : i / 4}\n`,
);
const CSV = `id,text,price\n${records.join('')}`;
writeFileSync(path('t.csv'), CSV);

test('the rows of CSV stay as they are, under their header, of a file, a pipe and a compressed file', async (t) => {
  const expected = `id,text,price\n${orderOf(COUNT, 4n)
    .map((i) => records[i])
    .join('')}`;
  writeFileSync(path('t.csv.gz'), gzipSync(CSV));
  for (const [job, input] of [
    [{ in: [path('t.csv')] }, undefined],
    [{ in: ['-'], format: 'csv' }, Buffer.from(CSV)],
    [{ in: [path('t.csv.gz')] }, undefined],
  ] as const) {
    t.deepEqual(await shuffle({ ...job, out: path('s.csv'), seed: 4n }, input), {
      ...{ n: COUNT, formats: ['csv', 'csv'], noun: 'rows' },
    });
    t.is(readFileSync(path('s.csv'), 'utf8'), expected);
    await sample({ ...job, out: path('some.csv.gz'), seed: 4n, count: 20 }, input);
    const some = sampleOf(COUNT, 4n, 20).map((i) => records[i]);
    t.is(gunzipSync(readFileSync(path('some.csv.gz'))).toString(), `id,text,price\n${some.join('')}`);
  }
});

test('tables of all formats have the same order, and one column is read as keys', async (t) => {
  const idsOf = (text: string): number[] =>
    text
      .trim()
      .split('\n')
      .map((line) => Number(/"id":(\d+)/.exec(line)?.[1]));
  for (const name of ['t.parquet', 't.arrow', 't.ndjson']) {
    // Converted in order: a fraction of 1 selects all rows.
    await sample({
      in: [path('t.csv')],
      out: path(name),
      seed: 1n,
      fraction: { numerator: 1n, denominator: 1n },
    });
    await shuffle({ in: [path(name)], out: path('s.ndjson'), seed: 6n });
    t.deepEqual(idsOf(readFileSync(path('s.ndjson'), 'utf8')), orderOf(COUNT, 6n), name);
    await shuffle({ in: [path(name)], out: path(`s-${name}`), seed: 6n });
    await sample({ in: [path(`s-${name}`), path(name)], out: path('s.ndjson'), seed: 2n, count: 50 });
    const both = [...orderOf(COUNT, 6n), ...Array.from({ length: COUNT }, (_, i) => i)];
    t.deepEqual(
      idsOf(readFileSync(path('s.ndjson'), 'utf8')),
      sampleOf(2 * COUNT, 2n, 50).map((i) => both[i] as number),
      name,
    );
  }
  const report = await shuffle({ in: [path('t.parquet')], column: 'id', out: path('ids.i64'), seed: 6n });
  t.is(report.noun, 'i64 keys');
  const ids = new BigInt64Array(new Uint8Array(readFileSync(path('ids.i64'))).buffer);
  t.deepEqual([...ids].map(Number), orderOf(COUNT, 6n));
});

test('lines end with their terminator, and rows of a matrix stay together', async (t) => {
  const lines = ['b', '', 'a', 'a', 'ü x'];
  for (const [terminator, end] of [
    [0x0a, '\n'],
    [0, '\0'],
  ] as const) {
    const job = { in: ['-'], out: path('out.txt'), seed: 3n, terminator };
    const text = Buffer.from(lines.join(end)); // the last line is not terminated
    t.like(await shuffle(job, text), { n: 5, noun: 'lines', formats: ['lines', 'lines'] });
    t.is(
      readFileSync(path('out.txt'), 'utf8'),
      orderOf(5, 3n)
        .map((i) => lines[i] + end)
        .join(''),
    );
    await sample({ ...job, count: 2 }, text);
    t.is(
      readFileSync(path('out.txt'), 'utf8'),
      sampleOf(5, 3n, 2)
        .map((i) => lines[i] + end)
        .join(''),
    );
  }
  const rows = Uint16Array.from({ length: 60 }, (_, i) => i);
  writeFileSync(path('m.npy'), Buffer.concat([npyHeader('u16', [20, 3]), Buffer.from(rows.buffer)]));
  t.like(await shuffle({ in: [path('m.npy')], out: path('s.npy'), seed: 3n }), {
    n: 20,
    noun: 'rows of 3 u16 keys',
  });
  const expected = Buffer.concat([
    npyHeader('u16', [20, 3]),
    pick(Buffer.from(rows.buffer), 6, orderOf(20, 3n)),
  ]);
  t.deepEqual(readFileSync(path('s.npy')), expected);
});

test('inputs without rows give outputs without rows', async (t) => {
  writeFileSync(path('none.csv'), 'id,price\n');
  for (const [job, input, expected] of [
    [{ in: ['-'], dtype: 'f64' }, new Uint8Array(0), ''],
    [{ in: ['-'], terminator: 0x0a }, new Uint8Array(0), ''],
    [{ in: [path('none.csv')] }, undefined, 'id,price\n'],
  ] as const) {
    for (const run of [
      () => shuffle({ ...job, out: path('none'), seed: 1n }, input),
      () => sample({ ...job, out: path('none'), seed: 1n, count: 3 }, input),
      () =>
        sample({ ...job, out: path('none'), seed: 1n, fraction: { numerator: 1n, denominator: 2n } }, input),
    ]) {
      t.is((await run()).n, 0);
      t.is(readFileSync(path('none'), 'utf8'), expected);
    }
  }
});

test('the result does not depend on the memory limit, and a sample that exceeds it raises an error', async (t) => {
  const count = 500_000;
  const keys = generate({ dtype: 'u64', count, distribution: 'uniform', seed: 8 });
  writeFileSync(path('large.u64'), keys);
  const job = { in: [path('large.u64')], out: path('large.out'), to: 'raw', seed: 77n, tmp: folder };
  const { runs = 0, spilledBytes = 0 } = await shuffle({ ...job, memory: 2 ** 24 });
  t.true(runs > 1 && spilledBytes >= keys.length);
  const spilled = readFileSync(path('large.out'));
  t.false('runs' in (await shuffle(job)));
  t.true(readFileSync(path('large.out')).equals(spilled));
  t.true(spilled.equals(pick(keys, 8, orderOf(count, 77n))));
  await sample({ ...job, count: 1000, memory: 2 ** 24 });
  t.true(readFileSync(path('large.out')).equals(pick(keys, 8, sampleOf(count, 77n, 1000))));
  const before = readFileSync(path('large.out'));
  const error = await t.throwsAsync(sample({ ...job, count: 400_000, memory: 2 ** 24 }), {
    instanceOf: UsageError,
  });
  t.regex(
    error.message,
    /cannot sample 400000 rows with 16777216 bytes of memory: it takes at least \d+\. Use --memory/,
  );
  t.true(readFileSync(path('large.out')).equals(before));
});

test('every order and every sample is equally likely', async (t) => {
  const rounds = 2400;
  const orders = new Map<string, number>();
  const samples = new Map<string, number>();
  for (let seed = 0; seed < rounds; seed++) {
    const [shuffled, some] = [orderOf(4, BigInt(seed)).join(), sampleOf(4, BigInt(seed), 2).join()];
    orders.set(shuffled, (orders.get(shuffled) ?? 0) + 1);
    samples.set(some, (samples.get(some) ?? 0) + 1);
  }
  // The 99.9 % quantiles of the chi-squared distribution with 23 and 5 degrees of freedom.
  for (const [found, size, most] of [
    [orders, 24, 49.7],
    [samples, 6, 20.5],
  ] as const) {
    t.is(found.size, size);
    const expected = rounds / size;
    const chi = [...found.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    t.true(chi < most, `${chi}`);
  }
});

test('invalid jobs raise errors, and the output stays', async (t) => {
  writeFileSync(path('out.csv'), 'before');
  writeFileSync(path('broken.parquet'), 'PAR1 but nothing else');
  writeFileSync(path('other.csv'), 'id\n1\n');
  const half = { numerator: 1n, denominator: 2n };
  for (const [job, type, message] of [
    [{ in: [path('t.csv')], dtype: 'u32' }, UsageError, /it is a table. Omit --dtype, or pass --column/],
    [{ in: [path('t.csv'), path('other.csv')] }, UsageError, /they differ in format or columns/],
    [{ in: [path('t.csv'), path('in.u32')] }, UsageError, /one is a table/],
    [{ in: [path('broken.parquet')] }, FormatError, /broken.parquet/],
    [{ in: [path('t.csv')], to: 'npy' }, UsageError, /as a table/],
  ] as const) {
    for (const run of [
      () => shuffle({ ...job, out: path('out.csv'), seed: 1n }),
      () => sample({ ...job, out: path('out.csv'), seed: 1n, count: 1 }),
    ]) {
      const error = await t.throwsAsync(run(), { instanceOf: type });
      t.regex(error.message, message);
    }
  }
  const job = { in: [path('t.csv')], out: path('out.csv'), seed: 1n };
  for (const size of [{}, { count: 1, fraction: half }, { count: -1 }, { count: 1.5 }]) {
    await t.throwsAsync(sample({ ...job, ...size }), { instanceOf: UsageError });
  }
  t.is(readFileSync(path('out.csv'), 'utf8'), 'before');
});
