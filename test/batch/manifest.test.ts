import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import test from 'ava';
import { parseManifest } from '../../src/batch/manifest.js';
import { UsageError } from '../../src/util/errors.js';

const parse = (value: unknown) =>
  parseManifest(JSON.stringify(value), { name: 'jobs.json', folder: '/data' });
const job = { in: 'a.u32', out: 'a.sorted', dtype: 'u32' };

const refused = (title: string, value: unknown, message: RegExp) =>
  test(`the manifest parser rejects ${title}`, async (t) => {
    const error = await t.throwsAsync(() => parse(value), { instanceOf: UsageError });
    t.regex(error?.message ?? '', message);
    t.regex(error?.message ?? '', /^cannot \w+ jobs\.json/);
  });

test('a manifest may be a list of jobs, whose files are relative to its folder', async (t) => {
  const { jobs, devices } = await parse([job, { ...job, in: '/b', out: '../c', name: 'second' }]);
  t.deepEqual(devices, []);
  t.deepEqual(jobs, [
    { name: 'a.u32', in: '/data/a.u32', out: '/data/a.sorted', dtype: 'u32' },
    { name: 'second', in: '/b', out: '/c', dtype: 'u32' },
  ]);
});

test('a job inherits the fields that it lacks from the defaults', async (t) => {
  const { jobs, devices } = await parse({
    schema: 'clsort.batch/1',
    devices: ['gpu', 'cpu'],
    defaults: { dtype: 'f64', verify: true, nan: 'first' },
    jobs: [
      { in: 'a', out: 'b' },
      { in: 'c', out: 'd', verify: false, dtype: 'u8' },
    ],
  });
  t.deepEqual(devices, ['gpu', 'cpu']);
  t.like(jobs[0], { dtype: 'f64', verify: true, nan: 'first' });
  t.like(jobs[1], { dtype: 'u8', verify: false, nan: 'first' });
});

test('a list of inputs is one job, and templates expand to the name of the first input', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-inputs-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const name of ['b 1.u32', 'b 2.u32', 'c.u32']) writeFileSync(join(folder, name), '');
  const inFolder = (value: unknown) => parseManifest(JSON.stringify(value), { name: 'jobs.json', folder });
  const both = { in: ['a/x.u32', 'b.u32'], out: '{dir}/{name}.sorted{ext}' };
  const { jobs } = await parse([both, { ...both, out: 'c', unique: true, counts: '{name}.counts.u64' }]);
  t.deepEqual(jobs[0], {
    name: 'a/x.u32, b.u32',
    in: ['/data/a/x.u32', '/data/b.u32'],
    out: '/data/a/x.sorted.u32',
  });
  t.like(jobs[1], { out: '/data/c', counts: '/data/x.counts.u64' });
  const ofPattern = await inFolder([{ in: ['c.u32', 'b *.u32'], out: 'all.u32' }]);
  t.deepEqual(
    ofPattern.jobs.map(({ in: inputs }) => inputs),
    [['c.u32', 'b 1.u32', 'b 2.u32'].map((name) => join(folder, name))],
  );
  await t.throwsAsync(() => inFolder([{ in: ['no *', 'nor *'], out: 'x' }]), {
    message: /no file matches no \*, nor \*/,
  });
});

test('a counts file is checked as an output of its job', async (t) => {
  const errorOf = async (...jobs: readonly object[]): Promise<string> =>
    ((await t.throwsAsync(() => parse(jobs), { instanceOf: UsageError })) as Error).message;
  const counted = { in: 'a', out: 'b', dtype: 'u32', unique: true, counts: 'n' };
  t.is((await parse([counted])).jobs.length, 1);
  t.regex(
    await errorOf({ ...counted, unique: false }),
    /cannot run jobs\[0\]: counts applies to distinct keys\. Set unique/,
  );
  t.regex(
    await errorOf({ ...counted, argsort: true }),
    /cannot run jobs\[0\]: unique and argsort exclude each other/,
  );
  t.regex(
    await errorOf({ ...counted, counts: 'a' }),
    /cannot write jobs\[0\]\.counts: it is also jobs\[0\]\.in/,
  );
  t.regex(
    await errorOf({ ...counted, counts: 'b' }),
    /cannot write jobs\[0\]\.counts: it is also jobs\[0\]\.out/,
  );
  t.regex(
    await errorOf(counted, { ...job, in: 'n' }),
    /cannot write jobs\[0\].*: it is the input of jobs\[1\]/,
  );
  t.regex(
    await errorOf({ ...job, in: 'n' }, counted),
    /cannot write jobs\[1\]\.counts: it is the input of jobs\[0\]/,
  );
  t.regex(
    await errorOf({ ...job, out: 'n' }, counted),
    /cannot write jobs\[1\]\.counts: it is also the output of jobs\[0\]/,
  );
  t.regex(
    await errorOf({ in: ['a', 'b'], out: 'c', record: 8, keys: ['0:u32'] }),
    /cannot run jobs\[0\]: in is a list, and files of records are sorted one at a time/,
  );
});

