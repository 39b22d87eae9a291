import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import test from 'ava';
import type { LargeFileJob } from '../../../src/io/file-sort/file-job.js';
import { sortFile } from '../../../src/io/file-sort/sort-file.js';
import { sortPairsFile } from '../../../src/io/file-sort/sort-pairs-file.js';
import { type LargeRecordJob, sortRecordFile } from '../../../src/io/file-sort/sort-record-file.js';
import { npyHeader } from '../../../src/io/formats/npy-header.js';
import { mergeFiles } from '../../../src/io/merge/merge-files.js';
import { generate } from '../../../src/io/operations/gen.js';
import { parseRecordKey } from '../../../src/io/records/record-keys.js';
import { dtypeInfo } from '../../../src/keys/dtype.js';
import { keyValue } from '../../../src/keys/value.js';
import { UsageError } from '../../../src/util/errors.js';
import { Random } from '../../../src/util/random.js';
import { scratchFolder } from '../../cli/cli.js';
import { patterns, pick, referenceSort } from '../../reference.js';
import { hostSorter } from '../host-sorter.js';
import { compareRecords, referencePositions } from '../record-reference.js';

const { path, remove } = scratchFolder();
test.after.always(remove);
const sorter = hostSorter(test);

const context = (stdin: Readable = Readable.from([])) => ({
  stdin,
  stdout: new PassThrough().resume(),
  signal: new AbortController().signal,
});
const sort = (job: LargeFileJob, stdin?: Readable) => sortFile(sorter(), job, context(stdin));
const sortRecords = (job: LargeRecordJob) => sortRecordFile(sorter(), job, context());

/** Start positions of runs of equal keys, and their lengths. */
function runsOf(n: number, areEqual: (i: number) => boolean): { firsts: number[]; counts: bigint[] } {
  const firsts = Array.from({ length: n }, (_, i) => i).filter((i) => i === 0 || !areEqual(i));
  return { firsts, counts: firsts.map((first, i) => BigInt((firsts[i + 1] ?? n) - first)) };
}

const wordsOf = (name: string): bigint[] => [
  ...new BigUint64Array(new Uint8Array(readFileSync(name)).buffer),
];

for (const dtype of ['u8', 'f16', 'bf16', 'i32', 'u64', 'f64'] as const) {
  test(`${dtype}: distinct keys are written with counts, in memory, in partitions and from a pipe`, async (t) => {
    const info = dtypeInfo(dtype);
    const special = generate({ dtype, count: 3000, distribution: 'special', seed: 3 });
    const keys = Buffer.concat([special, generate({ dtype, count: 3000, distribution: 'uniform', seed: 4 })]);
    const many = Buffer.concat(Array(500).fill(keys)); // for most dtypes more than fits into the minimum memory
    for (const order of [{}, { descending: true, nan: 'first' }] as const) {
      const sorted = referenceSort(keys, dtype, order);
      const numbers = patterns(sorted, dtype).map((bits) => keyValue(bits, info));
      const { firsts, counts } = runsOf(numbers.length, (i) => {
        const [a, b] = [numbers[i - 1], numbers[i]];
        return a === b || (Number.isNaN(a) && Number.isNaN(b));
      });
      const expected = pick(sorted, info.bytes, firsts);
      for (const [bytes, times, piped] of [
        [keys, 1n, false],
        [many, 500n, false],
        [many, 500n, true],
      ] as const) {
        const out = path(`${dtype}.out`);
        const from = piped ? '-' : path(`in.${dtype}`);
        if (!piped) writeFileSync(from, bytes);
        const job = { in: from, out, unique: true, counts: path(`${dtype}.counts`), dtype, to: 'raw' };
        const pieces = Array.from({ length: 100 }, (_, i) =>
          bytes.subarray((i * bytes.length) / 100, ((i + 1) * bytes.length) / 100),
        );
        const large = { memory: 2 ** 24, verify: true };
        const report = await sort({ ...job, ...order, ...large }, piped ? Readable.from(pieces) : undefined);
        t.deepEqual(
          [report.n, report.distinct, report.shape],
          [bytes.length / info.bytes, firsts.length, [firsts.length]],
        );
        t.deepEqual(report.verified, { order: true, permutation: true });
        t.true(readFileSync(out).equals(expected), `${bytes.length} ${piped}`);
        t.deepEqual(
          wordsOf(job.counts),
          counts.map((count) => count * times),
        );
        t.is(report.external !== undefined, bytes === many && bytes.length > 2 ** 24 / (piped ? 4.2 : 3.2));
      }
    }
  });
}

