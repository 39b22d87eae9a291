import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import test from 'ava';
import type { FileContext } from '../../../src/io/file-sort/file-job.js';
import { type MergeJob, type MergeReport, mergeFiles } from '../../../src/io/merge/merge-files.js';
import { generate } from '../../../src/io/operations/gen.js';
import { parseRecordKey } from '../../../src/io/records/record-keys.js';
import { DTYPES, type Dtype, dtypeInfo } from '../../../src/keys/dtype.js';
import { DtypeError, InputError, UsageError } from '../../../src/util/errors.js';
import { Random } from '../../../src/util/random.js';
import { scratchFolder } from '../../cli/cli.js';
import { pick, type ReferenceOrder, referenceSort } from '../../reference.js';
import { hostSorter } from '../host-sorter.js';
import { referencePositions } from '../record-reference.js';

const { path, remove } = scratchFolder();
test.after.always(remove);
const sorter = hostSorter(test);

const context = (stdin: Readable = Readable.from([])): FileContext => ({
  stdin,
  stdout: new PassThrough().resume(),
  signal: new AbortController().signal,
});

/** Memory so small that windows of small files have only a few keys. */
const memoryFor = (inputs: number, keyBytes: number, recordCount = 7): number =>
  inputs * recordCount * keyBytes * 8;

const merge = (job: Omit<MergeJob, 'memory'> & { memory?: number }, stdin?: Readable): Promise<MergeReport> =>
  mergeFiles(sorter(), { memory: 2 ** 28, ...job }, context(stdin));

/** Keys with many equal ones, and special values. */
function keysOf(dtype: Dtype, count: number, seed: number): Uint8Array {
  const special = generate({ dtype, count, distribution: 'special', seed });
  const few = generate({ dtype, count, distribution: 'and3', seed });
  return Buffer.concat([special, few]).subarray(0, count * dtypeInfo(dtype).bytes);
}

/** Writes sorted files. */
function sortedFiles(dtype: Dtype, counts: readonly number[], order: ReferenceOrder, name: string) {
  const parts = counts.map((count, i) => referenceSort(keysOf(dtype, count, i + 1), dtype, order));
  const paths = parts.map((part, i) => {
    writeFileSync(path(`${name}${i}.${dtype}`), part);
    return path(`${name}${i}.${dtype}`);
  });
  return { paths, all: referenceSort(Buffer.concat(parts), dtype, order) };
}

for (const dtype of DTYPES) {
  test(`${dtype}: files are merged in both directions, with NaNs first or last, in windows of a few keys`, async (t) => {
    const keyBytes = dtypeInfo(dtype).bytes;
    for (const order of [
      {},
      { descending: true },
      { nan: 'first' },
      { descending: true, nan: 'first' },
    ] as const) {
      const name = `${dtype}-${JSON.stringify(order).replaceAll(/\W/g, '')}-`;
      const { paths, all } = sortedFiles(dtype, [300, 0, 1, 170, 300], order, name);
      const out = path(`${name}out.${dtype}`);
      for (const memory of [2 ** 28, memoryFor(5, keyBytes)]) {
        const report = await merge({ in: paths, out, memory, ...order });
        t.true(readFileSync(out).equals(all), `${name} ${memory}`);
        t.deepEqual(report, { n: 771, written: 771, recordCount: `${dtype} keys`, formats: ['raw', 'raw'] });
      }
    }
  });
}

test('a hundred files, one file and files without keys are merged', async (t) => {
  const many = sortedFiles(
    'i16',
    Array.from({ length: 100 }, (_, i) => i * 3),
    {},
    'many',
  );
  await merge({ in: many.paths, out: path('many.i16'), memory: memoryFor(100, 2) });
  t.true(readFileSync(path('many.i16')).equals(many.all));
  const one = sortedFiles('f32', [1000], {}, 'one');
  await merge({ in: one.paths, out: path('one.f32'), memory: memoryFor(1, 4) });
  t.true(readFileSync(path('one.f32')).equals(one.all));
  const none = sortedFiles('f32', [0, 0], {}, 'none');
  t.like(await merge({ in: none.paths, out: path('none.f32') }), { n: 0, written: 0 });
  t.is(readFileSync(path('none.f32')).length, 0);
});

