import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import ava from 'ava';
import { generate } from '../../src/io/operations/gen.js';
import { DTYPES } from '../../src/keys/dtype.js';
import { referenceArgsort, referenceSort } from '../reference.js';
import { where } from '../where.js';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes

const { path, folder, remove } = scratchFolder();
ava.after.always(remove);

const keys = generate({ dtype: 'u32', count: 5000, distribution: 'uniform', seed: 7 });
writeFileSync(path('in.u32'), keys);
const sorted = Buffer.from(referenceSort(keys, 'u32'));

/** Names of temporary files that were left. */
const leftovers = (): string[] => readdirSync(folder).filter((name) => name.endsWith('.tmp'));

for (const device of ['host', 'auto']) {
  test(`device ${device} sorts a file and reports the verification in the last line`, async (t) => {
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
      '--report',
    ]);
    t.is(ran.code, 0, ran.err);
    t.deepEqual(readFileSync(out), sorted);
    t.is(ran.out.trim().split('\n').at(-1), 'verified: order right, permutation right');
    t.regex(ran.out, /5,000 u32 keys, ascending/);
    t.regex(ran.out, /^stage +launches +ms +share +rate$/m);
  });
}

test('sort supports every dtype, descending with NaNs first', async (t) => {
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

test('sort reads stdin, writes keys to stdout and the report to stderr', async (t) => {
  const ran = await clsort(['sort', '-', '--out', '-', '--dtype', 'u32', '--device', 'host', '--report'], {
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

test('--bits sorts by a bit window of the code', async (t) => {
  const out = path('window.u32');
  const ran = await clsort(['sort', path('in.u32'), '-o', out, '--dtype', 'u32', '--bits', '8:16']);
  t.is(ran.code, 0, ran.err);
  t.deepEqual(readFileSync(out), Buffer.from(referenceSort(keys, 'u32', { bits: [8, 16] })));
});

test('--radix-bits sets the digit width, and an invalid width is an error with the valid range', async (t) => {
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
  t.regex(refused.err, /expected a whole number from 1 to 8 for radixBits .* but got 11/);
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
  t.deepEqual(report.facts, { scan: 3, padded: 16384 });
  t.deepEqual(report.verified, { order: true, permutation: true });
  t.is(typeof report.device.name, 'string');
  t.is(typeof report.device.type, 'string');
  t.true(report.seconds > 0);
  const histogram = report.stages.find(({ stage }: { stage: string }) => stage === 'histogram');
  t.is(histogram.launches, 4);
});

test('--json reports fields that do not apply as null', async (t) => {
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
  t.is(report.facts.engine, 'addon');
  t.is(report.verified, null);
  t.is(report.device.type, 'host');
});

test('sort replaces an existing output, keeps its mode and follows a link to it', async (t) => {
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

test('sort may replace its input, but not by positions', async (t) => {
  const file = path('self.u32');
  writeFileSync(file, keys);
  const refused = await clsort(['sort', file, '-o', file, '--dtype', 'u32', '--argsort']);
  t.is(refused.code, 2);
  t.deepEqual(readFileSync(file), Buffer.from(keys));
  t.is((await clsort(['sort', file, '-o', file, '--dtype', 'u32', '--device', 'host'])).code, 0);
  t.deepEqual(readFileSync(file), sorted);
});

test('sort accepts an empty file', async (t) => {
  writeFileSync(path('empty'), '');
  const ran = await clsort(['sort', path('empty'), '-o', path('empty.out'), '--dtype', 'f64', '--verify']);
  t.is(ran.code, 0, ran.err);
  t.is(statSync(path('empty.out')).size, 0);
});

const bad = (title: string, code: number, message: RegExp, args: () => string[], input?: Uint8Array) =>
  test(`${title} ends with ${code} and leaves the output unchanged`, async (t) => {
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
bad('a folder as input', 5, /is a directory/, () => [folder, '--dtype', 'u32']);
bad(
  'a length that is not a multiple of the element size',
  5,
  /odd into elements of 4 bytes: 3 of its 3 bytes/,
  () => {
    writeFileSync(path('odd'), 'abc');
    return [path('odd'), '--dtype', 'u32'];
  },
);
bad('an odd length on stdin', 5, /1 of its 3 bytes/, () => ['-', '--dtype', 'u16'], Buffer.from('abc'));
bad('an unknown dtype', 2, /expected one of u8, i8, .* for dtype but got "u33"/, () => [
  path('in.u32'),
  '--dtype',
  'u33',
]);
bad('no dtype', 2, /Pass --dtype/, () => {
  writeFileSync(path('in.bin'), keys);
  return [path('in.bin')];
});
bad('an unwritable output', 5, /cannot write .*folder does not exist/, () => [
  ...[path('in.u32'), '--dtype', 'u32'],
  ...['-o', path('no/such/folder')],
]);
bad('a folder as output', 5, /cannot write .*directory/, () => {
  mkdirSync(path('folder'), { recursive: true });
  return [path('in.u32'), '--dtype', 'u32', '-o', path('folder')];
});
bad('an unknown device', 3, /cannot find OpenCL device 'nonesuch'/, () => [
  ...[path('in.u32'), '--dtype', 'u32'],
  ...['--device', 'nonesuch'],
]);
bad('an empty device', 2, /device/, () => [path('in.u32'), '--dtype', 'u32', '--device', '']);
bad('an unknown option', 2, /Did you mean "--descending"/, () => [
  ...[path('in.u32'), '--dtype', 'u32'],
  '--descnding',
]);
bad('an unknown algorithm', 2, /for algorithm but got "quick"/, () => [
  ...[path('in.u32'), '--dtype', 'u32'],
  ...['--algorithm', 'quick'],
]);
bad('a window beyond the key', 2, /32 bits/, () => [path('in.u32'), '--dtype', 'u32', '--bits', '0:33']);
bad('a malformed window', 2, /expected A:B/, () => [path('in.u32'), '--dtype', 'u32', '--bits', '7']);

test('a file that is not raw is refused and unchanged unless --format raw is given', async (t) => {
  const header = Buffer.from(
    "\x93NUMPY\x01\0v\0{'descr': '<f8', 'fortran_order': False, 'shape': (90,), }",
    'latin1',
  );
  const npy = Buffer.alloc(200, ' ');
  header.copy(npy);
  for (const name of ['a.npy', 'a.f64']) {
    writeFileSync(path(name), npy);
    const args = ['sort', path(name), '-o', path(name), '--dtype', 'f64', '--verify', '--device', 'host'];
    const refused = await clsort(args);
    t.is(refused.code, 5);
    // The .npy file has fewer bytes than its header claims; the .f64 file begins as an array.
    t.regex(refused.err, name === 'a.npy' ? /as a NumPy array.*only 72/s : /NumPy array.*--format raw/s);
    t.is(refused.out, '');
    t.deepEqual(readFileSync(path(name)), npy);
    t.is((await clsort(['check', path(name), '--dtype', 'f64'])).code, 5);
    t.is((await clsort(['check', path('in.u32'), '--dtype', 'u32', '--against', path(name)])).code, 5);
    t.is((await clsort([...args, '--format', 'raw'])).code, 0);
    t.deepEqual(readFileSync(path(name)), Buffer.from(referenceSort(npy, 'f64')));
    t.is((await clsort(['check', path(name), '--dtype', 'f64', '--format', 'raw'])).code, 0);
  }
  const piped = await clsort(['sort', '-', '-o', '-', '--dtype', 'f64'], { input: npy });
  t.is(piped.code, 5);
  t.is(piped.stdout.length, 0);
  t.is((await clsort(['check', '-', '--dtype', 'f64'], { input: npy })).code, 5);
});

test('an output name of an unsupported format is refused unless --format raw is given', async (t) => {
  const sort = ['sort', path('in.u32'), '-o', path('out.h5'), '--dtype', 'u32', '--device', 'host'];
  const gen = ['gen', '--dtype', 'u32', '--count', '9', '-o', path('out.pdf')];
  for (const args of [sort, gen]) {
    const refused = await clsort(args);
    t.is(refused.code, 5);
    t.regex(refused.err, /(?:HDF5|PDF).*--(?:format|to) raw/s);
    t.false(existsSync(args === sort ? path('out.h5') : path('out.pdf')));
    t.is((await clsort([...args, '--format', 'raw'])).code, 0);
  }
});

// Elsewhere there is no /proc.
const withProc = where(process.platform === 'linux', 'there is no /proc', test);
withProc('files without a size are read to their end, and /dev/stdin works as stdin', async (t) => {
  const ran = await clsort([
    'sort',
    '/proc/version',
    '-o',
    path('version'),
    '--dtype',
    'u8',
    '--device',
    'host',
  ]);
  t.is(ran.code, 0, ran.err);
  t.deepEqual(readFileSync(path('version')), Buffer.from(readFileSync('/proc/version').toSorted()));
  const stdin = await clsort(
    ['sort', '/dev/stdin', '-o', path('stdin'), '--dtype', 'u32', '--device', 'host'],
    {
      input: keys,
    },
  );
  t.is(stdin.code, 0, stdin.err);
  t.deepEqual(readFileSync(path('stdin')), sorted);
});

test('output above the free disk space is refused before a file is created', async (t) => {
  const ran = await clsort(['gen', '--dtype', 'u64', '--count', '2^49', '-o', path('huge')]);
  t.is(ran.code, 5);
  t.regex(ran.err, /needs 4503599627370496 bytes.*\d+ free/);
  t.false(existsSync(path('huge')));
  const disk = path('small disk');
  mkdirSync(disk);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'clsort-test', disk]).status === 0;
  if (!mounted) {
    t.log('this user may mount no disk of a known size: only a disk that is too small by far was tried');
    return;
  }
  try {
    const sort = ['--dtype', 'u32', '--device', 'host'];
    writeFileSync(join(disk, 'in.u32'), keys.subarray(0, 16_000));
    t.is((await clsort(['sort', join(disk, 'in.u32'), '-o', join(disk, 'in.u32'), ...sort])).code, 0);
    for (const [from, input] of [
      [path('large.u32'), undefined],
      ['-', Buffer.alloc(100_000)],
    ] as const) {
      writeFileSync(path('large.u32'), Buffer.alloc(100_000));
      const refused = await clsort(
        ['sort', from, '-o', join(disk, 'in.u32'), ...sort],
        input ? { input } : {},
      );
      t.is(refused.code, 5);
      t.regex(refused.err, /needs 100000 bytes/);
    }
    t.deepEqual(
      readFileSync(join(disk, 'in.u32')),
      Buffer.from(referenceSort(keys.subarray(0, 16_000), 'u32')),
    );
    t.deepEqual(readdirSync(disk), ['in.u32']);
  } finally {
    spawnSync('umount', [disk]);
  }
});

test('an interrupted sort ends with 130 and leaves no file', async (t) => {
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