test('an empty list is a batch without jobs', async (t) => {
  t.deepEqual((await parse([])).jobs, []);
});

test('one error lists all invalid fields, ten at most', async (t) => {
  const wrong = { ...job, dtype: 'u33', descending: 'yes', bits: [4, 2] };
  const error = await t.throwsAsync(() => parse([wrong]), { instanceOf: UsageError });
  t.regex(
    error?.message ?? '',
    /for jobs\[0\]\.dtype but got "u33".*jobs\[0\]\.descending.*for jobs\[0\]\.bits but got \[4,2\]/s,
  );
  const many = await t.throwsAsync(() => parse(Array(15).fill({ in: 'a', out: 'b' })), {
    instanceOf: UsageError,
  });
  t.regex(many?.message ?? '', /and \d+ more$/);
});

test('the manifest parser rejects invalid JSON', async (t) => {
  await t.throwsAsync(() => parseManifest('{', { name: 'jobs.json', folder: '/' }), {
    instanceOf: UsageError,
    message: /^cannot read jobs\.json as JSON/,
  });
});

refused('a manifest without jobs', { files: [] }, /has no jobs/);
refused('jobs that are not a list', { jobs: {} }, /expected a list of jobs for jobs but got \{\}/);
refused(
  'an unknown schema',
  { schema: 'clsort.batch/9', jobs: [] },
  /expected one of clsort\.batch\/1 for schema but got "clsort\.batch\/9"/,
);
refused('a job that is not an object', [3], /expected an object for jobs\[0\] but got 3/);
refused(
  'an unknown field',
  [{ ...job, dtpye: 'u8' }],
  /cannot use jobs\[0\]\.dtpye: there is no such field\. Did you mean "dtype"\?/,
);
refused(
  'a field named after an object property',
  [{ ...job, constructor: 1 }],
  /cannot use jobs\[0\]\.constructor: there is no such field/,
);
refused('a job without output', [{ in: 'a', dtype: 'u8' }], /cannot run jobs\[0\]: out is missing/);
refused('standard input as an input', [{ ...job, in: '-' }], /for jobs\[0\]\.in but got "-"/);
refused(
  '/dev/stdout as an output',
  [{ ...job, out: '/dev/stdout' }],
  /for jobs\[0\]\.out but got "\/dev\/stdout"/,
);
refused('a bit window wider than the key', [{ ...job, bits: [0, 33] }], /u32 keys have 32 bits/);
refused('invalid defaults', { defaults: { nan: 'middle' }, jobs: [] }, /defaults\.nan/);
refused(
  'two jobs with the same output',
  [job, { ...job, in: 'b' }],
  /cannot write jobs\[1\]\.out: it is also the output of jobs\[0\]/,
);
refused(
  'an output that another job reads',
  [job, { ...job, in: 'a.sorted', out: 'c' }],
  /input of jobs\[1\]/,
);

