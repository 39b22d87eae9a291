import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import ava from 'ava';
import { lines } from '../../../src/io/formats/lines.js';
import { DTYPES } from '../../../src/keys/dtype.js';
import { DtypeError, FormatError, UsageError } from '../../../src/util/errors.js';
import { clsort, scratchFolder } from '../../cli/cli.js';
import { read, someKeys, write } from './subprocess/files.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);

const host = ['--device', 'host'];
const NUMBERS = '3\n1.50\n-0.0\n2e3\ninf\n1.5\n';

for (const dtype of DTYPES) {
  test(`lines of ${dtype} keys are read as the keys that were written`, async (t) => {
    const keys = someKeys(dtype, 3000, { payloads: false });
    await write(lines, path('keys.txt'), { dtype, keys });
    const found = await read(lines, path('keys.txt'), { dtype });
    t.is(found.dtype, dtype);
    t.deepEqual(new Uint8Array(found.keys), keys);
  });
}

test('a single is written with as few digits as it needs', async (t) => {
  const keys = new Uint8Array(Float32Array.of(0.1, 16777216, -1e-45, 3.4028234663852886e38, NaN).buffer);
  await write(lines, path('singles.txt'), { dtype: 'f32', keys });
  t.is(readFileSync(path('singles.txt'), 'latin1'), '0.1\n16777216\n-1e-45\n3.4028235e+38\nnan\n');
});

test('the dtype is that of a CSV column, and faulty lines are errors', async (t) => {
  const dtypeOf = async (text: string, request = {}) => {
    writeFileSync(path('some.txt'), text);
    return (await read(lines, path('some.txt'), request)).dtype;
  };
  t.is(await dtypeOf('1\n-2\n'), 'i64');
  t.is(await dtypeOf('1\n18446744073709551615\n'), 'u64');
  t.is(await dtypeOf('1\r\n2.5'), 'f64');
  t.is(await dtypeOf('', { dtype: 'u8' }), 'u8');
  const errors = [
    ['', {}, DtypeError, /its format is lines/i],
    ['1\nx\n', {}, DtypeError, /its format is lines, one number each; --format csv/i],
    ['1,2\n3,4\n', {}, DtypeError, /--format csv/],
    ['1\n2,5\n', { dtype: 'f64' }, FormatError, /line 2 has '2,5'/],
    ['1\n', { column: 0 }, UsageError, /cannot use column/],
    ['1\n', { delimiter: ';' }, UsageError, /cannot use delimiter/],
    ['1\n', { header: true }, UsageError, /cannot use header/],
  ] as const;
  for (const [text, request, instanceOf, message] of errors) {
    await t.throwsAsync(dtypeOf(text, request), { instanceOf, message }, text);
  }
});

test('all verbs read the keys of .txt and .lines files, of text from stdin, and with --format lines', async (t) => {
  writeFileSync(path('a.txt'), NUMBERS);
  writeFileSync(path('a.lines.gz'), gzipSync(NUMBERS));
  writeFileSync(path('a.other'), NUMBERS);
  const inputs = [[path('a.txt')], [path('a.lines.gz')], [path('a.other'), '--format', 'lines'], ['-']];
  for (const [verb, more, expected] of [
    ['unique', [], '-0.0\n1.5\n3\n2000\ninf\n'],
    ['topk', ['-k', '2'], 'inf\n2000\n'],
    ['scan', ['--op', 'max', '--inclusive', '-o', '-'], '3\n3\n3\n2000\ninf\ninf\n'],
    ['convert', ['-o', '-'], '3\n1.5\n-0.0\n2000\ninf\n1.5\n'],
    ['concat', ['-o', '-'], '3\n1.5\n-0.0\n2000\ninf\n1.5\n'],
    ['union', [path('a.txt')], '-0.0\n1.5\n3\n2000\ninf\n'],
    ['reduce', ['--op', 'min'], '-0\n'],
    ['sort', ['--argsort', '--to', 'lines'], '2\n1\n5\n0\n3\n4\n'],
    ['sort', ['--dtype', 'f64'], '-0.0\n1.5\n1.5\n3\n2000\ninf\n'],
    ['sort', [], '-0.0\n1.5\n1.50\n3\n2e3\ninf\n'],
  ] as const) {
    for (const [file = '', ...options] of inputs) {
      if (verb === 'sort' && file === '-' && more.length > 0) continue; // --dtype describes raw keys there
      const ran = await clsort([verb, file, ...more, ...options], { input: Buffer.from(NUMBERS) });
      t.is(ran.out, expected, `${verb} ${file} ${options}: ${ran.err}`);
    }
  }
  const info = await clsort(['info', '-', '--json'], { input: Buffer.from(NUMBERS) });
  t.like(JSON.parse(info.out), { format: 'lines', dtype: 'f64', n: 6 });
});

test('sort writes the numbers of lines to a file of keys as keys', async (t) => {
  writeFileSync(path('a.txt'), '3\n1\n2\n');
  for (const name of ['a.npy', 'a.i64', 'a.arrow']) {
    t.is((await clsort(['sort', path('a.txt'), '-o', path(name), ...host])).code, 0);
    t.is((await clsort(['convert', path(name), '-o', '-', '--to', 'lines'])).out, '1\n2\n3\n', name);
  }
});
