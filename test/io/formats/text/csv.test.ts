import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import ava from 'ava';
import { ClsortError } from '../../../../src/util/errors.js';
import { scratchFolder } from '../../../cli/cli.js';
import { type SortedJob, sorted } from './sorted.js';

const test = ava.serial; // all write the same files
const { path, remove } = scratchFolder();
ava.after.always(remove);

/** A text, how it is sorted, and the expected output or error. */
type Case = readonly [input: string, job: SortedJob, expected: string | RegExp];

function cases(title: string, all: readonly Case[]): void {
  test(title, async (t) => {
    for (const [input, job, expected] of all) {
      const label = JSON.stringify([input.slice(0, 60), job]);
      if (typeof expected === 'string') {
        t.is((await sorted(path, input, job)).text, expected, label);
        continue;
      }
      writeFileSync(path('out.csv'), 'before');
      const error = await t.throwsAsync(sorted(path, input, job), { instanceOf: ClsortError }, label);
      t.regex(error?.message ?? '', expected, label);
      t.is(readFileSync(path('out.csv'), 'utf8'), 'before', label);
    }
  });
}

cases('a line with another number of fields is an error that names it', [
  ['x,y\n1,2\n3,4,5\n', { by: '0' }, /line 3 has 3 fields but the first record has 2/],
  ['x,y\n1,2\n3,4,5\n', { by: '0', header: true, delimiter: ',' }, /line 3 has 3 fields/],
  ['x,y\n3,1\n5\n1,2\n', { by: '0' }, /line 3 has 1 field but the first record has 2/],
  ['tag,n\n#1,3\n#2,1\n#note\nz,5\n', { by: 'n' }, /line 4 has 1 field/],
  ['a;b\n1;2\n\n3\n', { by: 'a' }, /line 4 has 1 field/],
  ['a,b\n"1\n2",3\n4\n', { by: 'a' }, /line 4 has 1 field/],
  ['a,b\r1,2\r3\r', { by: 'a' }, /line 3 has 1 field/],
  ['x,y\n3,1\n5\n1,2\n', { by: 'x', ragged: 'skip' }, 'x,y\n1,2\n3,1\n'],
  ['x,y\n3,1\n5\n1,2\n', { by: 'x', ragged: 'fill' }, 'x,y\n1,2\n3,1\n5,\n'],
  ['x,y,z\n3,,\n5\n1,2,\n4,\n', { by: 'x', ragged: 'fill' }, 'x,y,z\n1,2,\n3,,\n4,,\n5,,\n'],
  ['x,y\n3,1\n5,6,7\n', { by: 'x', ragged: 'fill' }, /line 3 has 3 fields.*Use --ragged skip/],
]);

cases('quotes are double quotes, and an open one is an error that names its place', [
  ["q,n\n'a',3\n'b',1\n", { by: 'n' }, "q,n\n'b',1\n'a',3\n"],
  ["q,n\n'a,3\n'b,1\n", { by: 'n' }, "q,n\n'b,1\n'a,3\n"],
  ['a,n\n"x, ""y""\nz",2\n"w",1\n', { by: 'n' }, 'a,n\n"w",1\n"x, ""y""\nz",2\n'],
  ['a,n\n5" pipe,2\nb,1\n', { by: 'n' }, 'a,n\nb,1\n5" pipe,2\n'],
  ['a,n\nx,1\ny,"2\nz,3\n', { by: 'n' }, /line 3 has an unclosed quote at character 3/],
  [
    'a,n\n"x"y,1\n',
    { by: 'n' },
    /line 2 has text after the closing quote of the field that begins at character 1/,
  ],
  ['"a', { by: '0' }, /line 1 has an unclosed quote at character 1/],
]);

