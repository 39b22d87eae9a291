import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import ava from 'ava';
import { generate } from '../../src/io/gen.js';
import { DTYPES } from '../../src/keys/dtype.js';
import { referenceArgsort, referenceSort } from '../reference.js';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes

const { path, folder, remove } = scratchFolder();
ava.after.always(remove);

const keys = generate({ dtype: 'u32', count: 5000, distribution: 'uniform', seed: 7 });
writeFileSync(path('in.u32'), keys);
const sorted = Buffer.from(referenceSort(keys, 'u32'));

/** Names of files written aside that were left. */
const leftovers = (): string[] => readdirSync(folder).filter((name) => name.endsWith('.tmp'));

for (const device of ['host', 'auto']) {
  test(`device ${device}: sorts a file, verifies it and says so in the last line`, async (t) => {
    const out = path(`${device}.u32`);
    const ran = await clsort([
      'sort',
      path('in.u32'),
      '-o',
      out,
      '--dtype',
      'u32',
      '--device',
      device,
      '--verify',
    ]);
    t.is(ran.code, 0, ran.err);
    t.deepEqual(readFileSync(out), sorted);
    t.is(ran.out.trim().split('\n').at(-1), 'verified: order right, permutation right');
    t.regex(ran.out, /5,000 u32 keys, ascending/);
    t.regex(ran.out, /^stage +launches +ms +share +rate$/m);
  });
}

test('sorts every dtype, descending with NaNs first', async (t) => {
  for (const dtype of DTYPES) {
    const input = generate({ dtype, count: 1000, distribution: 'special', seed: 3 });
    const args = [
      'sort',
      '-',
      '-o',
      '-',
      '--dtype',
      dtype,
      '--descending',
      '--nan',
      'first',
      '--device',
      'host',
    ];
    const ran = await clsort(args, { input });
    t.is(ran.code, 0, ran.err);
    t.deepEqual(
      ran.stdout,
      Buffer.from(referenceSort(input, dtype, { descending: true, nan: 'first' })),
      dtype,
    );
  }
});

test('reads stdin and writes stdout: keys on stdout, report on stderr', async (t) => {
  const ran = await clsort(['sort', '-', '--out', '-', '--dtype', 'u32', '--device', 'host'], {
    input: keys,
  });
  t.is(ran.code, 0, ran.err);
  t.deepEqual(ran.stdout, sorted);
  t.regex(ran.err, /5,000 u32 keys/);
});

test('--argsort writes u32 positions', async (t) => {
  const out = path('order.u32');
  const ran = await clsort([
    'sort',
    path('in.u32'),
    '-o',
    out,
    '--dtype',
    'u32',
    '--argsort',
    '--descending',
  ]);
  t.is(ran.code, 0, ran.err);
  const bytes = readFileSync(out);
  const positions = new Uint32Array(bytes.buffer, bytes.byteOffset, 5000);
  t.deepEqual([...positions], referenceArgsort(keys, 'u32', { descending: true }));
});

test('--bits sorts by a window of the code', async (t) => {
  const out = path('window.u32');
  const ran = await clsort(['sort', path('in.u32'), '-o', out, '--dtype', 'u32', '--bits', '8:16']);
  t.is(ran.code, 0, ran.err);
  t.deepEqual(readFileSync(out), Buffer.from(referenceSort(keys, 'u32', { bits: [8, 16] })));
});

test('--radix-bits sets the width of the digits, or says which there are', async (t) => {
  const out = path('digits.u32');
  const sort = (...more: string[]) => clsort(['sort', path('in.u32'), '-o', out, '--dtype', 'u32', ...more]);
  for (const [algorithm, kernel, widths] of [
    ['tiled', 'tiled_downsweep', [1, 2, 3, 4, 8]],
    ['serial', 'serial_scatter', [8, 11]],
  ] as const) {
    for (const bits of widths) {
      const ran = await sort('--algorithm', algorithm, '--radix-bits', `${bits}`, '--json');
      t.is(ran.code, 0, ran.err);
      t.deepEqual(readFileSync(out), sorted);
      const stages: { stage: string; launches: number }[] = JSON.parse(ran.out).stages;
      t.is(stages.find(({ stage }) => stage === kernel)?.launches, Math.ceil(32 / bits));
    }
  }
  const refused = await sort('--algorithm', 'tiled', '--radix-bits', '11');
  t.is(refused.code, 2);
  t.regex(refused.err, /1 to 8 bits, not 11/);
});

test('--json has the fields that scripts rely on', async (t) => {
  const args = ['sort', path('in.u32'), '-o', path('json.u32'), '--dtype', 'u32', '--verify', '--json'];
  const ran = await clsort([...args, '--algorithm', 'amd', '--scan', '3']);
  t.is(ran.code, 0, ran.err);
  const report = JSON.parse(ran.out);
  t.is(report.schema, 'clsort.sort/1');
  t.is(report.n, 5000);
  t.is(report.dtype, 'u32');
  t.is(report.algorithm, 'amd');
  t.is(report.scan, 3);
  t.deepEqual(report.verified, { order: true, permutation: true });
  t.is(typeof report.device.name, 'string');
  t.is(typeof report.device.type, 'string');
  t.true(report.seconds > 0);
  const histogram = report.stages.find(({ stage }: { stage: string }) => stage === 'histogram');
  t.is(histogram.launches, 4);
});

