import { writeFileSync } from 'node:fs';
import test from 'ava';
import { csv, tsv } from '../../../../src/io/formats/csv.js';
import type { KeyFormat, ReadRequest } from '../../../../src/io/formats/key-file.js';
import { ndjson } from '../../../../src/io/formats/ndjson.js';
import type { Dtype } from '../../../../src/keys/dtype.js';
import { ClsortError } from '../../../../src/util/errors.js';
import { scratchFolder } from '../../../cli/cli.js';
import { FULL } from '../../../pairwise.js';
import { columnsOf, otherDuckdb, read, someKeys, write, writeColumns } from './files.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

const ARRAYS = {
  u32: Uint32Array,
  f16: Uint16Array,
  bf16: Uint16Array,
  f32: Float32Array,
  u64: BigUint64Array,
  i64: BigInt64Array,
  f64: Float64Array,
};

/** The dtype, column and keys of a text. */
async function keysIn(
  format: KeyFormat,
  text: string | Uint8Array,
  request: ReadRequest = {},
): Promise<unknown[]> {
  const name = path(`text.${format.id}`);
  writeFileSync(name, text);
  const { dtype, keys, column } = await read(format, name, request);
  const values = new ARRAYS[dtype as keyof typeof ARRAYS](new Uint8Array(keys).buffer);
  return [dtype, column, ...values];
}

/** A text, the request, and the expected keys or error. */
type Case = readonly [text: string, request: ReadRequest, expected: readonly unknown[] | RegExp];

const of = (dtype: Dtype): ReadRequest => ({ dtype });
const MAX = 18446744073709551615n;

const CSV: readonly Case[] = [
  ['1\n2\n3\n', {}, ['i64', 'column0', 1n, 2n, 3n]],
  ['k\n-0.0\nnan\n-inf\n5e-324\n0.1\n', {}, ['f64', 'k', -0, NaN, -Infinity, 5e-324, 0.1]],
  ['k\n1.5\n65519\n65520\n6e-8\n', of('f16'), ['f16', 'k', 0x3e00, 0x7bff, 0x7c00, 1]],
  [
    'k\n1.5\n-0\n3.4e38\nnan\n1.00390625\n1.003906250000001\n',
    of('bf16'),
    ['bf16', 'k', 0x3fc0, 0x8000, 0x7f80, 0x7fc0, 0x3f80, 0x3f81],
  ],
  [`x\n${MAX}\n9007199254740993\n`, {}, ['u64', 'x', MAX, 9007199254740993n]],
  [`x\n${MAX}\n-1\n`, {}, /DTYPE.*column x of .* holds i128.*Pass the dtype/],
  ['k,l\n1,2\n3,4\n', {}, /USAGE.*its columns are k, l\. Pass --column NAME .*--by COLUMN/],
  ['k,l\n1,2\n3,4\n', { column: 'l' }, ['i64', 'l', 2n, 4n]],
  ['kay,l\n1,2\n', { column: 'kai' }, /USAGE.*cannot find column kai.*Did you mean "kay"/],
  ["a'b\n1'x\n", { delimiter: "'", column: 'a' }, ['i64', 'a', 1n]],
  ['a;b\n1;x\n', { delimiter: '";' }, /USAGE.*delimiter/],
  ['k\n1.10\n', of('u64'), /FORMAT.*'1.10' in column k, which is not a whole number/],
  [
    `k\n${'1\n'.repeat(50_000)}1.5\n`,
    of('i64'),
    /FORMAT.*line 50002 has '1.5' in column k, which is not a whole number/,
  ],
  ['k\n1\n2\n1.5\n', {}, ['f64', 'k', 1, 2, 1.5]],
  [
    `k\n${'1\n'.repeat(50_000)}x\n`,
    of('f64'),
    /FORMAT.*line 50002 has 'x' in column k, which is not of type f64/,
  ],
  ['k\n1\n\n3\n', {}, ['i64', 'k', 1n, 3n]],
  ['k,l\n1,1\n,2\n3,3\n', { column: 'k' }, /FORMAT.*a value is missing.*line 3/],
  ['k\n1\n""\n3\n', {}, /FORMAT.*a value is missing.*line 3/],
  ['', of('f64'), ['f64', 'column0']],
];