cases('delimiters are detected by the first record and the next ones, and hold for the output', [
  ['note\nplain\na|b\n', { by: '0' }, 'note\na|b\nplain\n'],
  ['note\nplain\na;b\tc\n', { by: '0' }, 'note\na;b\tc\nplain\n'],
  ['a;b\n2;x,y\n1;z,w\n', { by: 'a' }, 'a;b\n1;z,w\n2;x,y\n'],
  ['a\tb\n2\tx\n1\ty\n', { by: 'a' }, 'a\tb\n1\ty\n2\tx\n'],
  ['a|b\n2|x\n1|y\n', { by: 'a' }, 'a|b\n1|y\n2|x\n'],
  ['a, b;c\n2, x;9\n1, y;8\n', { by: '0' }, 'a, b;c\n1, y;8\n2, x;9\n'],
  ['a::b\n2::x\n1::y\n', { by: 'a', delimiter: '::' }, 'a::b\n1::y\n2::x\n'],
  ['a;b\n2;x\n1;y\n', { by: 'a', delimiter: ',' }, /cannot find column a/],
  ['a;b\n2;x,y\n1;y\n', { by: 'a', into: 'tsv' }, 'a\tb\n1\ty\n2\tx,y\n'],
  ['a;b\n2;"x,y"\n1;\n', { by: 'a', into: 'tsv', columns: 'b,a' }, 'b\ta\n\t1\n"x,y"\t2\n'],
  ['Report 2020\nx,y\n3,1\n1,2\n', { by: 'x' }, /cannot find column x in .*: its columns are Report 2020/],
]);

cases('a header is taken by a stated rule, and its absence holds for the output', [
  ['5\n3\n9\n', { by: '0' }, '3\n5\n9\n'],
  ['3,b\n1,a\n', { by: '0' }, '1,a\n3,b\n'],
  ['b,a\nd,c\n', { by: '0' }, 'b,a\nd,c\n'],
  ['b,a\na,c\n', { by: '0', header: false }, 'a,c\nb,a\n'],
  ['7\n3\n5\n', { by: '0', header: true }, '7\n3\n5\n'],
  ['n\n10\n9\n', { by: 'n' }, 'n\n9\n10\n'],
  ['x,x,\n3,1,a\n1,2,b\n', { by: '0' }, 'x,x,\n1,2,b\n3,1,a\n'],
  ['x,X\n3,1\n1,2\n', { by: 'X' }, 'x,X\n3,1\n1,2\n'],
  [' a ,k\nx,3\ny,1\n', { by: 'k' }, ' a ,k\ny,1\nx,3\n'],
  ['"a b","c"\nx,3\ny,1\n', { by: 'c' }, '"a b","c"\ny,1\nx,3\n'],
  ['', { by: '0' }, ''],
  ['', { by: 'price:desc', uniqueBy: 'a', columns: 'b' }, ''],
  ['\n\n', { by: '0' }, ''],
  ['a,b\n', { by: 'a' }, 'a,b\n'],
  ['2020-01-02,x\n2020-01-01,y\n', { by: '0' }, '2020-01-01,y\n2020-01-02,x\n'],
]);

cases('lines end with CR, LF, CRLF and mixtures of them', [
  ['x,y\r\n3,1\n1,2\r\n', { by: 'x' }, 'x,y\r\n1,2\r\n3,1\r\n'],
  ['x,y\n3,1\r\n1,2', { by: 'x' }, 'x,y\n1,2\n3,1\n'],
  ['x,y\r3,1\r\r1,2\r', { by: 'x' }, 'x,y\r1,2\r3,1\r'],
  ['x\n2\n\n\r\n1\n', { by: 'x' }, 'x\n1\n2\n'],
  ['x,y\n2,"a\r\nb"\n1,"c\rd"\n', { by: 'x' }, 'x,y\n1,"c\rd"\n2,"a\r\nb"\n'],
]);

cases('a mark of the encoding stays, and what is not UTF-8 is an error that names its place', [
  ['\ufeffx,y\n2,a\n1,b\n', { by: 'x' }, '\ufeffx,y\n1,b\n2,a\n'],
  ['\ufeff2\n1\n', { by: '0' }, '\ufeff1\n2\n'],
]);

