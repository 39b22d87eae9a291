import { readFileSync, writeFileSync } from 'node:fs';
import ava from 'ava';
import { Random } from '../../../src/util/random.js';
import { clsort, scratchFolder } from '../../cli/cli.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);

const host = ['--device', 'host'];

/** Runs `clsort join`, and returns the lines of its output. */
async function join(left: string, right: string, ...options: string[]): Promise<string[]> {
  const ran = await clsort(['join', path(left), path(right), ...options, ...host]);
  if (ran.code !== 0) throw new Error(`${ran.code}: ${ran.err}`);
  return ran.out.split('\n').slice(0, -1);
}

async function convert(from: string, to: string, by: string): Promise<void> {
  const ran = await clsort(['sort', path(from), '-o', path(to), '--by', by, ...host]);
  if (ran.code !== 0) throw new Error(ran.err);
}

writeFileSync(path('l.csv'), 'id,name,x\n1,ann,1.50\n2,"b,o",2\n,nil,3\n1,amy,4\n4,dan,5\n');
writeFileSync(path('r.csv'), 'id,x,y\n2,20,a\n1,10,b\n1,11,c\n,12,d\n9,13,e\n');

test('rows of CSV files are joined in the order of the left one, with the bytes of their fields', async (t) => {
  const pairs = ['1,ann,1.50,10,b', '1,ann,1.50,11,c', '2,"b,o",2,20,a'];
  const amy = ['1,amy,4,10,b', '1,amy,4,11,c'];
  const header = 'id,name,x,x_right,y';
  t.deepEqual(await join('l.csv', 'r.csv', '--on', 'id'), [header, ...pairs, ...amy]);
  t.deepEqual(await join('l.csv', 'r.csv', '--on', 'id', '--kind', 'left'), [
    ...[header, ...pairs, ',nil,3,,'],
    ...[...amy, '4,dan,5,,'],
  ]);
  t.deepEqual(await join('l.csv', 'r.csv', '--on', 'id', '--kind', 'anti'), [
    'id,name,x',
    ',nil,3',
    '4,dan,5',
  ]);
  const [named] = await join('l.csv', 'r.csv', '--on', 'id', '--suffix', '2');
  t.is(named, 'id,name,x,x2,y');
});

test('columns of different names are both written, and several columns are compared together', async (t) => {
  t.deepEqual(await join('r.csv', 'l.csv', '--on', 'id=x'), [
    'id,x,y,id_right,name,x_right',
    '2,20,a,2,"b,o",2',
  ]);
  writeFileSync(path('a.csv'), 'k,l,v\n1,x,1\n1,y,2\n,x,3\n2,,4\n');
  writeFileSync(path('b.csv'), 'k,l,w\n1,y,5\n1,x,6\n,x,7\n2,,8\n');
  t.deepEqual(await join('a.csv', 'b.csv', '--on', 'k,l'), ['k,l,v,w', '1,x,1,6', '1,y,2,5']);
});

test('all formats of both tables give the same rows', async (t) => {
  const tables = [];
  for (const [from, side] of [
    ['l.csv', 'l'],
    ['r.csv', 'r'],
  ] as const) {
    const names: string[] = [from];
    for (const format of ['parquet', 'arrow', 'ndjson', 'tsv']) {
      names.push(`${side}.${format}`);
      await convert(from, `${side}.${format}`, side === 'l' ? 'name' : 'y');
    }
    tables.push(names);
  }
  const number = (value: unknown) => (value === null ? null : Number(value));
  const rowsOf = (lines: readonly string[]) =>
    lines
      .map((line) => JSON.parse(line))
      .map(({ id, name, x, x_right, y }) => JSON.stringify([number(id), name, number(x), number(x_right), y]))
      .sort();
  const expected = [
    '[1,"amy",4,10,"b"]',
    '[1,"amy",4,11,"c"]',
    '[1,"ann",1.5,10,"b"]',
    '[1,"ann",1.5,11,"c"]',
    '[2,"b,o",2,20,"a"]',
    '[4,"dan",5,null,null]',
    '[null,"nil",3,null,null]',
  ];
  for (const left of tables[0] as string[]) {
    for (const right of tables[1] as string[]) {
      const found = await join(left, right, '--on', 'id', '--kind', 'left', '--to', 'ndjson');
      t.deepEqual(rowsOf(found), expected, `${left} ${right}`);
    }
  }
});