test('keys that occur more than once are written with their counts, in memory and in partitions', async (t) => {
  const random = new Random(46);
  for (const [n, limit] of [
    [5000, 4096],
    [2 ** 23, 2 ** 22],
  ] as const) {
    const keys = Uint32Array.from({ length: n }, () => random.u32() % limit);
    writeFileSync(path('in.u32'), keys);
    keys.sort();
    const { firsts, counts } = runsOf(n, (i) => keys[i] === keys[i - 1]);
    const several = firsts.map((_, i) => i).filter((i) => (counts[i] as bigint) > 1n);
    t.true(several.length < firsts.length);
    const [out, memory] = [path('several.u32'), 2 ** 24];
    const job = { in: path('in.u32'), out, unique: true, duplicatesOnly: true, counts: path('several.u64') };
    const report = await sort({ ...job, memory });
    t.is(report.distinct, several.length);
    t.is(report.external !== undefined, n > memory / 4);
    const expected = Uint32Array.from(several, (i) => keys[firsts[i] as number] as number);
    t.true(readFileSync(out).equals(Buffer.from(expected.buffer)), `${n} keys`);
    const found = BigUint64Array.from(several, (i) => counts[i] as bigint);
    t.true(readFileSync(job.counts).equals(Buffer.from(found.buffer)), `counts of ${n} keys`);
  }
  const record = {
    in: path('in.dat'),
    out: path('out.dat'),
    record: 4,
    keys: ['0:2'],
    unique: true,
  } as const;
  writeFileSync(record.in, 'aab1aac2bbd3bbe4bbf5cc66dd77dd88');
  t.is((await sortRecords({ ...record, duplicatesOnly: true })).distinct, 3);
  t.is(readFileSync(record.out, 'utf8'), 'aab1bbd3dd77');
});

test('the first of records with equal keys is written with its count, in memory and externally', async (t) => {
  const record = 12;
  const texts = ['1:2', '4:u16:desc', '6:3'];
  const keys = texts.map(parseRecordKey);
  const few = new Random(9).bytes(record * 2000).map((byte, i) => (i % record < 11 ? byte & 1 : byte));
  const large = Buffer.concat(Array(120).fill(few));
  for (const bytes of [few, large]) {
    writeFileSync(path('in.dat'), bytes);
    const sorted = pick(few, record, referencePositions(few, record, keys));
    const { firsts, counts } = runsOf(2000, (i) => compareRecords(sorted, record, keys, i - 1, i) === 0);
    const out = path('out.dat');
    const job = { in: path('in.dat'), out, record, keys: texts, unique: true, counts: path('counts.u64') };
    const report = await sortRecords({ ...job, memory: 2 ** 24, verify: true });
    t.true(readFileSync(out).equals(pick(sorted, record, firsts)));
    const times = BigInt(bytes.length / few.length);
    t.deepEqual(
      wordsOf(job.counts),
      counts.map((count) => count * times),
    );
    t.is(report.distinct, firsts.length);
    t.deepEqual(report.verified, { order: true, permutation: true });
  }
});