test('bytes that are not UTF-8 are refused with their line and character', async (t) => {
  const bytes = Buffer.from('x,y\n1,ä\n2,\u00e9\n', 'latin1');
  await t.throwsAsync(sorted(path, bytes, { by: 'x' }), { message: /line 2 is not UTF-8 at character 3/ });
  const utf16 = Buffer.from('\ufeffa,b\n1,2\n', 'utf16le');
  await t.throwsAsync(sorted(path, utf16, { by: '0' }), { message: /is UTF-16, not UTF-8/ });
});

cases('missing values', [
  ['n,t\n,a\n2,""\n1,\n', { by: 'n' }, 'n,t\n1,\n2,""\n,a\n'],
  ['n,t\n,a\n2,""\n1,\n', { by: 't' }, 'n,t\n2,""\n,a\n1,\n'],
  ['n,t\n,a\n2,b\n', { by: 'n:nulls-first', columns: 'n' }, 'n\n""\n2\n'],
  ['n\n""\n2\n1\n', { by: 'n:nulls-first' }, 'n\n""\n1\n2\n'],
  ['n\n10\n9\nN/A\n100\n', { by: 'n', na: 'N/A' }, 'n\n9\n10\n100\nN/A\n'],
  ['n\n10\n-\nN/A\n9\n', { by: 'n:desc', na: ['N/A', '-'] }, 'n\n10\n9\n-\nN/A\n'],
]);

cases('comments and lines at the beginning are left out only when that is said', [
  ['# x\na,b\n#1,2\n1,3\n', { by: 'a', comment: '#' }, 'a,b\n1,3\n'],
  ['title\nmore\na,b\n2,3\n1,3\n', { by: 'a', skip: 2 }, 'a,b\n1,3\n2,3\n'],
  ['a,b\n#2,3\n#1,3\n', { by: 'a' }, 'a,b\n#1,3\n#2,3\n'],
]);

cases('numbers are compared exactly, and come out as they were written', [
  [
    'n\n18446744073709551617\n18446744073709551616\n-1\n',
    { by: 'n' },
    'n\n-1\n18446744073709551616\n18446744073709551617\n',
  ],
  ['n\n9007199254740993\n9007199254740992\n', { by: 'n' }, 'n\n9007199254740992\n9007199254740993\n'],
  [
    'n\n0.10000000000000000002\n0.10000000000000000001\n1e-1\n',
    { by: 'n' },
    'n\n1e-1\n0.10000000000000000001\n0.10000000000000000002\n',
  ],
  [
    'n\n-0.10000000000000000002\n-0.10000000000000000001\n',
    { by: 'n' },
    'n\n-0.10000000000000000002\n-0.10000000000000000001\n',
  ],
  ['n\n1e400\n-1e400\n1e399\ninf\nnan\n-inf\n', { by: 'n' }, 'n\n-inf\n-1e400\n1e399\n1e400\ninf\nnan\n'],
  ['n\n1e400\nnan\n1e399\n', { by: 'n:desc' }, 'n\n1e400\n1e399\nnan\n'],
  ['n\n1e400\nnan\n1e399\n', { by: 'n:desc', nan: 'first' }, 'n\nnan\n1e400\n1e399\n'],
  ['n\n010\n9\n+8\n 7\n', { by: 'n' }, 'n\n 7\n+8\n9\n010\n'],
  ['n\n0\n-0\n0.0\n-0.0\n', { by: 'n' }, 'n\n-0\n-0.0\n0\n0.0\n'],
  [
    'n,t\n"1.234,5",a\n"999",b\n"12.000",c\n',
    { by: 'n', decimal: ',', thousands: '.' },
    'n,t\n"999",b\n"1.234,5",a\n"12.000",c\n',
  ],
  ['n,t\n"1,234",a\n999,b\n"12,000",c\n', { by: 'n', thousands: ',' }, 'n,t\n999,b\n"1,234",a\n"12,000",c\n'],
  ['n;t\n1,5;a\n0,25;b\n', { by: 'n', decimal: ',' }, 'n;t\n0,25;b\n1,5;a\n'],
]);