test('a merge by a bit window keeps equal keys in the order of the files', async (t) => {
  const order = { bits: [4, 9] as const };
  const parts = [1, 2, 3].map((seed) => referenceSort(keysOf('u16', 400, seed), 'u16', order));
  for (const [i, part] of parts.entries()) writeFileSync(path(`bits${i}.u16`), part);
  const out = path('bits.u16');
  const inputs = [0, 1, 2].map((i) => path(`bits${i}.u16`));
  await merge({ in: inputs, out, ...order, memory: memoryFor(3, 2) });
  t.true(readFileSync(out).equals(referenceSort(Buffer.concat(parts), 'u16', order)));
});

const RECORD = 20;
const KEYS = ['3:2:desc', '8:f32'];

/** Sorted files of records with their origin in the first two bytes. */
function recordFiles(files: number, count: number) {
  const keys = KEYS.map(parseRecordKey);
  const parts = Array.from({ length: files }, (_, file) => {
    const bytes = new Random(file + 5)
      .bytes(RECORD * count)
      .map((byte, i) => (i % RECORD < 12 ? byte & 1 : byte));
    for (let i = 0; i < count; i++) bytes.set([file, i], i * RECORD);
    const part = pick(bytes, RECORD, referencePositions(bytes, RECORD, keys));
    writeFileSync(path(`records${file}.dat`), part);
    return part;
  });
  const all = Buffer.concat(parts);
  const paths = parts.map((_, file) => path(`records${file}.dat`));
  return { paths, sorted: pick(all, RECORD, referencePositions(all, RECORD, keys)), keys };
}

test('a merge of records by two keys keeps equal records in the order of the files', async (t) => {
  const { paths, sorted } = recordFiles(6, 150);
  const records = { record: RECORD, keys: KEYS };
  const out = path('records.out');
  for (const memory of [2 ** 28, 6 * 5 * RECORD * 30]) {
    const report = await merge({ in: paths, out, records, memory });
    t.true(readFileSync(out).equals(sorted));
    t.is(report.n, 900);
  }
});

test('a unique merge writes the first of equal keys or records, with counts', async (t) => {
  const order = {} as const;
  const { paths, all } = sortedFiles('f64', [300, 200, 1], order, 'distinct');
  const numbers = new Float64Array(new Uint8Array(all).buffer);
  // An independent reference: runs of equal numbers, with all NaNs equal.
  const runs: { first: number; count: number }[] = [];
  numbers.forEach((number, i) => {
    const last = runs.at(-1);
    const before = last && (numbers[last.first] as number);
    const isLike = last && (number === before || (Number.isNaN(number) && Number.isNaN(before)));
    if (last && isLike) last.count++;
    else runs.push({ first: i, count: 1 });
  });
  for (const memory of [2 ** 28, memoryFor(3, 8)]) {
    const job = { in: paths, out: path('distinct.f64'), unique: true, counts: path('counts.npy'), memory };
    const report = await merge(job);
    t.like(report, { n: 501, written: runs.length });
    t.true(
      readFileSync(job.out).equals(
        pick(
          all,
          8,
          runs.map(({ first }) => first),
        ),
      ),
    );
    const counts = readFileSync(job.counts);
    const words = new BigUint64Array(new Uint8Array(counts.subarray(-8 * runs.length)).buffer);
    t.deepEqual(
      [...words],
      runs.map(({ count }) => BigInt(count)),
    );
    t.regex(counts.toString('latin1'), new RegExp(`'<u8'.*\\(${runs.length},\\)`));
  }
  const { paths: files, sorted, keys } = recordFiles(3, 100);
  const records = { record: RECORD, keys: KEYS };
  await merge({ in: files, out: path('one-each.dat'), records, unique: true, memory: 3 * 5 * RECORD * 30 });
  const positions = Array.from({ length: 300 }, (_, i) => i).filter((i) => {
    if (i === 0) return true;
    const two = sorted.slice((i - 1) * RECORD, (i + 1) * RECORD);
    const turned = Buffer.concat([two.subarray(RECORD), two.subarray(0, RECORD)]);
    return referencePositions(turned, RECORD, keys)[0] !== 0; // the second one does not come first, though equal
  });
  t.true(readFileSync(path('one-each.dat')).equals(pick(sorted, RECORD, positions)));
});