test('distinct keys of a matrix, by a bit window and of an empty file are written', async (t) => {
  const matrix = Buffer.concat([npyHeader('u8', [2, 3]), Buffer.from([5, 1, 5, 1, 5, 9])]);
  writeFileSync(path('m.npy'), matrix);
  await sort({ in: path('m.npy'), out: path('m.out'), unique: true, counts: path('m.npz.npy') });
  t.true(readFileSync(path('m.out')).equals(Buffer.concat([npyHeader('u8', [3]), Buffer.from([1, 5, 9])])));
  writeFileSync(path('bits.u8'), Buffer.from([0x31, 0x25, 0x11, 0x20]));
  await sort({ in: path('bits.u8'), out: path('bits.out'), unique: true, bits: [0, 4] });
  t.deepEqual([...readFileSync(path('bits.out'))], [0x20, 0x31, 0x25]);
  writeFileSync(path('none.f64'), '');
  const none = await sort({
    in: path('none.f64'),
    out: path('none.out'),
    unique: true,
    counts: path('none.u64'),
  });
  t.is(none.distinct, 0);
  t.is(readFileSync(path('none.out')).length + readFileSync(path('none.u64')).length, 0);
});

test('positions of distinct keys, counts and duplicates without unique and counts that replace a file are refused', async (t) => {
  writeFileSync(path('x.u8'), Buffer.from([1, 1]));
  const job = { in: path('x.u8'), out: path('never') };
  for (const [more, message] of [
    [{ unique: true, argsort: true }, /positions are distinct/],
    [{ counts: path('counts.u64') }, /--unique/],
    [{ duplicatesOnly: true }, /cannot write duplicates only/],
    [{ unique: true, counts: path('x.u8') }, /cannot write counts/],
    [{ unique: true, counts: path('never') }, /cannot write counts/],
    [{ unique: true, counts: '-' }, /expected the path of a file for counts but got "-"/],
  ] as const) {
    await t.throwsAsync(sort({ ...job, ...more }), { instanceOf: UsageError, message });
    const records = { ...job, record: 1, keys: ['0:1'], ...more };
    await t.throwsAsync(sortRecords(records), { instanceOf: UsageError, message });
  }
  t.false(existsSync(path('never')));
  t.deepEqual([...readFileSync(path('x.u8'))], [1, 1]);
});

test('two outputs under different names of one file are refused, also when the file does not exist', async (t) => {
  mkdirSync(path('folder'));
  symlinkSync('folder', path('linked'));
  symlinkSync('folder/none', path('dangling'));
  writeFileSync(path('x.u8'), Buffer.from([1, 1]));
  const keys = { in: path('x.u8'), dtype: 'u8', format: 'raw', to: 'raw' };
  const out = path('folder/none');
  const names = [
    `${path('folder')}/./none`,
    `${path('folder')}//none`,
    `${path('folder')}/../folder/none`,
    relative('.', out),
    path('linked/none'),
    `${path('linked')}/../folder/none`,
    path('dangling'),
  ];
  for (const other of names) {
    for (const [a, b] of [
      [out, other],
      [other, out],
    ] as const) {
      const refused = { instanceOf: UsageError, message: /the job uses that file for other data/ };
      await t.throwsAsync(sort({ ...keys, unique: true, out: a, counts: b }), refused, other);
      const records = { in: path('x.u8'), record: 1, keys: ['0:1'], unique: true, out: a, counts: b };
      await t.throwsAsync(sortRecords(records), refused, other);
      const pairs = { ...keys, values: path('x.u8'), out: a, valuesOut: b };
      await t.throwsAsync(sortPairsFile(sorter(), pairs, context()), refused, other);
      const inputs = { ...keys, in: [path('x.u8')], unique: true, memory: 2 ** 20, out: a, counts: b };
      await t.throwsAsync(mergeFiles(sorter(), inputs, context()), refused, other);
    }
  }
  t.false(existsSync(out));
  const apart = { ...keys, unique: true, out, counts: path('linked/counts.u64') };
  t.is((await sort(apart)).distinct, 1);
  t.deepEqual([...readFileSync(out)], [1]);
});
