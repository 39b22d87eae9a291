import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import test from 'ava';
import { generate } from '../../../src/io/operations/gen.js';
import { combineFiles, type SetJob, type SetOperation } from '../../../src/io/operations/set-files.js';
import { DTYPES, type Dtype, dtypeInfo } from '../../../src/keys/dtype.js';
import { DtypeError, IoError, UsageError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';
import { canonicalPatterns, pick, type ReferenceOrder, referenceArgsort } from '../../reference.js';
import { hostSorter } from '../host-sorter.js';

const { path, remove } = scratchFolder();
test.after.always(remove);
const sorter = hostSorter(test);

const combine = (job: Omit<SetJob, 'memory'> & { memory?: number }, stdin: Readable = Readable.from([])) => {
  const context = { stdin, stdout: new PassThrough().resume(), signal: new AbortController().signal };
  return combineFiles(sorter(), { memory: 2 ** 28, ...job }, context);
};

const IS_IN = {
  intersect: (a: boolean, b: boolean) => a && b,
  union: (a: boolean, b: boolean) => a || b,
  difference: (a: boolean, b: boolean) => a && !b,
  setXor: (a: boolean, b: boolean) => a !== b,
} as const;
const OPERATIONS = Object.keys(IS_IN) as SetOperation[];

/** The first of each group of equal keys of both files, where the operation selects the group, in order. */
function expected(
  operation: SetOperation,
  [a, b]: readonly Uint8Array[],
  dtype: Dtype,
  order: ReferenceOrder,
) {
  const both = Buffer.concat([a as Uint8Array, b as Uint8Array]);
  const { bytes } = dtypeInfo(dtype);
  const inA = (a as Uint8Array).length / bytes;
  const groups = new Map<bigint, number[]>();
  const numbers = canonicalPatterns(both, dtype);
  for (const [i, number] of numbers.entries()) groups.set(number, [...(groups.get(number) ?? []), i]);
  const firsts = referenceArgsort(both, dtype, order).filter((i) => {
    const group = groups.get(numbers[i] as bigint) as number[];
    const [hasA, hasB] = [group.some((k) => k < inA), group.some((k) => k >= inA)];
    return group[0] === i && IS_IN[operation](hasA, hasB);
  });
  return pick(both, bytes, firsts);
}

for (const dtype of DTYPES) {
  test(`${dtype}: each operation selects the distinct keys, in either order, with NaNs first or last`, async (t) => {
    const { bytes } = dtypeInfo(dtype);
    const special = generate({ dtype, count: 300, distribution: 'special', seed: 5 });
    const few = generate({ dtype, count: 500, distribution: 'and3', seed: 6 });
    const files = [
      Buffer.concat([special.subarray(0, 200 * bytes), few]),
      Buffer.concat([few.subarray(100 * bytes), special.subarray(100 * bytes)]),
      Buffer.alloc(0),
    ];
    for (const [i, file] of files.entries()) writeFileSync(path(`${i}.${dtype}`), file);
    for (const [a, b] of [
      [0, 1],
      [1, 0],
      [0, 2],
      [2, 0],
      [2, 2],
    ] as const) {
      for (const order of [{}, { descending: true }, { nan: 'first' }] as ReferenceOrder[]) {
        for (const operation of OPERATIONS) {
          const out = path(`out-${a}-${b}.${dtype}`);
          const inputs = [path(`${a}.${dtype}`), path(`${b}.${dtype}`)] as const;
          const report = await combine({ operation, in: inputs, out, ...order, verify: a + b === 1 });
          const wanted = expected(operation, [files[a] as Buffer, files[b] as Buffer], dtype, order);
          const n = [a, b].map((i) => (files[i] as Buffer).length / bytes);
          t.deepEqual(report, { n, written: wanted.length / bytes, dtype, formats: ['raw', 'raw'] } as never);
          t.true(readFileSync(out).equals(wanted), `${operation} ${a} ${b} ${JSON.stringify(order)}`);
        }
      }
    }
  });
}

test('the files may be text, a pipe and a column of a table, and the result has the format of its name', async (t) => {
  writeFileSync(path('a.csv'), 'id,x\n7,1\n3,1\n7,2\n-1,0\n');
  const pipe = Readable.from([Buffer.from(Float64Array.of(3, 9, -1, 3).buffer)]);
  const job = { in: [path('a.csv'), '-'], column: 'id', dtype: 'f64', out: path('both.f64') } as const;
  await t.throwsAsync(combine({ ...job, operation: 'intersect' }, pipe)); // a pipe of bytes is no table
  writeFileSync(path('b.ndjson'), '{"id":3}\n{"id":9}\n{"id":-1}\n');
  const files = { ...job, in: [path('a.csv'), path('b.ndjson')] } as const;
  const report = await combine({ ...files, operation: 'intersect' });
  t.deepEqual(report, { n: [4, 3], written: 2, dtype: 'f64', formats: ['csv', 'raw'] });
  t.deepEqual([...new Float64Array(new Uint8Array(readFileSync(path('both.f64'))).buffer)], [-1, 3]);
  await combine({ ...files, operation: 'setXor', out: path('x.csv') });
  t.is(readFileSync(path('x.csv'), 'utf8'), 'id\n7.0\n9.0\n');
});

test('too little memory, different dtypes and a missing file are errors, and nothing is written', async (t) => {
  writeFileSync(path('thousand.u32'), new Uint32Array(1000));
  writeFileSync(path('one.i32'), new Int32Array(1));
  const job = { operation: 'union', out: path('never.u32'), dtype: undefined } as const;
  const [many, other] = [path('thousand.u32'), path('one.i32')];
  const little = await t.throwsAsync(combine({ ...job, in: [many, many], memory: 60_000 }), {
    instanceOf: UsageError,
    message: /cannot compute union of 2000 keys or more with 60000 bytes of memory.* Use --memory/,
  });
  t.is(little.details.least, 64_000);
  for (const bytes of [8000, 4004]) {
    // 32 bytes for each key: 1000 are in the file, and 1000 or one come through the pipe
    const pipe = Readable.from([Buffer.alloc(bytes - 4000)]);
    const limited = { ...job, in: [many, '-'], dtype: 'u32', memory: 8 * bytes } as const;
    t.is((await combine({ ...limited, out: path('fits.u32') }, pipe)).n[1], bytes / 4 - 1000);
    const longer = Readable.from([Buffer.alloc(bytes - 4000), Buffer.alloc(4)]);
    await t.throwsAsync(combine(limited, longer), { instanceOf: UsageError, message: /--memory/ });
  }
  await t.throwsAsync(combine({ ...job, in: [many, other] }), {
    instanceOf: DtypeError,
    message: /cannot combine .*different dtypes \(u32 and i32\)/,
  });
  await t.throwsAsync(combine({ ...job, in: [many, path('missing.u32')] }), { instanceOf: IoError });
  t.false(existsSync(job.out));
});