test('an unsorted input is refused with its name and the position', async (t) => {
  const { paths } = sortedFiles('i32', [500, 500], {}, 'bad');
  const good = readFileSync(paths[1] ?? '');
  for (const at of [1, 250, 499]) {
    const bad = Buffer.from(good);
    bad.writeInt32LE(-(2 ** 31), 4 * at);
    if (bad.readInt32LE(4 * (at - 1)) === -(2 ** 31)) bad.writeInt32LE(5, 4 * (at - 1));
    writeFileSync(path('fall.i32'), bad);
    for (const memory of [2 ** 28, memoryFor(2, 4)]) {
      const error = await t.throwsAsync(
        merge({ in: [paths[0] ?? '', path('fall.i32')], out: path('never.i32'), memory }),
        { instanceOf: InputError, message: /cannot merge .*fall\.i32: it is not in the order of the merge/ },
      );
      const found = error.details.at as number;
      t.true(bad.readInt32LE(4 * found) < bad.readInt32LE(4 * (found - 1)));
      t.true(found <= at);
      t.false(existsSync(path('never.i32')));
    }
  }
  const wrong = { in: paths, out: path('never.i32'), descending: true };
  await t.throwsAsync(merge(wrong), { instanceOf: InputError, message: /pass the options of its order/ });
  const { paths: files } = recordFiles(2, 20);
  const records = { record: RECORD, keys: ['2:8', '0:1'] };
  await t.throwsAsync(merge({ in: files, out: path('never.dat'), records }), {
    instanceOf: InputError,
    message: /records0\.dat: .*by 2:8, 0:1/,
  });
  t.false(existsSync(path('never.dat')));
});

test('of several unsorted inputs, the first is named, also if it is slow', async (t) => {
  const { paths, all } = sortedFiles('u32', [300, 300], {}, 'slow');
  const backwards = Buffer.from(all).reverse();
  writeFileSync(paths[1] ?? '', backwards);
  const late = async function* () {
    await setTimeout(50);
    yield backwards;
  };
  const job = {
    in: ['-', paths[1] ?? ''],
    out: path('never.u32'),
    dtype: 'u32',
    memory: memoryFor(2, 4),
  } as const;
  await t.throwsAsync(merge(job, Readable.from(late())), {
    instanceOf: InputError,
    message: /cannot merge stdin/,
  });
  t.false(existsSync(path('never.u32')));
});

test('a pipe is merged with a file, and an unsorted pipe is refused', async (t) => {
  const { paths, all } = sortedFiles('u32', [400, 300], {}, 'piped');
  const bytes = readFileSync(paths[1] ?? '');
  const chunks = Array.from({ length: 41 }, (_, i) => bytes.subarray(i * 30, (i + 1) * 30));
  const job = { in: [paths[0] ?? '', '-'], out: path('piped.u32'), dtype: 'u32', memory: memoryFor(2, 4) };
  await merge(job, Readable.from(chunks));
  t.true(readFileSync(path('piped.u32')).equals(all));
  await t.throwsAsync(merge(job, Readable.from([Buffer.from(bytes).reverse()])), {
    instanceOf: InputError,
    message: /cannot merge stdin/,
  });
});

test('different dtypes, too little memory, counts without unique and two pipes are rejected', async (t) => {
  writeFileSync(path('x.u8'), Buffer.from([1]));
  writeFileSync(path('x.u16'), Buffer.from([1, 0]));
  const out = path('never');
  const both = [path('x.u8'), path('x.u16')];
  await t.throwsAsync(merge({ in: both, out }), { instanceOf: DtypeError });
  const little = await t.throwsAsync(merge({ in: [path('x.u8')], out, memory: 31 }), {
    instanceOf: UsageError,
  });
  t.is(little.details.least, 32);
  const counts = path('counts.u64');
  await t.throwsAsync(merge({ in: [path('x.u8')], out, counts }), {
    instanceOf: UsageError,
    message: /--unique/,
  });
  const same = { in: [path('x.u8')], out, unique: true, counts: path('x.u8') };
  await t.throwsAsync(merge(same), { instanceOf: UsageError, message: /the job uses that file/ });
  await t.throwsAsync(merge({ in: ['-', '-'], out, dtype: 'u8' }), { instanceOf: UsageError });
  const records = { record: 2, keys: ['0:1'] };
  await t.throwsAsync(merge({ in: ['-', '-'], out, records }), { instanceOf: UsageError });
  t.false(existsSync(out));
});
