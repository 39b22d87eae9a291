import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import ava from 'ava';
import { sortTableFile, type TableJob } from '../../../src/io/tables/sort-table-file.js';
import { hostSorter } from '../../../src/sort/api/host-sorter.js';
import type { Sorter } from '../../../src/sort/api/sorter.js';
import { DtypeError, FormatError, IoError, UsageError } from '../../../src/util/errors.js';
import { packageRoot } from '../../../src/util/paths.js';
import { scratchFolder } from '../../cli/cli.js';
import { nowhere } from '../context.js';
import { otherDuckdb } from '../formats/subprocess/files.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);
const sorter = hostSorter(() => undefined) as Sorter;
const sort = (job: TableJob, context = nowhere) => sortTableFile(sorter, { verify: true, ...job }, context);

/** A column of each type that both Parquet and Arrow support, with nulls, including types that are not dtypes. */
const COLUMNS = `
  i AS id, CASE WHEN i % 7 = 0 THEN NULL WHEN i % 11 = 0 THEN 'nan'::DOUBLE WHEN i % 13 = 0 THEN -0.0 ELSE (i * 7919) % 100 / 10.0 END AS price,
  CASE WHEN i % 5 = 0 THEN NULL ELSE 'közös előtag ' || (i * 31 % 97) END AS "na""me;--", (i % 2 = 0) AS flag,
  (i % 5)::DECIMAL(9, 2) AS small, (i * 1000000007)::DECIMAL(38, 4) AS wide, 18446744073709551615 - i AS u64,
  [i, NULL, i + 1] AS list, {'a': i, 'b c': [['x' || i], NULL, []]} AS struct, MAP {'k' || i: i} AS map,
  TIMESTAMP '2020-01-01' + to_minutes(i * 7919 % 1000) AS at, TIMESTAMPTZ '2020-01-01 00:00:00+00' + to_seconds(i) AS zoned,
  make_timestamp_ns(i * 7) AS nanos, DATE '2021-01-01' + (i * 37 % 300)::INTEGER AS day, TIME '01:02:03.000004' AS time,
  md5(i::VARCHAR)::UUID AS uuid, ('a' || i)::BLOB AS blob, (i % 3)::FLOAT AS f32, i::TINYINT AS i8`;

test('rows of every type are sorted unchanged in the order of DuckDB, through Parquet and Arrow and back', async (t) => {
  const sql = await otherDuckdb();
  await sql(`COPY (SELECT ${COLUMNS} FROM range(120) r(i)) TO '${path('a.parquet')}' (FORMAT parquet)`);
  const rows = async (from: string, order = '') => sql(`FROM '${path(from)}' ${order}`);
  const by = `price:desc,"na""me;--":nulls-first,flag,day,id`;
  const ordered = await rows(
    'a.parquet',
    'ORDER BY isnan(price), price DESC NULLS LAST, "na""me;--" NULLS FIRST, flag, day, id'.replace(
      'isnan(price)',
      'price IS NULL, isnan(price)',
    ),
  );
  const report = await sort({ in: path('a.parquet'), out: path('b.parquet'), by });
  t.deepEqual(report.verified, { order: true, permutation: true });
  t.is(report.algorithm, 'host', 'the Sorter computes the order');
  t.deepEqual(report.table?.by.slice(0, 2), ['price:desc', '"na""me;--":nulls-first']);
  t.deepEqual(await rows('b.parquet'), ordered);
  await sort({ in: path('a.parquet'), out: path('a.arrow'), by: 'u64' });
  await sort({ in: path('a.arrow'), out: path('a.arrows'), by: 'at,uuid:desc' });
  await sort({ in: path('a.arrows'), out: path('c.parquet'), by });
  t.deepEqual(await rows('c.parquet'), ordered);
  t.deepEqual(
    await sql(`DESCRIBE FROM '${path('c.parquet')}'`),
    await sql(`DESCRIBE FROM '${path('a.parquet')}'`),
  );
  for (const [key, order] of [
    ['wide:desc', 'wide DESC'],
    ['zoned', 'zoned'],
    ['nanos:desc', 'nanos DESC'],
    ['small,i8:desc', 'small, i8 DESC'],
    ['blob', 'blob'],
    ['uuid', 'uuid'],
    ['f32:desc,id', 'f32 DESC, id'],
  ] as const) {
    await sort({ in: path('a.arrow'), out: path('one.parquet'), by: key, columns: 'id', head: 50 });
    t.deepEqual(
      await rows('one.parquet'),
      await sql(`SELECT id FROM '${path('a.parquet')}' ORDER BY ${order} LIMIT 50`),
      key,
    );
  }
});

