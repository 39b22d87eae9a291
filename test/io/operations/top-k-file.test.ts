import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import test from 'ava';
import { npyHeader } from '../../../src/io/formats/npy-header.js';
import { generate } from '../../../src/io/operations/gen.js';
import { type TopKJob, topKFile } from '../../../src/io/operations/top-k-file.js';
import { DTYPES, dtypeInfo } from '../../../src/keys/dtype.js';
import { UsageError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';
import { pick, referenceArgsort } from '../../reference.js';
import { hostSorter } from '../host-sorter.js';

const { path, remove } = scratchFolder();
test.after.always(remove);
const sorter = hostSorter(test);

const topK = (job: Omit<TopKJob, 'memory'> & { memory?: number }, stdin: Readable = Readable.from([])) => {
  const context = { stdin, stdout: new PassThrough().resume(), signal: new AbortController().signal };
  return topKFile(sorter(), { memory: 2 ** 28, ...job }, context);
};

for (const dtype of DTYPES) {
  test(`${dtype}: top-k keys and positions are correct at both ends, with NaNs first or last, in one group and in many`, async (t) => {
    const keyBytes = dtypeInfo(dtype).bytes;
    const special = generate({ dtype, count: 400, distribution: 'special', seed: 3 });
    const few = generate({ dtype, count: 400, distribution: 'and3', seed: 4 });
    const keys = Buffer.concat([special.subarray(0, 150 * keyBytes), few, special.subarray(150 * keyBytes)]);
    const [from, to] = [path(`in.${dtype}`), path(`${dtype}.out`)];
    writeFileSync(from, keys);
    for (const largest of [true, false]) {
      for (const nan of ['last', 'first'] as const) {
        const order = referenceArgsort(keys, dtype, { descending: largest, nan });
        for (const [k, memory] of [
          [1, 2 ** 20],
          [30, 12 * (keyBytes + 8) * 37],
          [5000, 2 ** 20],
        ] as const) {
          const job = { in: [from], out: to, k, memory, largest, nan, dtype, to: 'raw' };
          const report = await topK(job);
          const first = order.slice(0, k);
          t.deepEqual(report, { n: 800, written: first.length, dtype, formats: ['raw', 'raw'] });
          t.true(readFileSync(to).equals(pick(keys, keyBytes, first)), `${k} ${largest} ${nan}`);
          await topK({ ...job, argsort: true });
          t.true(
            readFileSync(to).equals(Buffer.from(Uint32Array.from(first).buffer)),
            `at ${k} ${largest} ${nan}`,
          );
        }
      }
    }
  });
}

test('positions count through files, a pipe and a matrix, and k of zero writes nothing', async (t) => {
  writeFileSync(path('a.i16'), Int16Array.of(5, -1, 9));
  writeFileSync(
    path('m.npy'),
    Buffer.concat([npyHeader('i16', [2, 2]), Buffer.from(Int16Array.of(9, 2, 7, 0).buffer)]),
  );
  const inputs = { in: [path('a.i16'), '-', path('m.npy')], dtype: 'i16', k: 4, argsort: true };
  const pipe = (): Readable => Readable.from([Buffer.from(Int16Array.of(10, 1).buffer)]);
  await topK({ ...inputs, out: path('order.npy') }, pipe());
  t.true(
    readFileSync(path('order.npy')).equals(
      Buffer.concat([npyHeader('u32', [4]), Buffer.from(Uint32Array.of(3, 2, 5, 7).buffer)]),
    ),
  );
  t.like(await topK({ ...inputs, k: 0, out: path('none.npy') }, pipe()), { n: 9, written: 0 });
  writeFileSync(path('empty.f32'), '');
  t.like(await topK({ in: [path('empty.f32')], k: 9, out: path('empty.out') }), { n: 0, written: 0 });
  t.is(readFileSync(path('empty.out')).length, 0);
});

test('top-k by a bit window takes the first of equal keys', async (t) => {
  const keys = generate({ dtype: 'u32', count: 500, distribution: 'uniform', seed: 8 });
  writeFileSync(path('bits.u32'), keys);
  const order = referenceArgsort(keys, 'u32', { bits: [3, 6], descending: true });
  const job = { in: [path('bits.u32')], out: path('bits.out'), k: 90, argsort: true, memory: 12 * 12 * 100 };
  await topK({ ...job, bits: [3, 6] });
  t.deepEqual([...new Uint32Array(new Uint8Array(readFileSync(job.out)).buffer)], order.slice(0, 90));
});

test('a k beyond the number of keys takes memory for the keys alone, from files and pipes', async (t) => {
  const keys = Uint32Array.from({ length: 1000 }, (_, i) => (i * 7919) % 1000);
  writeFileSync(path('few.u32'), keys);
  const memory = 12 * 12 * 1000;
  const sorted = Buffer.from(keys.toSorted((a, b) => b - a).buffer);
  for (const k of [1001, 1e9, Number.MAX_SAFE_INTEGER]) {
    const job = { out: path('few.out'), k, dtype: 'u32', to: 'raw', memory } as const;
    t.is((await topK({ ...job, in: [path('few.u32')] })).written, 1000);
    t.true(readFileSync(path('few.out')).equals(sorted));
    const pipe = Readable.from([Buffer.from(keys.buffer)]);
    t.is((await topK({ ...job, in: ['-'] }, pipe)).written, 1000);
    t.true(readFileSync(path('few.out')).equals(sorted));
    const longer = Readable.from([Buffer.from(keys.buffer), Buffer.alloc(4)]);
    await t.throwsAsync(topK({ ...job, in: ['-'] }, longer), { instanceOf: UsageError, message: /--memory/ });
  }
});

test('too little memory, an invalid k and an output that replaces the input are rejected', async (t) => {
  writeFileSync(path('x.u32'), Uint32Array.of(2, 1));
  const job = { in: [path('x.u32')], out: path('never'), k: 1000 };
  writeFileSync(path('thousand.u32'), new Uint32Array(1000));
  const much = { ...job, in: [path('thousand.u32')] };
  const little = await t.throwsAsync(topK({ ...much, memory: 20_000 }), { instanceOf: UsageError });
  t.is(little.details.least, 144_000);
  for (const k of [-1, 0.5, Number.NaN]) await t.throwsAsync(topK({ ...job, k }), { instanceOf: UsageError });
  const same = { ...job, out: path('x.u32'), argsort: true };
  await t.throwsAsync(topK(same), {
    instanceOf: UsageError,
    message: /cannot write positions to .*: the job uses that file/,
  });
  t.false(existsSync(job.out));
  t.is(readFileSync(path('x.u32')).length, 8);
});
