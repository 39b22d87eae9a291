import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import ava from 'ava';
import { NumberScanner } from '../../../../src/io/formats/text/number-style.js';
import { cellsOf } from '../../../../src/io/formats/text/text-cells.js';
import { FORM } from '../../../../src/io/formats/text/values.js';
import { sortTableFile, type TableJob } from '../../../../src/io/tables/sort-table-file.js';
import { DTYPES } from '../../../../src/keys/dtype.js';
import { hostSorter } from '../../../../src/sort/api/host-sorter.js';
import type { Sorter } from '../../../../src/sort/api/sorter.js';
import { loadTableFunctions, tableFunctions } from '../../../../src/sort/host/native-tables.js';
import { Random } from '../../../../src/util/random.js';
import { MAIN, scratchFolder } from '../../../cli/cli.js';
import { nowhere } from '../../context.js';

const test = ava.serial; // the first test compares readings without and with the addon
const { path, remove } = scratchFolder();
ava.after.always(remove);

const SEED = Number(process.env.CLSORT_TEST_SEED ?? 1);
const TABLES = Number(process.env.CLSORT_TEST_TABLES ?? 150);
const sorter = hostSorter(() => undefined) as Sorter;

const NUMBERS = [
  ...['0', '-0', '7', '-12', '007', '+5', ' 42', '3\t', '9223372036854775807', '9223372036854775808'],
  ...['-9223372036854775808', '-9223372036854775809', '18446744073709551615', '18446744073709551616'],
  ...[
    '170141183460469231731687303715884105728',
    '99999999999999999999999999999999999999999',
    '100000000000000000000',
  ],
  ...[
    '1.',
    '.5',
    '-.5',
    '0.1',
    '1e3',
    '1E-3',
    '-1e+300',
    '1e308',
    '1e309',
    '1e-400',
    '4.9e-324',
    '1e23',
    '1e22',
  ],
  ...[
    '0.1234567890123456',
    '0.10000000000000001',
    '1125899906842624.3',
    '9007199254740993',
    '0.30000000000000004',
  ],
  ...[
    '3.4028236e38',
    '1.00000005960464477539',
    '255',
    '256',
    '-128',
    '65536',
    '4294967296',
    '1.5e2147483647',
  ],
  ...['nan', 'NaN', '-nan', 'inf', '-Infinity', '+INF'],
];
const OTHERS = [
  '',
  '""',
  'NA',
  'x',
  'é',
  '😀',
  '1e',
  '-',
  '.',
  '1 2',
  '1,5',
  '2020-01-02',
  '10:20',
  'true',
  'infinite',
];
const QUOTED = ['"a""b"', '"1"', '"-2.5"', '"a\nb"', '"a\r\nb"', '"x,y"', '""""', '" "'];
const OTHER_MEMBERS = ['"d":1', '"e":{"f":[1,{"a":2}],"g":"}"}', '"h":[]', '"é":" "', '"\\u00e9":2'];
const BROKEN_JSON = [
  ...['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"a":01}', '{"a":-}', '{"a":1.}', '{"a":.5}', '{"a":1e}'],
  ...['{"a":"x', '{"a":"\t"}', '{"a":"\\x"}', '{"a":"\\u12g4"}', '{"a":"\\ud800"}', '{"a":[1,]}'],
  ...['{"a":1,}', '{"a" 1}', '{a:1}', '{"a":1} x', '{"a":tru}', '{"a":NaN}', '{"a":-Infinity}', '[1]', '7'],
  ...['{', '{"a"', '{"a":', '{}', `{"a":${'['.repeat(1001)}${']'.repeat(1001)}}`, '{"a":"\xff"}'],
  `{"a":${'['.repeat(999)}${']'.repeat(999)}}`,
];
const BROKEN = ['"open', '"a"b', '\xff', 'a"b', '\0'];