test('head writes the first rows of the sorted table in every format, for ties and several inputs', async (t) => {
  const lines = Array.from(
    { length: 9000 },
    (_, i) => `${(i * 7919) % 13},${i % 3 ? `t ${i % 50}` : ''},${i}`,
  );
  writeFileSync(path('ties.csv'), ['a,b,c', ...lines, ''].join('\n'));
  const csv = async (job: Omit<TableJob, 'out'>): Promise<string[]> => {
    await sort({ ...job, out: path('first.csv') });
    return readFileSync(path('first.csv'), 'utf8').split('\n');
  };
  for (const format of ['csv', 'ndjson', 'parquet', 'arrow', 'arrows']) {
    const one = path(`ties.${format}`);
    if (format !== 'csv') await sort({ in: path('ties.csv'), out: one, by: 'c' });
    for (const selection of [{}, { columns: 'c,a' }]) {
      const job = { in: [one, one], by: 'a:desc,b:nulls-first', ...selection };
      const whole = await csv(job);
      for (const head of [0, 1, 1500]) {
        t.deepEqual(
          await csv({ ...job, head }),
          [...whole.slice(0, head + 1), ''],
          `${format}, ${head} rows`,
        );
      }
    }
  }
  const report = await sort({
    in: path('ties.csv'),
    out: path('first.csv'),
    by: 'a',
    head: 2,
    memory: 2 ** 24,
  });
  t.deepEqual([report.n, report.shape], [9000, [2, 3]]);
});

