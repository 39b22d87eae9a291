import { PassThrough, Readable } from 'node:stream';
import test from 'ava';
import type { Job } from '../../src/batch/jobs.js';
import { readManifest, type WrongLine } from '../../src/batch/stream.js';
import { IoError, UsageError } from '../../src/util/errors.js';

const facts = { name: 'stdin', folder: '/data' };
const read = (text: string) => readManifest(Readable.from([text]), facts);

async function all(jobs: Awaited<ReturnType<typeof read>>['jobs']): Promise<(Job | WrongLine)[]> {
  const list: (Job | WrongLine)[] = [];
  for await (const job of jobs) list.push(job);
  return list;
}

test('a streamed line is a job as soon as it arrives', async (t) => {
  const stream = new PassThrough();
  stream.write('{"defaults": {"dtype": "u8"}, "devices": ["host"]}\n{"in": "a", "out": "b"}\n');
  const { devices, jobs } = await readManifest(stream, facts);
  t.deepEqual(devices, ['host']);
  const coming = (jobs as AsyncIterable<Job>)[Symbol.asyncIterator]();
  t.like((await coming.next()).value, { in: '/data/a', out: '/data/b', dtype: 'u8' });
  stream.write('{"in": "c", "out": "d", "dtype": "f64"}\n');
  t.like((await coming.next()).value, { in: '/data/c', dtype: 'f64' });
  stream.end();
  t.true((await coming.next()).done);
});

test('an invalid line raises an error and the other lines are still read', async (t) => {
  const { jobs } = await read(
    '{"in": "a", "out": "b"}\nnonsense\n\n{"in": "c", "out": "b"}\n{"in": "b", "out": "e"}\n{"in": "f", "out": "g"}',
  );
  const list = await all(jobs);
  t.deepEqual(
    list.map((one) => ('error' in one ? one.line : one.name)),
    ['a', 'line 2', 'c', 'b', 'f'],
  );
  const errors = list.flatMap((one) => ('error' in one ? one.error.message : []));
  t.regex(errors[0] ?? '', /^cannot run stdin:2: expected an object for jobs\[1\] but got "nonsense"/);
  t.regex(errors[1] ?? '', /cannot write jobs\[2\]\.out: it is also the output of jobs\[0\]/);
  t.regex(errors[2] ?? '', /cannot write jobs\[0\]\.out: it is the input of jobs\[3\]/);
});

test('any input other than JSON lines is read as a whole', async (t) => {
  for (const text of [
    '{"jobs": [{"in": "a", "out": "b"}]}',
    '[\n{"in": "a", "out": "b"}\n]',
    'jobs:\n- in: a\n  out: b\n',
  ]) {
    const { jobs } = await read(text);
    t.true(Array.isArray(jobs), text);
    t.is((await all(jobs)).length, 1);
  }
  await t.throwsAsync(read(''), { instanceOf: UsageError });
  await t.throwsAsync(read('{"defaults": {"dtpye": 1}}\n{"in": "a", "out": "b"}\n'), {
    message: /dtpye: there is no such field/,
  });
});

test('the first line may have a byte order mark or contain only the schema', async (t) => {
  for (const head of [
    '\ufeff{"in": "a", "out": "b"}',
    '{"schema": "clsort.batch/1"}\n{"in": "a", "out": "b"}',
  ]) {
    const { jobs } = await read(`${head}\n{"in": "c", "out": "d"}\n`);
    t.false(Array.isArray(jobs));
    t.deepEqual(
      (await all(jobs)).map((one) => ('error' in one ? one.error.message : one.name)),
      ['a', 'c'],
    );
  }
});

test('a failing stream raises an IoError, and stop destroys the stream', async (t) => {
  const broken = () =>
    new Readable({
      read() {
        this.destroy(Object.assign(new Error('EISDIR'), { code: 'EISDIR' }));
      },
    });
  await t.throwsAsync(readManifest(broken(), facts), {
    instanceOf: IoError,
    message: 'cannot read stdin: it is a directory',
  });
  const stream = new PassThrough();
  stream.write('{"in": "a", "out": "b"}\n');
  const { jobs, stop } = await readManifest(stream, facts);
  const coming = (jobs as AsyncIterable<Job>)[Symbol.asyncIterator]();
  t.like((await coming.next()).value, { in: '/data/a' });
  const next = coming.next();
  stop?.();
  t.true((await next).done);
  t.true(stream.destroyed);
});