class Tables extends Random {
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** A function that returns fields of a column, most of them of one kind. */
  #column(): () => string {
    const digits = (): string => String(this.u32());
    const fields = this.pick([
      digits,
      () => `-${this.below(50)}`,
      () => `${this.below(1000)}.${digits()}`,
      () => String(this.u32() / 2 ** 32 + this.u32() / 2 ** 64),
      () => (this.u32() / 2 ** 16).toPrecision(this.pick([15, 16, 17])),
      () => `${digits()}${digits()}${digits()}`,
      () => this.pick(NUMBERS),
      () => this.pick(OTHERS),
      () => this.pick(QUOTED),
      () => `text ${this.below(20)}`,
    ]);
    const others = this.pick([[], [''], ['', '""'], NUMBERS, OTHERS, [...QUOTED, ...NUMBERS]]);
    return () => (others.length > 0 && this.below(12) === 0 ? this.pick(others) : fields());
  }

  csv(): { readonly text: Buffer; readonly job: Partial<TableJob> } {
    const columns = 1 + this.below(3);
    const makers = Array.from({ length: columns }, () => this.#column());
    const delimiter = this.pick([',', ',', ';', '::']);
    const end = this.pick(['\n', '\n', '\r\n', '\r']);
    const isBroken = this.below(6) === 0;
    const lines = Array.from({ length: this.below(80) }, () => {
      const fields = makers.map((maker) => (isBroken && this.below(60) === 0 ? this.pick(BROKEN) : maker()));
      if (this.below(isBroken ? 40 : 4000) === 0) fields.pop();
      if (this.below(isBroken ? 40 : 4000) === 0) fields.push('more');
      return this.below(60) === 0 ? `#${fields.join(delimiter)}` : fields.join(delimiter);
    });
    const header = ['a', 'b', 'c'].slice(0, columns).join(delimiter);
    const text = `${this.pick(['', '', '\ufeff'])}${[header, ...lines].join(end)}${this.pick(['', end])}`;
    return {
      text: Buffer.from(text.replaceAll('\xff', '\ue000')),
      job: { ...this.#job(columns), format: 'csv', delimiter, header: true },
    };
  }

  ndjson(): { readonly text: Buffer; readonly job: Partial<TableJob> } {
    const values = [
      ...NUMBERS.filter((text) => /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text)),
      'null',
      '"a\\nb"',
      '"é"',
      'true',
      '""',
    ];
    const makers = Array.from({ length: 3 }, () =>
      this.pick([() => String(this.below(100)), () => this.pick(values), () => `"t${this.below(9)}"`]),
    );
    const isBroken = this.below(4) === 0;
    const [blank, end] = [this.pick(['', '', ' ', '\t']), this.pick(['\n', '\n', '\r\n'])];
    const line = (): string => {
      if (isBroken && this.below(40) === 0) return this.pick(BROKEN_JSON);
      const members = makers.flatMap((maker, k) => {
        const name = this.below(30) === 0 ? `\\u006${k + 1}` : 'abc'[k];
        return this.below(12) === 0 ? [] : [`"${name}"${blank}:${blank}${maker()}`];
      });
      if (this.below(30) === 0) members.reverse();
      if (this.below(40) === 0) members.push(this.pick(OTHER_MEMBERS));
      return `${blank}{${blank}${members.join(`${blank},`)}}${blank}`;
    };
    const isOfObjects = this.below(12) > 0;
    const lines = Array.from({ length: 1 + this.below(60) }, () =>
      this.below(50) === 0 ? blank : isOfObjects ? line() : (makers[0] as () => string)(),
    );
    const text = Buffer.from(lines.join(end).replaceAll('\xff', '\ue000'));
    if (isOfObjects) {
      return { text, job: { ...this.#job(3), format: 'ndjson' } };
    }
    return {
      text,
      job: { ...this.#job(1), by: ['json'], columns: undefined, uniqueBy: undefined, format: 'ndjson' },
    };
  }

  #job(columns: number): Partial<TableJob> {
    const names = ['a', 'b', 'c'].slice(0, columns);
    const key = (): string =>
      `${this.pick(names)}${this.pick(['', ':desc'])}${this.pick(['', ':nulls-first'])}${this.pick(['', '', '', ':f64', ':f32', ':i64', ':u8', ':text', ':number'])}`;
    return {
      by: [
        ...new Map(Array.from({ length: 1 + this.below(2) }, () => [this.pick(names), key()])).values(),
      ].filter((one, i, all) => all.findIndex((other) => other[0] === one[0]) === i),
      nan: this.pick(['first', 'last', undefined]),
      ...(this.below(4) === 0 && { ragged: this.pick(['fill', 'skip']) }),
      ...(this.below(2) === 0 && { comment: '#' }),
      ...(this.below(5) === 0 && { na: ['NA', '7'] }),
      ...(this.below(8) === 0 && { decimal: ',' }),
      ...(this.below(8) === 0 && { skip: 1 }),
      ...(this.below(6) === 0 && { head: this.below(20) }),
      ...(this.below(6) === 0 && { columns: [this.pick(names)] }),
      ...(this.below(8) === 0 ? { unique: true } : this.below(8) === 0 && { uniqueBy: [this.pick(names)] }),
      to: this.pick(['auto', 'auto', 'auto', 'csv', 'ndjson']),
    } as Partial<TableJob>;
  }
}

/** Sorts a table and returns all that a user sees. */
async function outcome(seed: number): Promise<unknown> {
  const tables = new Tables(seed);
  const { text, job } = seed % 3 === 0 ? tables.ndjson() : tables.csv();
  const bytes = Buffer.from(text);
  // An invalid sequence of UTF-8.
  for (let at = bytes.indexOf('\ue000'); at >= 0; at = bytes.indexOf('\ue000')) bytes[at] = 0xff;
  writeFileSync(path('in'), bytes);
  rmSync(path('out'), { force: true });
  const notes: string[] = [];
  const context = {
    ...nowhere,
    onNote: (note: string) => void notes.push(note),
    onWarning: ({ message }: { message: string }) => void notes.push(message),
  };
  try {
    const all = { verify: true, ...job, in: path('in'), out: path('out') } as TableJob;
    const { n, shape, table } = await sortTableFile(sorter, all, context);
    return { seed, notes, n, shape, table, out: readFileSync(path('out'), 'latin1') };
  } catch (error) {
    const { message, code, details } = error as Error & { code?: string; details?: unknown };
    return { seed, notes, message, code, details };
  }
}

test('random tables have the same result and the same errors with and without the addon', async (t) => {
  const expected: unknown[] = [];
  for (let i = 0; i < TABLES; i++) expected.push(await outcome(SEED * 1e6 + i));
  t.is(tableFunctions(), undefined, 'files of less than 64 KiB do not load them');
  const succeeded = expected.filter((one) => 'out' in (one as object)).length;
  t.true(
    succeeded > TABLES / 3 && succeeded < TABLES - TABLES / 50,
    `${succeeded} of ${TABLES} tables are valid`,
  );
  await loadTableFunctions();
  t.truthy(tableFunctions());
  for (let i = 0; i < TABLES; i++) t.deepEqual(await outcome(SEED * 1e6 + i), expected[i]);
});

test('tables of several windows have the same result and the same errors with and without the addon', (t) => {
  const random = new Random(SEED);
  const row = (i: number): string =>
    `${random.u32() % 1000},${(random.u32() / 7).toFixed(9)},"q""${random.u32()}\n${i}",${'x'.repeat(random.u32() % 90)}`;
  const lines = Array.from({ length: 60_000 }, (_, i) => row(i));
  writeFileSync(path('large.csv'), `a,b,c,d\n${lines.join('\n')}\n`);
  lines[50_000] = '1,2,3';
  writeFileSync(path('ragged.csv'), `a,b,c,d\n${lines.join('\n')}\n`);
  lines[50_000] = '1,2x,3,4';
  writeFileSync(path('typed.csv'), `a,b,c,d\n${lines.join('\n')}\n`);
  const object = (i: number): string =>
    `{"a": ${random.u32() % 1000}, "b": "${'x'.repeat(random.u32() % 90)}\\n", "c": [${i}]${i % 40_000 === 9 ? ', "d": 1' : ''}}`;
  const objects = Array.from({ length: 60_000 }, (_, i) => object(i));
  writeFileSync(path('large.ndjson'), `${objects.join('\n')}\n`);
  objects[50_000] = '{"a": 1, "a": 2}';
  writeFileSync(path('twice.ndjson'), objects.join('\n'));
  // A text without quotes is split by two threads.
  const ends = ['\n', '\r\n', '\n\n', '\n\r\n', '\n#,\n'];
  const plain = Array.from({ length: 120_000 }, (_, i) => {
    const end = i % 50 === 0 ? ends[random.u32() % ends.length] : '\n';
    return `${random.u32() % 1000},${random.u32()},${'x'.repeat(random.u32() % 60)}${end}`;
  });
  writeFileSync(path('plain.csv'), `a,b,c\n${plain.join('')}`);
  for (const i of [30_000, 60_001, 90_002]) plain[i] = '1,2\n';
  writeFileSync(path('plain-ragged.csv'), `a,b,c\n${plain.join('')}7,8,last`);
  objects[50_000] = '';
  objects[20_000] = ' ';
  writeFileSync(path('blank.ndjson'), objects.join('\r\n'));
  for (const args of [
    ['plain.csv', '--by', 'a,b:desc', '--comment', '#'],
    ['plain.csv', '--by', 'b', '--verify'],
    ['plain-ragged.csv', '--by', 'b,c', '--comment', '#'],
    ['plain-ragged.csv', '--by', 'b,c', '--comment', '#', '--ragged', 'fill'],
    ['plain-ragged.csv', '--by', 'c', '--comment', '#', '--ragged', 'skip', '--head', '5000'],
    ['blank.ndjson', '--by', 'b,a'],
    ['large.csv', '--by', 'a,b:desc'],
    ['large.ndjson', '--by', 'a,b:desc'],
    ['large.ndjson', '--by', 'd,a', '--columns', 'a,c'],
    ['twice.ndjson', '--by', 'a'],
    ['large.csv', '--by', 'd,a'],
    ['large.csv', '--by', 'c:desc', '--memory', '20M'],
    ['large.csv', '--by', 'b', '--head', '1000'],
    ['ragged.csv', '--by', 'a'],
    ['typed.csv', '--by', 'b:f64'],
    ['typed.csv', '--by', 'b'],
  ]) {
    const run = (engine: string) => {
      rmSync(path('out.csv'), { force: true });
      const { status, stderr } = spawnSync(
        process.execPath,
        [MAIN, 'sort', ...args, '-o', 'out.csv', '--device', 'host'],
        { cwd: path('.'), encoding: 'utf8', env: { ...process.env, CLSORT_HOST_ENGINE: engine } },
      );
      return { status, stderr, out: status === 0 ? readFileSync(path('out.csv'), 'utf8') : undefined };
    };
    const [expected, found] = [run('javascript'), run('')];
    t.is(found.status, expected.status, args.join(' '));
    t.is(found.out, expected.out, args.join(' '));
    t.is(withoutFolders(found.stderr), withoutFolders(expected.stderr), args.join(' '));
  }
});

test('numbers of many digits are sorted as doubles if each has the shortest digits of its double', async (t) => {
  const typeOf = async (numbers: readonly string[]): Promise<unknown> => {
    writeFileSync(path('in'), ['a', ...numbers].join('\n'));
    const job = { in: path('in'), out: path('out'), format: 'csv', to: 'csv', by: ['a'] } as TableJob;
    const { table } = await sortTableFile(sorter, job, nowhere);
    return table?.text?.types[0];
  };
  await loadTableFunctions();
  for (const fill of [0, 12_000]) {
    // More than 64 KiB are read by the addon.
    const others = Array.from({ length: fill }, (_, i) => `${i}.5`);
    t.is(await typeOf([...others, '511821.62470025674', '0.30000000000000004', '5e-324', '-1e-5']), 'f64');
    t.is(await typeOf([...others, '5.960464477539063e-8', '9.313225746154785e-10', '1e23']), 'f64');
    // 0.1 and 0.10000000000000001 have the same double.
    t.is(await typeOf([...others, '0.1', '0.10000000000000001']), 'number');
    t.is(await typeOf([...others, '9007199254740993.0']), 'number');
    t.is(await typeOf([...others, '1.00000000000000000001']), 'number');
  }
});

test('the addon reads the same numbers as JavaScript', async (t) => {
  await loadTableFunctions();
  const random = new Tables(SEED);
  for (const dtype of DTYPES) {
    for (let round = 0; round < 60; round++) {
      const texts = Array.from({ length: 1 + random.below(30) }, () =>
        random.pick([...NUMBERS, '', '1.5', '12', '-3', '200', String(random.u32() / 7)]),
      );
      const all = Buffer.from(texts.join(''));
      const ends = Int32Array.from(texts, (_, i) => texts.slice(0, i + 1).join('').length);
      const values = {
        ...{ rows: texts.length, bytes: all, ends, lines: Float64Array.from(texts, (_, i) => i + 1) },
        begins: Int32Array.from(texts, (text, i) => (ends[i] as number) - text.length),
        forms: Uint8Array.from(texts, (text) =>
          text === '' ? FORM.missing : random.pick([FORM.bare, FORM.text]),
        ),
        unescape: (bytes: Uint8Array) => bytes,
      };
      const cells = (scanner: NumberScanner): unknown => {
        const request = { type: { is: dtype }, name: 'file', column: 'a', scanner, nan: 'last' } as const;
        try {
          return Buffer.from((cellsOf(values, request) as { memory: Uint8Array }).memory).toString('hex');
        } catch (error) {
          return (error as Error).message;
        }
      };
      // A style without a number of its own reads with JavaScript.
      t.is(cells(new NumberScanner({})), cells(new NumberScanner({ thousands: '_' })), `${dtype}: ${texts}`);
    }
  }
});

/** Names of temporary folders differ. */
const withoutFolders = (text: string): string => text.replace(/\S*rows-\S*|\S*clsort-\S*/g, 'FOLDER');