test('the output is written in every format', async (t) => {
  for (const name of ['o.parquet', 'o.arrow', 'o.arrows', 'o.tsv', 'o.ndjson', 'o.csv.gz']) {
    await join('l.csv', 'r.csv', '--on', 'id', '--kind', 'left', '-o', path(name), '--verify');
    const back = await clsort(['sort', path(name), '--by', 'name,y', '--to', 'ndjson', ...host]);
    t.is(back.out.split('\n').length - 1, 7, `${name}: ${back.err}`);
    t.regex(back.out, /"name":"dan","x":"?5(\.0)?"?,"x_right":null,"y":null/, name);
  }
});

test('numbers of different types are equal as numbers; NaNs are equal, and so are both zeros', async (t) => {
  writeFileSync(path('n.csv'), 'k,i\n0,0\n-0.0,1\nnan,2\n1e0,3\n0.5,4\n18446744073709551617,5\n');
  writeFileSync(path('m.csv'), 'k,j\n-0.0,0\n0,1\nNaN,2\n1,3\n.50,4\n18446744073709551616,5\n');
  const pairs = ['0,0', '0,1', '1,0', '1,1', '2,2', '3,3', '4,4'];
  const positions = async (left: string, right: string) =>
    (await join(left, right, '--on', 'k', '--to', 'ndjson')).map((line) => {
      const { i, j } = JSON.parse(line);
      return `${i},${j}`;
    });
  t.deepEqual(await positions('n.csv', 'm.csv'), pairs);
  for (const [name, type] of [
    ['f.parquet', 'f64'],
    ['g.arrow', 'f32'],
  ] as const) {
    await clsort([
      'sort',
      path('m.csv'),
      '-o',
      path(name),
      '--by',
      `k:${type}`,
      '--type',
      `k=${type}`,
      ...host,
    ]);
    const found = await positions('n.csv', name);
    t.deepEqual(found.filter((pair) => !pair.startsWith('5')).sort(), pairs, name);
  }
  writeFileSync(path('i.csv'), 'k,j\n1,3\n2,4\n');
  for (const type of ['u8', 'i64']) {
    await clsort([
      'sort',
      path('i.csv'),
      '-o',
      path('i.parquet'),
      '--by',
      `k:${type}`,
      '--type',
      `k=${type}`,
      ...host,
    ]);
    t.deepEqual(await positions('n.csv', 'i.parquet'), ['3,3'], type);
  }
});

test('texts, dates, times and booleans are keys, and texts may hold any bytes', async (t) => {
  for (const [values, others, count] of [
    [['a', 'b\u0000', 'ä', 'a'], ['ä', 'a', 'b'], 3],
    [['2020-01-31', '2021-02-01'], ['2021-02-01', '2020-01-30'], 1],
    [['2020-01-31T10:00:00', '2021-02-01T00:00:00'], ['2020-01-31 10:00:00'], 1],
    [['true', 'false'], ['false', 'true', 'true'], 3],
    [['1', 'x'], ['1', '2'], 1],
  ] as const) {
    writeFileSync(path('t.csv'), `k,i\n${values.map((value, i) => `${value},${i}\n`).join('')}`);
    writeFileSync(path('u.csv'), `k,j\n${others.map((value, i) => `${value},${i}\n`).join('')}`);
    t.is((await join('t.csv', 'u.csv', '--on', 'k')).length - 1, count, values.join());
    await convert('u.csv', 'u.parquet', 'k');
    if (values[0] !== '1')
      t.is((await join('t.csv', 'u.parquet', '--on', 'k')).length - 1, count, values.join());
  }
});

test('tables without rows, and tables of the key alone, are joined', async (t) => {
  writeFileSync(path('none.csv'), 'id,z\n');
  t.deepEqual(await join('l.csv', 'none.csv', '--on', 'id'), ['id,name,x,z']);
  t.is((await join('l.csv', 'none.csv', '--on', 'id', '--kind', 'left'))[1], '1,ann,1.50,');
  t.deepEqual(await join('none.csv', 'l.csv', '--on', 'id'), ['id,z,name,x']);
  writeFileSync(path('ids.csv'), 'id\n1\n""\n4\n');
  t.deepEqual(await join('ids.csv', 'ids.csv', '--on', 'id', '--kind', 'left'), ['id', '1', '""', '4']);
  t.deepEqual(await join('ids.csv', 'r.csv', '--on', 'id', '--kind', 'left'), [
    'id,x,y',
    '1,10,b',
    '1,11,c',
    ',,',
    '4,,',
  ]);
  t.deepEqual(await join('ids.csv', 'ids.csv', '--on', 'id', '--to', 'ndjson'), ['{"id":1}', '{"id":4}']);
});