test('conflicts between files are found through links and for files that do not exist yet', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-jobs-'));
  const at = (name: string) => join(folder, name);
  try {
    mkdirSync(at('data'));
    symlinkSync('data', at('linked'));
    writeFileSync(at('data/a'), '');
    symlinkSync('a', at('data/also a'));
    linkSync(at('data/a'), at('hard a'));
    symlinkSync('data/not yet', at('later'));
    symlinkSync('round', at('round'));
    const errorsOf = async (...jobs: [from: string, to: string][]): Promise<string> => {
      const list = jobs.map(([from, to]) => ({ in: from, out: to, dtype: 'u8' }));
      try {
        await parseManifest(JSON.stringify(list), { name: 'jobs.json', folder });
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    };
    t.is(
      await errorsOf(['data/a', 'x'], ['data/also a', 'y'], ['hard a', 'round']),
      '',
      'several jobs may read a file',
    );
    t.is(await errorsOf(['data/a', 'data/a'], ['b', 'c']), '', 'a job may replace its own input');
    const input = /cannot write jobs\[0\]\.out( \(.+\))?: it is the input of jobs\[1\]/;
    t.regex(await errorsOf(['x', 'data/a'], ['linked/a', 'y']), input);
    t.regex(
      await errorsOf(['x', 'data/also a'], ['data/a', 'y']),
      /out \(.*also a\): it is the input of jobs\[1\]/,
    );
    t.regex(await errorsOf(['x', 'hard a'], ['data/a', 'y']), input);
    const output = /cannot write jobs\[1\]\.out( \(.+\))?: it is also the output of jobs\[0\]/;
    t.regex(await errorsOf(['x', 'data/new'], ['y', 'linked/new']), output);
    t.regex(await errorsOf(['x', 'later'], ['y', 'linked/not yet']), output);
    t.regex(await errorsOf(['x', 'nowhere/a'], ['y', 'nowhere/../nowhere/a']), output);
    t.is(await errorsOf(['x', 'data/new'], ['y', 'new']), '');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a conflict between two of 100,000 jobs is found', async (t) => {
  const jobs = Array.from({ length: 100_000 }, (_, i) => ({ in: `in/${i}`, out: `out/${i}`, dtype: 'u32' }));
  t.is((await parse(jobs)).jobs.length, jobs.length);
  jobs[99_999] = { in: 'in/0', out: 'out/0', dtype: 'u32' };
  const error = await t.throwsAsync(() => parse(jobs), { instanceOf: UsageError });
  t.regex(error?.message ?? '', /jobs\[99999\]\.out: it is also the output of jobs\[0\]/);
});

const at = async (text: string, name: string): Promise<string> => {
  try {
    await parseManifest(text, { name, folder: '/data' });
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

test('errors name file, line and column in every format', async (t) => {
  const json =
    '{\n  "jobs": [\n    { "in": "a", "out": "b" },\n    { "in": "c",\n      "nan": "middle", "out": "d" }\n  ]\n}';
  t.regex(
    await at(json, 'jobs.json'),
    /\n {2}jobs\.json:5:\d+: expected .* for jobs\[1\]\.nan but got "middle"/,
  );
  t.regex(await at('[\n{"in": "a"}]', 'jobs.json'), /jobs\.json:2:1: cannot run jobs\[0\]: out is missing/);
  t.regex(
    await at('{\n "jobs": [,]\n}', 'jobs.json'),
    /^cannot read jobs\.json as JSON: jobs\.json:2:\d+: expected a value/,
  );
  t.regex(await at('{"jobs": [', 'jobs.json'), /jobs\.json:1:11: expected a value but got the end/);
  const yaml = 'defaults:\n  dtype: u32\njobs:\n  - in: a\n    out: b\n    descending: maybe\n';
  t.regex(
    await at(yaml, 'jobs.yaml'),
    /\n {2}jobs\.yaml:6:17: expected true or false for jobs\[0\]\.descending but got "maybe"/,
  );
  t.regex(await at('jobs: [\n', 'jobs.yml'), /^cannot read jobs\.yml as YAML: jobs\.yml:\d+:\d+: /);
  const lines =
    '{"defaults": {"dtype": "u8"}}\n\n{"in": "a", "out": "b"}\n{"in": "c", "out": "d", "nan": 1}\n';
  t.regex(
    await at(lines, 'jobs.ndjson'),
    /\n {2}jobs\.ndjson:4:\d+: expected .* for jobs\[1\]\.nan but got 1/,
  );
  t.regex(await at('{"in": "a", "out": "b"}\n{"in"', 'jobs.ndjson'), /jobs\.ndjson:2:6: expected ':'/);
});

test('a batch in JSON, in YAML and in JSON lines parses to the same jobs', async (t) => {
  const defaults = { dtype: 'u32', verify: true };
  const jobs = [
    { in: 'a', out: 'b' },
    { in: 'c', out: 'd', nan: 'first' },
  ];
  const parsed = async (text: string, name: string) =>
    (await parseManifest(text, { name, folder: '/data' })).jobs;
  const wanted = await parsed(JSON.stringify({ defaults, jobs }), 'x');
  t.is(wanted.length, 2);
  t.deepEqual(
    await parsed([{ defaults }, ...jobs].map((line) => JSON.stringify(line)).join('\n'), 'x'),
    wanted,
  );
  t.deepEqual(
    await parsed(
      'defaults: { dtype: u32, verify: true }\njobs:\n- { in: a, out: b }\n- in: c\n  out: d\n  nan: first',
      'x',
    ),
    wanted,
  );
  t.deepEqual(await parsed(`\ufeff${JSON.stringify({ defaults, jobs }, null, 2)}`, 'x.json'), wanted);
});

test('patterns expand to files, templates to names, and results of an earlier run are no inputs', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-manifest-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const name of ['a.u32', 'b.f64.gz', 'literal[1].u32', 'literal1.u32', 'a.sorted.u32'])
    writeFileSync(join(folder, name), '');
  const jobs = async (...list: object[]) =>
    (await parseManifest(JSON.stringify(list), { name: 'jobs.json', folder })).jobs.map((job) => [
      job.name,
      job.out,
    ]);
  t.deepEqual(await jobs({ in: '*.u32', out: '{dir}/{name}.sorted{ext}' }), [
    ['a.u32', join(folder, 'a.sorted.u32')],
    ['literal1.u32', join(folder, 'literal1.sorted.u32')],
    ['literal[1].u32', join(folder, 'literal[1].sorted.u32')],
  ]);
  t.deepEqual(await jobs({ in: 'literal[1].u32', out: 'x' }), [['literal[1].u32', join(folder, 'x')]]);
  t.deepEqual(await jobs({ in: 'b.*', out: 'new/{name}-{name}{ext}' }), [
    ['b.f64.gz', join(folder, 'new/b-b.f64.gz')],
  ]);
  t.is((await jobs({ in: '*.u32', out: '{dir}/{name}{ext}' })).length, 4, 'each in place');
  await t.throwsAsync(jobs({ in: 'no*.u32', out: 'x' }), {
    message: /cannot read jobs\[0\]\.in: no file matches no\*\.u32/,
  });
  await t.throwsAsync(jobs({ in: '*.u32', out: 'x' }), {
    message:
      /jobs\[0\]\.out \(.*x\): it is the output of several files of jobs\[0\]\. .*as in \{name\}\{ext\}/,
  });
});

test('patterns never match outputs, counts files or the files of the batch itself', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-made-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const name of [
    'a.u32',
    'b.u32',
    'all.u32',
    'a.all.u32',
    'a.n.u64',
    'b.n.u64',
    'jobs.json',
    'report.md',
  ])
    writeFileSync(join(folder, name), '');
  const protectedFiles = [
    [join(folder, 'jobs.json'), 'the manifest'],
    [join(folder, 'report.md'), 'a report'],
  ] as const;
  const inputs = async (job: object) =>
    (await parseManifest(JSON.stringify([job]), { name: 'jobs.json', folder, protectedFiles })).jobs.map(
      ({ in: one }) => [one].flat().map((path) => basename(path)),
    );
  const all = ['a.all.u32', 'a.u32', 'b.u32'];
  t.deepEqual(
    await inputs({ in: ['*.u32'], out: 'all.u32' }),
    [all],
    'a second run adds nothing to the first',
  );
  t.deepEqual(
    await inputs({ in: ['all.u32', 'b*.u32'], out: 'all.u32' }),
    [['all.u32', 'b.u32']],
    'by its name',
  );
  t.deepEqual(await inputs({ in: ['a*.u32'], out: '{name}.all{ext}' }), [['a.u32', 'all.u32']]);
  const counted = { out: 'new/{name}', unique: true, counts: '{dir}/{name}.n.u64' };
  t.deepEqual(await inputs({ in: '{a,b}{,.n}.*', ...counted }), [['a.all.u32'], ['a.u32'], ['b.u32']]);
  await t.throwsAsync(inputs({ in: '[jr]*', out: 'new/{name}', dtype: 'u8' }), {
    message: /no file matches \[jr\]\*/,
  });
  await t.throwsAsync(inputs({ in: 'report.md', out: 'x', dtype: 'u8' }), {
    message: /cannot read jobs\[0\]\.in: it is a report of this batch/,
  });
});