/** More cases for full runs, since each takes a process. */
const MORE_CSV: readonly Case[] = [
  ['key\r\n1\r\n2', {}, ['i64', 'key', 1n, 2n]],
  ['k\n0.1\n16777217\n', of('f32'), ['f32', 'k', Math.fround(0.1), 16777216]],
  ['x\n-9223372036854775808\n9007199254740993\n', {}, ['i64', 'x', -(2n ** 63n), 9007199254740993n]],
  [`x\n${MAX}\n-1\n`, of('f64'), ['f64', 'x', Number(MAX), -1]],
  ['"a ""b"",c",d\n"1",x\n', { column: 0 }, ['i64', 'a "b",c', 1n]],
  ['k,l\n1,2\n3,4\n', { column: '1' }, ['i64', 'l', 2n, 4n]],
  ['k,1,0\n1,2,9\n3,4,9\n', { column: '0', header: true }, ['i64', '0', 9n, 9n]],
  ['name,key\nx,1\ny,2\n', {}, /USAGE.*its columns are name, key\./],
  ['name,key\nx,1\ny,2\n', of('u8'), /USAGE.*its columns are name, key\./],
  ['name\nx\ny\n', { header: true }, /DTYPE.*name of .* holds text/],
  ['k\n2020-01-31\n', {}, /DTYPE.*k of .* holds date/],
  ['1\n2\n', { header: true }, ['i64', '1', 2n]],
  ['nan\ninf\n', { header: false, dtype: 'f64' }, ['f64', 'column0', NaN, Infinity]],
  ['a;b\n1;x\n', { delimiter: '' }, /USAGE.*delimiter/],
  ['k\n1e3\n', of('u64'), /FORMAT.*'1e3' in column k, which is not a whole number/],
  ['k\n300\n', of('u8'), /FORMAT.*'300' in column k, which is outside the range of u8/],
  ['k\xe9\n1\n', {}, /FORMAT.*line 1 is not UTF-8 at character 2/],
  [`k\n${'1'.repeat(3e6)}\n`, {}, /DTYPE.{1,900}$/s],
  ['', {}, /DTYPE/],
  ['key\n', of('u32'), ['u32', 'key']],
];

const NDJSON: readonly Case[] = [
  [`{"a":${MAX}}\n{"a":9007199254740993}\n`, of('u64'), ['u64', 'a', MAX, 9007199254740993n]],
  ['{"a\'b\\"; --":1}\n', {}, ['i64', 'a\'b"; --', 1n]],
  ['{"a":1}\n{"b":2}\n', { column: 'a' }, /FORMAT.*a value is missing.*line 2/],
  ['{"a":0.1}\n{"a":NaN}\n{"a":-Infinity}\n', {}, ['f64', 'a', 0.1, NaN, -Infinity]],
  ['{"a":1.5}\n', of('u32'), /FORMAT.*'1.5' in column a, which is not a whole number/],
];

const MORE_NDJSON: readonly Case[] = [
  ['{"a":1,"b":"x"}\n{"a":2}\n', { column: 'a' }, ['i64', 'a', 1n, 2n]],
  ['{"a":1}\n{"a":2,"b":"x"}\n', {}, /USAGE.*its columns are a, b\./],
  ['1\n2\n', {}, ['i64', 'json', 1n, 2n]],
  ['{"a":1}\n{bad\n', {}, /FORMAT.*line 2/],
  ['{"a":true}\n', {}, /DTYPE.*a of .* holds bool/],
  ['[1,2]\n[3,4]\n', {}, /DTYPE.*lists and objects/],
  ['', {}, /DTYPE/],
];

for (const [format, cases] of [
  [csv, FULL ? [...CSV, ...MORE_CSV] : CSV],
  [ndjson, FULL ? [...NDJSON, ...MORE_NDJSON] : NDJSON],
  [tsv, [['a\tb\n1,5\t2\n', { column: 'b' }, ['i64', 'b', 2n]]]],
] as const) {
  test(`${format.id}: text is read as the expected keys or error`, async (t) => {
    for (const [text, request, expected] of cases) {
      const label = `${JSON.stringify(text.slice(0, 40))} ${JSON.stringify(request)}`;
      const bytes = Buffer.from(text, 'latin1'); // so that one of them is not UTF-8
      if (expected instanceof RegExp) {
        const error = await t.throwsAsync(keysIn(format, bytes, request), { instanceOf: ClsortError }, label);
        const { code, message } = error as ClsortError;
        t.regex(`${code}: ${message}`, expected, label);
      } else {
        t.deepEqual(await keysIn(format, bytes, request), expected, label);
      }
    }
  });
}

test('DuckDB reads the written text files', async (t) => {
  const ask = await otherDuckdb();
  const keys = someKeys('i64', 500);
  const expected = [...new BigInt64Array(keys.buffer)].map((key) => [key]);
  await write(csv, path('ours.csv'), { dtype: 'i64', keys, column: `a 'b"; ,` });
  await write(tsv, path('ours.tsv'), { dtype: 'i64', keys, options: { header: false } });
  await write(csv, path('ours.txt'), { dtype: 'i64', keys, options: { delimiter: "'" } });
  await write(ndjson, path('ours.ndjson'), { dtype: 'i64', keys });
  for (const name of ['ours.csv', 'ours.tsv', 'ours.txt', 'ours.ndjson']) {
    const reader = name.endsWith('json') ? 'read_json' : 'read_csv';
    t.deepEqual(await ask(`FROM ${reader}('${path(name)}')`), expected, name);
  }
  t.deepEqual(await ask(`SELECT column_name FROM (DESCRIBE FROM '${path('ours.csv')}')`), [[`a 'b"; ,`]]);
});

test('a column of a text file is read alone, whatever the other columns hold', async (t) => {
  await writeColumns('csv', path('many.csv'), columnsOf(50, false));
  const { keys } = await read(csv, path('many.csv'), { column: 'of u8', dtype: 'u8' });
  t.deepEqual(new Uint8Array(keys), someKeys('u8', 50, { payloads: false }));
});