test('text values keep their spelling, and nulls differ from empty text', async (t) => {
  writeFileSync(path('a.csv'), 'id,"x:y",name\n007,1.50,\n3,,""\n10,0.5,"é, ""q""\nz"\n-1,1e2,a\n');
  await sort({ in: path('a.csv'), out: path('b.csv'), by: '"x:y":desc', columns: 'name,"x:y",id' });
  t.is(
    readFileSync(path('b.csv'), 'utf8'),
    'name,x:y,id\na,1e2,-1\n,1.50,007\n"é, ""q""\nz",0.5,10\n"",,3\n',
  );
  await sort({ in: path('a.csv'), out: path('b.tsv'), by: 'id', head: 1 });
  t.is(readFileSync(path('b.tsv'), 'utf8'), 'id\tx:y\tname\n-1\t1e2\ta\n');
  await sort({ in: path('a.csv'), out: path('b.ndjson'), by: 'name:nulls-first' });
  const lines = readFileSync(path('b.ndjson'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.deepEqual(
    lines.map(({ id }) => id),
    ['007', '3', '-1', '10'],
  );
  t.is(lines[1].name, '');
  t.is(lines[1]['x:y'], null);
});

test('NDJSON lines are written unchanged', async (t) => {
  const lines = [
    '{"a":1.10,  "b":{"z":[1,2.50]}}',
    '{"b":null,"a":0.12345678901234567890123}',
    '{"a":-3, "q\\"~/":"x"}',
  ];
  writeFileSync(path('a.ndjson'), `${lines.join('\n')}\n`);
  await sort({ in: path('a.ndjson'), out: path('b.ndjson.gz'), by: 'a' });
  await sort({ in: path('b.ndjson.gz'), out: path('c.ndjson'), by: '"q""~/",a' });
  t.is(readFileSync(path('c.ndjson'), 'utf8'), `${[lines[2], lines[1], lines[0]].join('\n')}\n`);
});

test('no NDJSON value is lost: late names, and names that differ only in case, become columns', async (t) => {
  const late = Array.from({ length: 25_000 }, (_, i) =>
    i === 24_999 ? '{"a":-1,"late":"x"}' : `{"a":${i}}`,
  );
  writeFileSync(path('late.ndjson'), late.join('\n'));
  await sort({ in: path('late.ndjson'), out: path('late.csv'), by: 'a', head: 2 });
  t.is(readFileSync(path('late.csv'), 'utf8'), 'a,late\n-1,x\n0,\n');
  writeFileSync(path('a_1.ndjson'), '{"a":2,"a_1":1}\n{"a":1}\n');
  await sort({ in: path('a_1.ndjson'), out: path('a_1.csv'), by: 'a' });
  t.is(readFileSync(path('a_1.csv'), 'utf8'), 'a,a_1\n1,\n2,1\n');
  writeFileSync(path('capitals.ndjson'), '{"a":1,"A":2}\n');
  await sort({ in: path('capitals.ndjson'), out: path('capitals.csv'), by: 'A' });
  t.is(readFileSync(path('capitals.csv'), 'utf8'), 'a,A\n1,2\n');
});

test('tables of no row and one row, several tables, unique rows and a pipe are sorted', async (t) => {
  writeFileSync(path('none.csv'), 'a,b\n');
  writeFileSync(path('one.csv'), 'a,b\n1,x\n');
  t.is((await sort({ in: path('none.csv'), out: path('out.csv'), by: 'a:desc,b' })).n, 0);
  t.is(readFileSync(path('out.csv'), 'utf8'), 'a,b\n');
  await sort({ in: path('one.csv'), out: path('one.arrow'), by: 'b', head: 5 });
  await sort({ in: [path('one.csv'), path('one.csv')], out: path('two.csv'), by: 'a' });
  t.is(readFileSync(path('two.csv'), 'utf8'), 'a,b\n1,x\n1,x\n');
  const stdout = new PassThrough();
  const stdin = Readable.from([readFileSync(path('two.csv'))]);
  await sort({ in: '-', out: '-', format: 'csv', by: 'a', unique: true }, { ...nowhere, stdin, stdout });
  t.is(stdout.read().toString(), 'a,b\n1,x\n');
});

test('an unsupported job is an error before anything is written', async (t) => {
  const sql = await otherDuckdb();
  await sql(
    `COPY (SELECT 1 AS a, [1] AS list, 'x'::BLOB AS blob) TO '${path('e.parquet')}' (FORMAT parquet)`,
  );
  const from = path('e.parquet');
  writeFileSync(path('kept'), 'old');
  const fails = async (
    job: Partial<TableJob>,
    instanceOf: typeof UsageError | typeof DtypeError,
    message: RegExp,
  ) => {
    const error = await t.throwsAsync(sort({ in: from, out: path('kept'), to: 'csv', by: 'a', ...job }), {
      instanceOf,
    });
    t.regex(error?.message ?? '', message);
    t.is(readFileSync(path('kept'), 'utf8'), 'old');
  };
  await fails({}, DtypeError, /cannot write column list to .*: csv cannot hold list of i32/);
  await fails({ columns: 'blob' }, DtypeError, /column blob .* bytes/);
  await fails({ by: 'list', to: 'parquet' }, DtypeError, /column list: .* has no order/);
  await fails({ by: 'lost' }, UsageError, /Did you mean "list"/);
  await fails({ by: 'a"; DROP TABLE x; --' }, UsageError, /cannot find column/);
  await fails({ columns: ['a', 'a'], to: 'parquet' }, DtypeError, /two columns are called a/);
  await fails({ to: 'npy' }, UsageError, /cannot use .* as a table/);
  await fails({ resume: true, to: 'parquet' } as never, UsageError, /cannot resume/);
  await fails({ argsort: true } as never, UsageError, /cannot use argsort for tables/);
  await fails({ in: [from, path('a.parquet')], to: 'parquet' }, UsageError, /differ in format or columns/);
});

test('an external sort of rows writes the same bytes as in memory and leaves no temporary file', async (t) => {
  const lines = Array.from(
    { length: 25_000 },
    (_, i) => `${(i * 7919) % 10_007},${i % 5 ? `${'a long text '.repeat(34)}${i % 100}` : ''},${i}`,
  );
  writeFileSync(path('large.csv'), ['a,b,c', ...lines, ''].join('\n'));
  mkdirSync(path('tmp'));
  mkdirSync(path('large'));
  const by = 'b:desc:nulls-first,a';
  const job = { in: path('large.csv'), out: path('large/out.csv'), by, verify: true, tmp: path('tmp') };
  const notes: string[] = [];
  const context = { ...nowhere, onNote: (text: string) => void notes.push(text) };
  for (const [selection, runs] of [
    [{}, 2],
    [{ unique: true, columns: 'a,b' }, 2],
    [{ uniqueBy: 'b', head: 50 }, 2],
  ] as const) {
    const whole = await sort({ ...job, ...selection });
    t.is(whole.table?.runs, undefined);
    const wanted = readFileSync(job.out, 'utf8');
    const report = await sort({ ...job, ...selection, memory: 2 ** 24 }, context);
    t.true((report.table?.runs ?? 0) >= runs, JSON.stringify(report.table));
    t.true((report.table?.spilledBytes ?? 0) > 0);
    t.deepEqual(report.verified, { order: true, permutation: true });
    t.deepEqual([report.n, report.shape], [whole.n, whole.shape]);
    t.true(readFileSync(job.out, 'utf8') === wanted, JSON.stringify(selection));
    t.regex(notes.pop() ?? '', /16 MiB of memory are written to temporary files in .*tmp/);
    t.deepEqual(readdirSync(path('tmp')), []);
  }
  const little = sort({ ...job, memory: 2 ** 23 });
  const error = await t.throwsAsync(little, {
    instanceOf: UsageError,
    message: /at least 16777216\. Use --memory 16M/,
  });
  t.deepEqual(error?.details, { memory: 2 ** 23, least: 2 ** 24 });
  await t.throwsAsync(sort({ ...job, memory: 2 ** 24, tmp: path('lost') }), {
    instanceOf: IoError,
    message: /cannot write temporary files to .*: there is no such folder/,
  });
  const stopped = new AbortController();
  const stop = { ...nowhere, signal: stopped.signal, onNote: () => stopped.abort() };
  await t.throwsAsync(sort({ ...job, memory: 2 ** 24 }, stop), { name: 'AbortError' });
  t.deepEqual(readdirSync(path('tmp')), []);
  t.deepEqual(readdirSync(path('large')), ['out.csv']);
});

test('rows of zero bytes are read, and an implausible number of them is refused', async (t) => {
  const { FixedSizeBinary, makeData, makeVector, Null, Table, tableToIPC } = await import('apache-arrow');
  const n = 77_777; // a number that occurs nowhere else
  const none = makeVector(makeData({ type: new Null(), length: n, nullCount: n }));
  const type = new FixedSizeBinary(0);
  const bare = makeVector(makeData({ type, length: n, nullCount: 0, data: new Uint8Array(0) }));
  const whole = Buffer.from(tableToIPC(new Table({ none, bare }), 'file'));
  writeFileSync(path('bare.arrow'), whole);
  t.is((await sort({ in: path('bare.arrow'), out: path('out.arrow'), by: 'bare' })).n, n);
  const word = (number: bigint): Buffer => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(number);
    return bytes;
  };
  const claim = 2n ** 40n;
  for (let at = whole.indexOf(word(BigInt(n))); at >= 0; at = whole.indexOf(word(BigInt(n)))) {
    word(claim).copy(whole, at);
  }
  writeFileSync(path('bare.arrow'), whole);
  await t.throwsAsync(sort({ in: path('bare.arrow'), out: path('out.arrow'), by: 'bare' }), {
    instanceOf: FormatError,
    message: /declares 1099511627776 rows but has 0 bytes/,
  });
});

test('a truncated file is refused', async (t) => {
  for (const name of ['a.parquet', 'a.arrow', 'a.arrows']) {
    writeFileSync(path(`cut-${name}`), readFileSync(path(name)));
    truncateSync(path(`cut-${name}`), 1500);
    await t.throwsAsync(
      sort({ in: path(`cut-${name}`), out: path('out.parquet'), by: 'id' }),
      { instanceOf: FormatError },
      name,
    );
  }
});

test('column names with quotes, newlines and statements are taken literally', async (t) => {
  const names = ['a"; DROP TABLE x; --', "'q'", 'line\nbreak', 'a:b,c', 'A"'];
  const cell = (name: string) => `"${name.replaceAll('"', '""')}"`;
  writeFileSync(path('names.csv'), `${names.map(cell).join()}\n3,1,1,1,1\n1,2,2,2,2\n`);
  for (const out of ['names.parquet', 'names.arrow', 'names.ndjson']) {
    await sort({ in: path('names.csv'), out: path(out), by: [{ column: names[0] as string }] });
    await sort({
      in: path(out),
      out: path('names-again.csv'),
      by: cell(names[4] as string),
      uniqueBy: cell('a:b,c'),
    });
    t.is(
      readFileSync(path('names-again.csv'), 'utf8').replaceAll('"', ''),
      `${names.join().replaceAll('"', '')}\n3,1,1,1,1\n1,2,2,2,2\n`,
      out,
    );
  }
});

test('types that only Arrow supports pass from Arrow to Arrow and are refused elsewhere', async (t) => {
  const arrow = await import('apache-arrow');
  const texts = ['b', 'a', null, 'b'];
  const table = new arrow.Table({
    id: arrow.vectorFromArray([2, 1, 4, 3], new arrow.Int32()),
    word: arrow.vectorFromArray(texts, new arrow.Dictionary(new arrow.Utf8(), new arrow.Int8())),
    large: arrow.vectorFromArray(['x', null, 'ü', ''], new arrow.LargeUtf8()),
    short: arrow.vectorFromArray([5, 6, null, 7], new arrow.TimeMillisecond()),
    zoned: arrow.vectorFromArray([1, 2, 3, null], new arrow.TimestampNanosecond('Europe/Berlin')),
    half: arrow.vectorFromArray([1.5, -0, null, 2], new arrow.Float16()),
    span: arrow.vectorFromArray([1n, null, 3n, 4n], new arrow.DurationSecond()),
    pair: arrow.vectorFromArray(
      [[1, 2], null, [3, null], [5, 6]],
      new arrow.FixedSizeList(2, arrow.Field.new({ name: 'item', type: new arrow.Int16(), nullable: true })),
    ),
  });
  writeFileSync(path('only.arrow'), arrow.tableToIPC(table, 'file'));
  await sort({ in: path('only.arrow'), out: path('sorted.arrow'), by: 'word,id:desc' });
  const sorted = arrow.tableFromIPC(readFileSync(path('sorted.arrow')));
  const rowsOf = (of: typeof table) => of.toArray().map((row) => `${row}`);
  const before = rowsOf(table);
  t.deepEqual(
    rowsOf(sorted as never),
    [1, 3, 0, 2].map((i) => before[i]),
  );
  t.deepEqual(
    sorted.schema.fields.slice(2).map(({ type }) => `${type}`),
    table.schema.fields.slice(2).map(({ type }) => `${type}`),
  );
  for (const column of ['zoned', 'span']) {
    await t.throwsAsync(
      sort({ in: path('only.arrow'), out: path('x.csv'), by: 'id', columns: ['id', column] }),
      {
        instanceOf: DtypeError,
        message: new RegExp(`cannot write column ${column} to `),
      },
    );
  }
  await sort({ in: path('only.arrow'), out: path('some.parquet'), by: 'id', columns: 'pair,short,word,id' });
  const sql = await otherDuckdb();
  t.deepEqual(await sql(`SELECT id, word, pair::VARCHAR, short::VARCHAR FROM '${path('some.parquet')}'`), [
    [1, 'a', null, '00:00:00.006'],
    [2, 'b', '[1, 2]', '00:00:00.005'],
    [3, 'b', '[5, 6]', '00:00:00.007'],
    [4, null, '[3, NULL]', null],
  ]);
});

test('DuckDB only writes: no statement of ours orders rows', (t) => {
  t.notRegex(
    readFileSync(join(packageRoot, 'src/io/formats/subprocess/tables/duckdb-table-writer.ts'), 'utf8'),
    /ORDER\s+BY|GROUP\s+BY|SELECT\s+DISTINCT|LIMIT [1-9]/i,
  );
});