cases('types of keys are what users say', [
  ['n\n10\n9\nN/A\n100\n', { by: 'n:f64' }, /line 4 has 'N\/A' in column n, which is not of type f64/],
  ['n\n10\n9\n', { by: 'n:text' }, 'n\n10\n9\n'],
  ['n\n1.5\n9\n', { by: 'n:u64' }, /line 2 has '1.5' in column n, which is not a whole number/],
  [
    'n\n300\n9\n',
    { by: 'n:u8' },
    /line 2 has '300' in column n, which is outside the range of u8 \(0 to 255\)/,
  ],
  ['n\n1e400\n9\n', { by: 'n:f64' }, /line 2 has '1e400' in column n, which is too large for f64/],
  [
    'day\n31/12/2019\n01/02/2020\n',
    { by: 'day', types: 'day=date:%d/%m/%Y' },
    'day\n31/12/2019\n01/02/2020\n',
  ],
  [
    'day\n31/12/2019\n31/02/2020\n',
    { by: 'day', types: { day: 'date:%d/%m/%Y' } },
    /line 3 has '31\/02\/2020' in column day/,
  ],
  [
    't,n\n2020-01-01T10:00:00.5Z,1\n2020-01-01T10:00:00Z,2\n2020-01-01T12:00:00+02:00,3\n',
    { by: 't' },
    't,n\n2020-01-01T10:00:00Z,2\n2020-01-01T12:00:00+02:00,3\n2020-01-01T10:00:00.5Z,1\n',
  ],
  ['a,b\n1,2\n', { by: 'a', types: 'c=f64' }, /cannot find column c/],
  ['a,b\n1,2\n', { by: 'a', types: 'a=float' }, /for the type of a column but got "float"/],
  ['a,b\n1,2\n', { by: 'a', types: 'a' }, /expected NAME=TYPE .* for types but got/],
  ['a,b\n1,2\n', { by: 'a', types: 'a=date:%Q' }, /for the type of a column but got "date:%Q"/],
]);

test('a column of numbers with other values is sorted as text, and a warning says why', async (t) => {
  const numbers = Array.from({ length: 997 }, (_, i) => i);
  const input = ['n', 1, 2, 'N/A', ...numbers, 'N/A'].join('\n');
  const { warnings } = await sorted(path, input, { by: 'n' });
  t.is(warnings.length, 1);
  t.regex(
    warnings[0] ?? '',
    /column n of .* is sorted as text: 2 of 1,001 values are not numbers, first 'N\/A' on line 4\. Use --na N\/A to treat it as missing/,
  );
  t.regex(
    (await sorted(path, 'n\n"1,234"\n"5,000"\n', { by: 'n' })).warnings[0] ?? '',
    /--decimal and --thousands/,
  );
  t.deepEqual((await sorted(path, 'n,t\n1,abc\n2,def\n3,4\n', { by: 't' })).warnings, []);
});

test('a late value determines the type like an early one', async (t) => {
  const lines = Array.from({ length: 30_000 }, (_, i) => `${30_000 - i},${i}`);
  const { text } = await sorted(path, ['x,y', ...lines, '0.5,1', ''].join('\n'), { by: 'x' });
  t.true(text.startsWith('x,y\n0.5,1\n1,29999\n2,29998\n'));
});