test('an only value of the right table keeps its quotes, and missing ones are empty', async (t) => {
  writeFileSync(path('left.csv'), 'id,n\n1,a\n2,b\n3,c\n4,d\n');
  writeFileSync(path('right.csv'), 'text,id\n"",1\n,2\n"x,y",3\n');
  const rows = ['id,n,text', '1,a,""', '2,b,', '3,c,"x,y"', '4,d,'];
  t.deepEqual(await join('left.csv', 'right.csv', '--on', 'id', '--kind', 'left'), rows);
  writeFileSync(path('middle.csv'), 'p,id,q\n1,1\n"2",2,"b"\n');
  t.deepEqual(await join('left.csv', 'middle.csv', '--on', 'id', '--ragged', 'fill'), [
    ...['id,n,p,q', '1,a,1,', '2,b,"2","b"'],
  ]);
});

test('random tables agree with a plain reference', async (t) => {
  const random = new Random(47n);
  // Keys of few bytes and of many are compared in different ways.
  for (const [rows, suffix] of [
    [1, ''],
    [30, ''],
    [2000, ''],
    [2000, ' and more text'],
  ] as const) {
    const key = () => `${random.below(Math.max(2, rows >> 2)) - 3}${suffix}`;
    const value = () => (random.below(8) === 0 ? '' : key());
    const [a, b] = [0, 1].map(() => Array.from({ length: rows }, value)) as [string[], string[]];
    writeFileSync(path('x.csv'), `k,i\n${a.map((key, i) => `${key},${i}\n`).join('')}`);
    writeFileSync(path('z.csv'), `k,j\n${b.map((key, i) => `${key},${i}\n`).join('')}`);
    const partners = a.map((key) => (key === '' ? [] : b.flatMap((other, j) => (other === key ? [j] : []))));
    const inner = a.flatMap((key, i) => (partners[i] as number[]).map((j) => `${key},${i},${j}`));
    const left = a.flatMap((key, i) => {
      const found = partners[i] as number[];
      return found.length === 0 ? [`${key},${i},`] : found.map((j) => `${key},${i},${j}`);
    });
    const anti = a.flatMap((key, i) => ((partners[i] as number[]).length === 0 ? [`${key},${i}`] : []));
    for (const [kind, expected] of Object.entries({ inner, left, anti })) {
      t.deepEqual(
        (await join('x.csv', 'z.csv', '--on', 'k', '--kind', kind)).slice(1),
        expected,
        `${kind} ${rows}${suffix}`,
      );
    }
  }
});

test('a report counts the rows, and invalid arguments are refused', async (t) => {
  const report = await clsort([
    'join',
    path('l.csv'),
    path('r.csv'),
    '--on',
    'id',
    '-o',
    path('o.csv'),
    '--json',
    ...host,
  ]);
  t.like(JSON.parse(report.out), { schema: 'clsort.join/1', n: [5, 5], written: 5, kind: 'inner' });
  t.is(readFileSync(path('o.csv'), 'utf8').split('\n').length - 1, 6);
  writeFileSync(path('days.csv'), 'id,day\n2020-01-01,1\n');
  writeFileSync(path('clash.csv'), 'id,x,x_right\n1,2,3\n');
  writeFileSync(path('a.u32'), 'abcd');
  await convert('days.csv', 'days.parquet', 'id');
  for (const [args, message] of [
    [['l.csv', 'r.csv', '--on', 'nme'], /cannot find column nme.*Did you mean "name"/],
    [['l.csv', 'r.csv', '--on', 'id=z'], /cannot find column z/],
    [['l.csv', 'r.csv', '--on', '=id'], /for on but got/],
    [['l.csv', 'days.parquet', '--on', 'id'], /cannot join column id with column id: they hold .* and date/],
    [['l.csv', 'clash.csv', '--on', 'id'], /two columns would have the name x_right. Pass another --suffix/],
    [['l.csv', 'a.u32', '--on', 'id'], /cannot use .* as a table/],
    [['l.csv', 'r.csv', '--on', 'id', '--kind', 'outer'], /inner, left, anti/],
    [['l.csv', 'r.csv', '--on', 'id', '--memory', '100b'], /memory/],
    [['l.csv', 'r.csv'], /on/],
  ] as const) {
    const [left, right, ...options] = args;
    const ran = await clsort(['join', path(left), path(right), ...options]);
    t.is(ran.code, 2, `${args}: ${ran.err}`);
    t.regex(ran.err, message, args.join(' '));
    t.is(ran.out, '');
  }
});
