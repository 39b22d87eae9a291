import test from 'ava';
import {
  columnIndexer,
  columnNames,
  findKeys,
  keyText,
  parseTableKeys,
} from '../../../../src/io/formats/tables/table-keys.js';
import { DtypeError, UsageError } from '../../../../src/util/errors.js';

test('sort keys are parsed as column names with options', (t) => {
  t.deepEqual(parseTableKeys('price:desc, time:nulls-first:asc ,"a:b,""c""":nan-first'), [
    { column: 'price', descending: true },
    { column: 'time', nulls: 'first', descending: false },
    { column: 'a:b,"c"', nan: 'first' },
  ]);
  t.deepEqual(parseTableKeys(['a:desc', { column: 'b:c', nulls: 'first' }, '""']), [
    { column: 'a', descending: true },
    { column: 'b:c', nulls: 'first' },
    { column: '' },
  ]);
});

for (const [by, message] of [
  ['price:dsc', /for the word after price in by but got "dsc"/],
  ['price:asc:desc', /contradict/],
  ['price:nulls-first:nulls-last', /contradict/],
  ['', /expected a column name at character 1 for by/],
  ['a,', /expected a column name at character 3 for by/],
  ['"a', /expected a column name at character 1 for by/],
  ['"a"b', /expected a comma at character 4 for by/],
  [[], /for by but got/],
  [[{ column: 'a', order: 'desc' }], /for a field of a key but got "order"/],
  [[{ column: 'a', nulls: 'middle' }], /'first' or 'last'/],
  [[7], /for a key of by but got 7/],
] as const) {
  test(`${JSON.stringify(by)} is not a valid sort key`, (t) => {
    t.throws(() => parseTableKeys(by as never), { instanceOf: UsageError, message });
  });
}

test('the text of a key parses to the same key', (t) => {
  const texts = [
    'a',
    'a:desc',
    '"a:b":nulls-first',
    '"say ""x"""',
    '""',
    'a:desc:nulls-first:nan-first',
    '" a"',
  ];
  for (const text of texts) t.deepEqual(parseTableKeys(text).map(keyText), [text]);
});

test('column names are given as text or as a list', (t) => {
  t.deepEqual(columnNames('a,"b,c"'), ['a', 'b,c']);
  t.deepEqual(columnNames(['a,b', 0]), ['a,b', 0]);
  t.throws(() => columnNames('a:desc'), { instanceOf: UsageError, message: /column names without desc/ });
  t.throws(() => columnNames([]), { instanceOf: UsageError });
});

const fields = ['id', 'price', 'id', '2', 'row;"--'].map((name) => ({ name }));

test('a column is found by its name or else by its number, and a duplicate name is an error', (t) => {
  t.is(columnIndexer(fields, 'price', 't'), 1);
  t.is(columnIndexer(fields, '2', 't'), 3, 'a name before a number');
  t.is(columnIndexer(fields, '0', 't'), 0);
  t.is(columnIndexer(fields, 4, 't'), 4);
  t.is(columnIndexer(fields, 'row;"--', 't'), 4);
  t.throws(() => columnIndexer(fields, 'prise', 't'), {
    instanceOf: UsageError,
    message: /Did you mean "price"/,
  });
  t.throws(() => columnIndexer(fields, 'id', 't'), { instanceOf: UsageError, message: /one of 0, 2/ });
  t.throws(() => columnIndexer(fields, '5', 't'), { instanceOf: UsageError });
});

test('a column without an order, and a repeated column, are refused as keys', (t) => {
  const table = [
    { name: 'l', type: { is: 'list', item: { name: 'item', type: { is: 'i8' } } } },
    { name: 'u', text: 'UNION(a INTEGER)' },
    { name: 'n', type: { is: 'i8' } },
  ] as const;
  t.throws(() => findKeys(parseTableKeys('l'), table, { name: 't' }), {
    instanceOf: DtypeError,
    message: /cannot sort t by column l: it holds list of i8/,
  });
  t.throws(() => findKeys(parseTableKeys('u'), table, { name: 't' }), {
    instanceOf: DtypeError,
    message: /UNION/,
  });
  t.throws(() => findKeys(parseTableKeys('n,n:desc'), table, { name: 't' }), { message: /twice/ });
});