test('an ambiguous header is reported with the assumption and the option that changes it', async (t) => {
  const { notes } = await sorted(path, 'b,a\nd,c\n', { by: '0' });
  t.regex(notes.join(), /first line of .* is read as column names \(b, a\)\. Use --no-header if it is a row/);
  t.deepEqual((await sorted(path, 'x,y\n3,1\n', { by: 'x' })).notes, []);
  t.regex(
    (await sorted(path, 'x,y\n3\n1\n', { by: '0' })).notes.join(),
    /splits the first line but not the next ones/,
  );
  t.regex(
    (await sorted(path, 'x,y\n3,1\n2\n', { by: 'x', ragged: 'skip' })).notes.join(),
    /another number of fields excluded 1 line of/,
  );
  t.regex(
    (await sorted(path, 'x,y\n3,1\n2\n', { by: 'x', ragged: 'fill' })).notes.join(),
    /missing fields were added to 1 line of/,
  );
});

test('fields of any length, and 10,000 columns', async (t) => {
  const long = 'x'.repeat(3_000_000);
  t.true((await sorted(path, `a,n\n${long},2\ny,1\n`, { by: 'n' })).text === `a,n\ny,1\n${long},2\n`);
  const quoted = `"${'x""y\n'.repeat(700_000)}"`;
  t.true((await sorted(path, `a,n\n${quoted},2\ny,1\n`, { by: 'n' })).text === `a,n\ny,1\n${quoted},2\n`);
  const row = (n: number): string =>
    Array.from({ length: 10_000 }, (_, i) => (i === 9_999 ? n : `"${i}"`)).join();
  const names = Array.from({ length: 10_000 }, (_, i) => `c${i}`).join();
  const { text } = await sorted(path, [names, row(2), row(1), ''].join('\n'), { by: 'c9999' });
  t.true(text === [names, row(1), row(2), ''].join('\n'));
});

test('conversion to typed formats is lossless: values that a type would change stay text', async (t) => {
  const input =
    'id,zip,x,big,d\n2,007,1.5,18446744073709551616,2020-01-31\n1,123,0.10000000000000000002,1,2020-02-01\n';
  const { text } = await sorted(path, input, { by: 'id', into: 'ndjson' });
  t.is(
    text,
    '{"id":1,"zip":"123","x":0.10000000000000000002,"big":1,"d":"2020-02-01"}\n' +
      '{"id":2,"zip":"007","x":1.5,"big":18446744073709551616,"d":"2020-01-31"}\n',
  );
  writeFileSync(path('typed.csv'), input);
  const { tableFromIPC } = await import('apache-arrow');
  await sorted(path, input, { by: 'id', into: 'arrow', columns: 'id,zip,x,d' });
  const table = tableFromIPC(readFileSync(path('out.arrow')));
  t.deepEqual(
    table.schema.fields.map(({ type }) => `${type}`),
    ['Int64', 'Utf8', 'Utf8', 'Date32<DAY>'],
  );
  t.deepEqual([...(table.getChild('x') ?? [])], ['0.10000000000000000002', '1.5']);
});

test('a missing value of an only column is written so that it reads back, from formats with types as well', async (t) => {
  const { text } = await sorted(path, 'a,b\n1,x\n,y\n3,z\n', { by: 'a', columns: 'a', into: 'parquet' });
  t.true(text.length > 0);
  const typed = await sorted(path, readFileSync(path('out.parquet')), {
    from: 'parquet',
    into: 'csv',
    by: 'a:nulls-first',
  });
  t.is(typed.text, 'a\n""\n1\n3\n');
  t.is((await sorted(path, typed.text, { by: 'a' })).text, 'a\n1\n3\n""\n');
});

test('a compressed text is read as it is, and a damaged one is an error', async (t) => {
  const packed = gzipSync('a,b\n2,x\n1,y\n');
  t.is((await sorted(path, packed, { from: 'csv.gz', into: 'csv', by: 'a' })).text, 'a,b\n1,y\n2,x\n');
  await t.throwsAsync(sorted(path, packed.subarray(0, -5), { from: 'csv.gz', into: 'csv', by: 'a' }), {
    code: 'ERR_CLSORT_FORMAT',
    message: /gzip/,
  });
});