test('only * ? [ ] { } are special in a pattern, and an existing folder of that name takes precedence', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-names-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'data [1] (new)/!x'), { recursive: true });
  for (const name of ['a.u32', '!b.u32', 'c (1).u32', '!x/d.u32'])
    writeFileSync(join(folder, 'data [1] (new)', name), '');
  const found = async (pattern: string, from = folder) => {
    const text = JSON.stringify([{ in: pattern, out: 'new/{name}' }]);
    return (await parseManifest(text, { name: 'jobs.json', folder: from })).jobs.map(({ name }) => name);
  };
  const within = 'data [1] (new)';
  t.deepEqual(
    await found(`${within}/*.u32`),
    ['!b.u32', 'a.u32', 'c (1).u32'].map((name) => `${within}/${name}`),
  );
  t.deepEqual(await found(join(folder, within, 'a*')), [join(folder, within, 'a.u32')]);
  t.deepEqual(await found('*(1)*.u32', join(folder, within)), ['c (1).u32']);
  t.deepEqual(await found('c \\(1\\).*', join(folder, within)), ['c (1).u32'], 'a character may be escaped');
  t.deepEqual(await found('!*.u32', join(folder, within)), ['!b.u32']);
  t.deepEqual(await found('!x/*', join(folder, within)), ['!x/d.u32']);
  t.deepEqual(await found('../*.u32', join(folder, within, '!x')), ['../!b.u32', '../a.u32', '../c (1).u32']);
});