test('what does not apply is null in --json', async (t) => {
  const args = [
    'sort',
    path('in.u32'),
    '-o',
    path('null.u32'),
    '--dtype',
    'u32',
    '--device',
    'host',
    '--json',
  ];
  const report = JSON.parse((await clsort(args)).out);
  t.is(report.scan, null);
  t.is(report.verified, null);
  t.is(report.device.type, 'host');
});

test('replaces an existing output, keeps its mode, and follows a link to it', async (t) => {
  const out = path('existing.u32');
  writeFileSync(out, 'before');
  chmodSync(out, 0o640);
  symlinkSync(out, path('link.u32'));
  const ran = await clsort([
    'sort',
    path('in.u32'),
    '-o',
    path('link.u32'),
    '--dtype',
    'u32',
    '--device',
    'host',
  ]);
  t.is(ran.code, 0, ran.err);
  t.deepEqual(readFileSync(out), sorted);
  t.is(statSync(out).mode & 0o777, 0o640);
});

test('sorts a file onto itself, but never replaces keys by their positions', async (t) => {
  const file = path('self.u32');
  writeFileSync(file, keys);
  const refused = await clsort(['sort', file, '-o', file, '--dtype', 'u32', '--argsort']);
  t.is(refused.code, 2);
  t.deepEqual(readFileSync(file), Buffer.from(keys));
  t.is((await clsort(['sort', file, '-o', file, '--dtype', 'u32', '--device', 'host'])).code, 0);
  t.deepEqual(readFileSync(file), sorted);
});

test('sorts an empty file', async (t) => {
  writeFileSync(path('empty'), '');
  const ran = await clsort(['sort', path('empty'), '-o', path('empty.out'), '--dtype', 'f64', '--verify']);
  t.is(ran.code, 0, ran.err);
  t.is(statSync(path('empty.out')).size, 0);
});

const bad = (title: string, code: number, message: RegExp, args: () => string[], input?: Uint8Array) =>
  test(`${title}: exit code ${code}, and the output is left as it was`, async (t) => {
    const out = path(`bad-${t.title.replaceAll(/\W/g, '-')}`);
    writeFileSync(out, 'before');
    const ran = await clsort(['sort', ...args(), ...(args().includes('-o') ? [] : ['-o', out])], {
      ...(input && { input }),
    });
    t.is(ran.code, code, ran.err);
    t.regex(ran.err, message);
    t.is(ran.out, '');
    t.is(readFileSync(out, 'utf8'), 'before');
    t.deepEqual(leftovers(), []);
  });

bad('a missing file', 5, /cannot read .*missing: there is no such file/, () => [
  path('missing'),
  '--dtype',
  'u32',
]);
bad('an empty name', 5, /cannot read ''/, () => ['', '--dtype', 'u32']);
bad('a folder', 5, /is a directory/, () => [folder, '--dtype', 'u32']);
bad('a length that is no multiple of the element size', 5, /odd has 3 bytes.*elements of 4 bytes/, () => {
  writeFileSync(path('odd'), 'abc');
  return [path('odd'), '--dtype', 'u32'];
});
bad('an odd length on stdin', 5, /stdin has 3 bytes/, () => ['-', '--dtype', 'u16'], Buffer.from('abc'));
bad('an unknown dtype', 2, /unknown dtype 'u33'.*u8 i8/, () => [path('in.u32'), '--dtype', 'u33']);
bad('no dtype', 2, /dtype/, () => [path('in.u32')]);
bad('an unwritable output', 5, /cannot write .*folder does not exist/, () => [
  ...[path('in.u32'), '--dtype', 'u32'],
  ...['-o', path('no/such/folder')],
]);
bad('a folder as output', 5, /cannot write .*directory/, () => {
  mkdirSync(path('folder'), { recursive: true });
  return [path('in.u32'), '--dtype', 'u32', '-o', path('folder')];
});
bad('an unknown device', 3, /no OpenCL device matches 'nonesuch'/, () => [
  ...[path('in.u32'), '--dtype', 'u32'],
  ...['--device', 'nonesuch'],
]);
bad('an empty device', 2, /device/, () => [path('in.u32'), '--dtype', 'u32', '--device', '']);
bad('an unknown option', 2, /did you mean '--descending'/, () => [
  ...[path('in.u32'), '--dtype', 'u32'],
  '--descnding',
]);
bad('an unknown algorithm', 2, /unknown algorithm 'quick'/, () => [
  ...[path('in.u32'), '--dtype', 'u32'],
  ...['--algorithm', 'quick'],
]);
bad('a window beyond the key', 2, /32 bits/, () => [path('in.u32'), '--dtype', 'u32', '--bits', '0:33']);
bad('a window that is none', 2, /expected A:B/, () => [path('in.u32'), '--dtype', 'u32', '--bits', '7']);

test('an interruption ends with 130 and leaves nothing behind', async (t) => {
  const out = path('interrupted.u32');
  const ran = await clsort(['sort', '-', '-o', out, '--dtype', 'u32', '--device', 'host'], {
    input: 'open',
    onStart: (child) => {
      // It has its output open by now and waits for stdin.
      const poll = setInterval(() => {
        if (leftovers().length === 0) return;
        clearInterval(poll);
        child.kill('SIGINT');
      }, 20);
    },
  });
  t.is(ran.code, 130, ran.err);
  t.deepEqual(leftovers(), []);
  t.throws(() => statSync(out), { code: 'ENOENT' });
});
