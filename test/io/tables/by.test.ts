import test from 'ava';
import { columnIndex, columnNames, foundKeys, keyText, tableKeys } from '../../../src/io/tables/by.js';
import { DtypeError, UsageError } from '../../../src/util/errors.js';

test('keys are names with words behind them, the first key first', (t) => {
  t.deepEqual(tableKeys('price:desc, time:nulls-first:asc ,"a:b,""c""":nan-first'), [
    { column: 'price', descending: true },
    { column: 'time', nulls: 'first', descending: false },
    { column: 'a:b,"c"', nan: 'first' },
  ]);
  t.deepEqual(tableKeys(['a:desc', { column: 'b:c', nulls: 'first' }, '""']), [
    { column: 'a', descending: true },
    { column: 'b:c', nulls: 'first' },
    { column: '' },
  ]);
});

for (const [by, message] of [
  ['price:dsc', /unknown word 'dsc'/],
  ['price:asc:desc', /contradict/],
  ['price:nulls-first:nulls-last', /contradict/],
  ['', /no name of a column at character 1/],
  ['a,', /no name of a column at character 3/],
  ['"a', /no name of a column at character 1/],
  ['"a"b', /character 4 where a comma/],
  [[], /nothing says/],
  [[{ column: 'a', order: 'desc' }], /unknown field of a key 'order'/],
  [[{ column: 'a', nulls: 'middle' }], /'first' or 'last'/],
  [[7], /a key is 7/],
] as const) {
  test(`no key: ${JSON.stringify(by)}`, (t) => {
    t.throws(() => tableKeys(by as never), { instanceOf: UsageError, message });
  });
}

test('a key is written as it is read', (t) => {
  const texts = [
    'a',
    'a:desc',
    '"a:b":nulls-first',
    '"say ""x"""',
    '""',
    'a:desc:nulls-first:nan-first',
    '" a"',
  ];
  for (const text of texts) t.deepEqual(tableKeys(text).map(keyText), [text]);
});

test('names of columns are a text or a list', (t) => {
  t.deepEqual(columnNames('a,"b,c"'), ['a', 'b,c']);
  t.deepEqual(columnNames(['a,b', 0]), ['a,b', 0]);
  t.throws(() => columnNames('a:desc'), { instanceOf: UsageError, message: /desc of a/ });
  t.throws(() => columnNames([]), { instanceOf: UsageError });
});

const fields = ['id', 'price', 'id', '2', 'row;"--'].map((name) => ({ name }));

test('a column is found by its name, else by its number; a name that two have names none', (t) => {
  t.is(columnIndex(fields, 'price', 't'), 1);
  t.is(columnIndex(fields, '2', 't'), 3, 'a name before a number');
  t.is(columnIndex(fields, '0', 't'), 0);
  t.is(columnIndex(fields, 4, 't'), 4);
  t.is(columnIndex(fields, 'row;"--', 't'), 4);
  t.throws(() => columnIndex(fields, 'prise', 't'), {
    instanceOf: UsageError,
    message: /did you mean 'price'/,
  });
  t.throws(() => columnIndex(fields, 'id', 't'), { instanceOf: UsageError, message: /one of 0 2/ });
  t.throws(() => columnIndex(fields, '5', 't'), { instanceOf: UsageError });
});

test('a column that has no order is no key, and none is one twice', (t) => {
  const table = [
    { name: 'l', type: { is: 'list', item: { name: 'item', type: { is: 'i8' } } } },
    { name: 'u', text: 'UNION(a INTEGER)' },
    { name: 'n', type: { is: 'i8' } },
  ] as const;
  t.throws(() => foundKeys(tableKeys('l'), table, { name: 't' }), {
    instanceOf: DtypeError,
    message: /column l of t holds list of i8/,
  });
  t.throws(() => foundKeys(tableKeys('u'), table, { name: 't' }), {
    instanceOf: DtypeError,
    message: /UNION/,
  });
  t.throws(() => foundKeys(tableKeys('n,n:desc'), table, { name: 't' }), { message: /twice/ });
});
