import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import test from 'ava';
import type { FileContext } from '../../../src/io/file-sort/file-job.js';
import { sortRecordFile } from '../../../src/io/file-sort/sort-record-file.js';
import { Sorter } from '../../../src/sort/api/sorter.js';
import { IoError, MismatchError, UnsupportedError } from '../../../src/util/errors.js';
import { Random } from '../../../src/util/random.js';
import { scratchFolder } from '../../cli/cli.js';
import { pick } from '../../reference.js';
import { referencePositions } from '../record-reference.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

const context: FileContext = {
  stdin: Readable.from([]),
  stdout: new PassThrough(),
  signal: new AbortController().signal,
};

let sorter: Sorter;
test.before(async () => {
  sorter = await Sorter.open({ device: 'host' });
});
test.after.always(() => sorter.close());

test('records above the piece size are gathered and written piece by piece', async (t) => {
  const record = 5000; // pieces of 16 MiB hold 3355 of them
  const bytes = new Random(2).bytes(record * 16).slice();
  const many = Buffer.concat(Array(250).fill(bytes));
  writeFileSync(path('many.dat'), many);
  const job = {
    in: path('many.dat'),
    out: path('many.sorted'),
    record,
    keys: ['17:u32be:desc'],
    verify: true,
  };
  const report = await sortRecordFile(sorter, job, context);
  t.deepEqual(report.verified, { order: true, permutation: true });
  t.deepEqual(report.records, { record, keys: ['17:u32be:desc'] });
  t.is(report.n, 4000);
  const positions = referencePositions(many, record, [
    { offset: 17, dtype: 'u32', endian: 'be', descending: true },
  ]);
  t.true(readFileSync(path('many.sorted')).equals(pick(many, record, positions)));
});

test('a wrong result fails verification, and nothing is written', async (t) => {
  const bytes = new Random(3).bytes(400);
  writeFileSync(path('a.dat'), bytes);
  const job = { in: path('a.dat'), out: path('a.sorted'), record: 10, keys: ['0:8'], verify: true };
  for (const [wrong, found] of [
    [(n: number) => Uint32Array.from({ length: n }, (_, i) => i), { order: false, permutation: true }],
    [(n: number) => new Uint32Array(n), { order: true, permutation: false }],
  ] as const) {
    const broken = { argsort: async (keys: BigUint64Array) => wrong(keys.length) } as unknown as Sorter;
    const error = await t.throwsAsync(sortRecordFile(broken, job, context), { instanceOf: MismatchError });
    t.deepEqual(error.details, found);
    t.false(existsSync(path('a.sorted')));
  }
});

test('2^32 records and more are refused before they are read', async (t) => {
  writeFileSync(path('huge.dat'), '');
  truncateSync(path('huge.dat'), 2 ** 32); // without disk blocks
  const job = { in: path('huge.dat'), out: path('huge.sorted'), record: 1, keys: ['0:1'] };
  await t.throwsAsync(sortRecordFile(sorter, job, context), {
    instanceOf: UnsupportedError,
    message: /cannot sort 4294967296 records in memory: .* at most 4294967295 records/,
  });
  t.false(existsSync(path('huge.sorted')));
});

test('a file length that is not a multiple of the record is an error with both numbers', async (t) => {
  writeFileSync(path('odd.dat'), new Uint8Array(1050));
  const job = { in: path('odd.dat'), out: path('odd.sorted'), record: 100, keys: ['0:1'] };
  await t.throwsAsync(sortRecordFile(sorter, job, context), {
    instanceOf: IoError,
    message: /elements of 100 bytes: 50 of its 1050 bytes are left over/,
  });
});

test('an external argsort of records equals the argsort in memory', async (t) => {
  const record = 13;
  const n = 260_001;
  const random = new Random(11);
  const all = random.bytes(record * n).slice();
  for (let i = 0; i < n; i += 3) all.fill(7, i * record, i * record + 12); // many are equal in all keys
  writeFileSync(path('positions.dat'), all);
  for (const keys of [
    ['0:1'],
    ['2:10'],
    ['1:f64:desc', '0:u8'],
    ['3:i16be', '0:3', '5:u64be:desc'],
    ['0:13'],
  ]) {
    const job = { in: path('positions.dat'), out: path('positions.u32'), record, keys, argsort: true };
    await sortRecordFile(sorter, job, context);
    const wanted = readFileSync(job.out);
    const large = { ...job, memory: 2 ** 24, verify: true };
    const report = await sortRecordFile(sorter, large, context);
    t.true(readFileSync(job.out).equals(wanted), keys.join());
    t.deepEqual(report.verified, { order: true, permutation: true });
    t.deepEqual([report.n, report.argsort, report.shape], [n, true, [n]]);
    t.true((report.external?.partitions ?? 0) > 1);
    if (keys.length < 3) continue; // codes of other lengths do not affect the result
    const wide = await sortRecordFile(sorter, { ...large, wideFrom: n, out: path('positions.u64') }, context);
    t.is(wide.n, n);
    const words = new BigUint64Array(readFileSync(path('positions.u64')).buffer.slice(0));
    t.true(Buffer.from(Uint32Array.from(words, Number).buffer).equals(wanted));
    const stdin = Readable.from([all.subarray(0, 1001), all.subarray(1001)]);
    await sortRecordFile(sorter, { ...large, in: '-' }, { ...context, stdin });
    t.true(readFileSync(job.out).equals(wanted), `${keys.join()} from a pipe`);
  }
});