test('impossible file names and values nested too deeply are rejected', async (t) => {
  for (const name of ['a\0b', '\ud800'])
    for (const field of ['in', 'out', 'counts', 'tmp'])
      t.regex(
        await at(JSON.stringify([{ ...job, unique: true, [field]: name }]), 'jobs.json'),
        new RegExp(`for jobs\\[0\\]\\.${field} but got `),
      );
  const deep = 100_000;
  t.regex(
    await at('['.repeat(deep), 'jobs.json'),
    /^cannot read jobs\.json as JSON: .*less deeply nested values/,
  );
  const within = `[{"in": "a", "out": "b",\n"bits": ${'['.repeat(deep)}${']'.repeat(deep)}}]`;
  t.regex(
    await at(within, 'jobs.json'),
    /\n {2}jobs\.json:2:1: expected \[begin, end\] .* for jobs\[0\]\.bits but got a value that cannot be shown/,
  );
  const long = await at(JSON.stringify([{ ...job, nan: 'x'.repeat(1e6) }]), 'jobs.json');
  t.true(long.length < 1000, 'a long value is shortened');
  t.regex(long, /expected one of first, last for jobs\[0\]\.nan but got "xxx.*…/);
});

test('a first line with jobs is a whole JSON manifest', async (t) => {
  const one = '{"devices": ["host"], "jobs": [{"in": "a", "out": "b"}]}';
  for (const name of ['jobs.ndjson', 'jobs.json', 'jobs']) {
    const { devices, jobs } = await parseManifest(`${one}\n`, { name, folder: '/data' });
    t.deepEqual(devices, ['host'], name);
    t.is(jobs.length, 1, name);
  }
  t.regex(await at(`${one}\n{"in": "c", "out": "d"}`, 'jobs.ndjson'), /jobs\.ndjson:2:1: expected the end/);
});

test('an unresolved YAML alias raises an error with its position', async (t) => {
  t.regex(
    await at('jobs:\n- in: a\n  out: *b\n', 'jobs.yaml'),
    /^cannot read jobs\.yaml as YAML: jobs\.yaml:3:8: .*b/,
  );
});

test('a job may not overwrite files of the batch, and names that the system rejects fail at run time only', async (t) => {
  const protectedFiles = [['/data/jobs.json', 'the manifest'] as const];
  const text = JSON.stringify([{ in: 'a', out: './x/../jobs.json' }]);
  await t.throwsAsync(parseManifest(text, { name: 'jobs.json', folder: '/data', protectedFiles }), {
    message: /cannot write jobs\[0\]\.out: it is the manifest of this batch/,
  });
  t.is(await at(JSON.stringify([{ in: 'x'.repeat(5000), out: '/proc/self/stat/below' }]), 'jobs.json'), '');
});
