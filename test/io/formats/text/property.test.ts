import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import ava from 'ava';
import { exactCode, scanNumber } from '../../../../src/io/formats/text/number-text.js';
import { FormatError } from '../../../../src/util/errors.js';
import { Random } from '../../../../src/util/random.js';
import { scratchFolder } from '../../../cli/cli.js';
import { FULL } from '../../../pairwise.js';
import { recordsOf } from './reference.js';
import { sorted } from './sorted.js';

const test = ava.serial; // all write the same files
const { path, remove } = scratchFolder();
ava.after.always(remove);

const SEED = Number(process.env.CLSORT_TEST_SEED ?? 1);
const FILES = FULL ? 1000 : 250;

/** Parts of fields that are difficult for readers. */
const PARTS = [
  'a',
  'B',
  '0',
  '7',
  ' ',
  '#',
  "'",
  ';',
  '|',
  '\t',
  ',',
  '\\',
  'é',
  '\u2028',
  '😀',
  '-',
  '.',
  'NA',
  'x'.repeat(70),
];
/** Parts that occur only between quotes. */
const QUOTED = ['"', '\n', '\r', '\r\n'];
const ENDS = ['\n', '\r\n', '\r'];

class Shapes extends Random {
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** A field in its written form. */
  field(delimiter: string): string {
    const parts = Array.from({ length: this.below(5) }, () =>
      this.pick(this.below(4) === 0 ? QUOTED : PARTS),
    );
    const text = parts.join('');
    const isPlain = text !== '' && !/["\r\n]/.test(text) && !text.includes(delimiter);
    if (text === '' || (isPlain && this.below(3) > 0)) return text;
    return `"${text.replaceAll('"', '""')}"`;
  }
}

interface Shape {
  readonly text: string;
  readonly delimiter: string;
  readonly columns: number;
  readonly header: boolean;
}

function shapeOf(shapes: Shapes): Shape {
  const delimiter = shapes.pick([',', ';', '\t', '|']);
  const columns = 1 + shapes.below(5);
  const header = shapes.below(2) === 0;
  const isMixed = shapes.below(3) === 0;
  const usual = shapes.pick(ENDS);
  const end = (): string => (isMixed ? shapes.pick(ENDS) : usual);
  const rows = shapes.below(30);
  const lines = Array.from({ length: rows }, () =>
    Array.from({ length: columns }, () => shapes.field(delimiter)).join(delimiter),
  );
  const names = Array.from({ length: columns }, (_, i) => `n${i}`).join(delimiter);
  const all = [...(header ? [names] : []), ...lines];
  const last = shapes.below(2) === 0 ? '' : usual;
  const mark = shapes.below(8) === 0 ? '\ufeff' : '';
  const text = mark + all.map((line, i) => line + (i < all.length - 1 ? end() : last)).join('');
  return { text, delimiter, columns, header };
}

/** Rows in the order of the UTF-8 bytes of a column, missing values last, equal ones in input order. */
function ordered(rows: readonly string[][], column: number): string[][] {
  const key = (row: readonly string[]): Buffer => Buffer.from(row[column] ?? '');
  return rows.toSorted((a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x.length === 0 || y.length === 0) return (x.length === 0 ? 1 : 0) - (y.length === 0 ? 1 : 0);
    return Buffer.compare(x, y);
  });
}

/** Checks with Python's csv module that each output has the expected rows. */
const PYTHON = `
import csv, io, json, sys
csv.field_size_limit(10 ** 9)
for number, line in enumerate(open(sys.argv[1], encoding='utf-8')):
    case = json.loads(line)
    def read(text):
        rows = csv.reader(io.StringIO(text.removeprefix('\\ufeff'), newline=''), delimiter=case['delimiter'])
        return [row for row in rows if row]
    before, after = read(case['input']), read(case['output'])
    head = case['header']
    rows = before[head:]
    column = case['column']
    filled = [row for row in rows if row[column]]
    empty = [row for row in rows if not row[column]]
    wanted = before[:head] + sorted(filled, key=lambda row: row[column].encode()) + empty
    if wanted != after:
        print(json.dumps([number, case, wanted, after]))
        sys.exit(1)
`;

test(`${FILES} files of awkward shapes come out with the rows that other readers find in them`, async (t) => {
  const shapes = new Shapes(SEED);
  const cases: string[] = [];
  for (let file = 0; file < FILES; file++) {
    const { text, delimiter, columns, header } = shapeOf(shapes);
    const column = shapes.below(columns);
    const label = `seed ${SEED}, file ${file}: ${JSON.stringify({ text, delimiter, column })}`;
    const rows = recordsOf(text.replace(/^\ufeff/, ''), delimiter);
    const head = header ? rows.slice(0, 1) : [];
    const wanted = [...head, ...ordered(rows.slice(head.length), column)];
    const by = [{ column, type: 'text' }];
    const output = (await sorted(path, text, { header, delimiter, by, verify: false })).text;
    t.deepEqual(recordsOf(output.replace(/^\ufeff/, ''), delimiter), wanted, label);
    t.is(output.startsWith('\ufeff'), text.startsWith('\ufeff'), label);
    cases.push(JSON.stringify({ input: text, output, delimiter, header: head.length, column }));
  }
  writeFileSync(path('cases.jsonl'), cases.join('\n'));
  const { status, stdout, error } = spawnSync('python3', ['-c', PYTHON, path('cases.jsonl')], {
    encoding: 'utf8',
  });
  if (error) t.log('python3 is not here: only the reader of the test has compared');
  else t.is(status, 0, stdout);
});

/** Returns the delimiters that split the first record, by the simple reader. */
const delimitersIn = (text: string): string[] =>
  [',', ';', '\t', '|'].filter((delimiter) => (recordsOf(text, delimiter)[0]?.length ?? 0) > 1);

const counted = (records: readonly (readonly string[])[]): string[] =>
  records.map((record) => JSON.stringify(record)).toSorted();

test(`${FILES} files without a given delimiter or header keep every record, or are refused`, async (t) => {
  const shapes = new Shapes(SEED + 3);
  let [kept, refused, certain] = [0, 0, 0];
  for (let file = 0; file < FILES; file++) {
    const { text, delimiter } = shapeOf(shapes);
    const label = `seed ${SEED + 3}, file ${file}: ${JSON.stringify({ text, delimiter })}`;
    const plain = text.replace(/^\ufeff/, '');
    if (recordsOf(plain, delimiter).length === 0) continue;
    let result: Awaited<ReturnType<typeof sorted>>;
    try {
      result = await sorted(path, text, { by: [{ column: 0, type: 'text' }] });
    } catch (error) {
      t.true(error instanceof FormatError, label);
      refused++;
      continue;
    }
    const found = result.report.table?.text;
    const by = found?.delimiter ?? ',';
    const before = recordsOf(plain, by);
    const after = recordsOf(result.text.replace(/^\ufeff/, ''), by);
    t.deepEqual(counted(after), counted(before), label);
    const head = found?.header ? 1 : 0;
    if (head === 1) t.deepEqual(after[0], before[0], label);
    t.deepEqual(after.slice(head), ordered(before.slice(head), 0), label);
    kept++;
    // Only one delimiter splits the first record, and it splits all others into as many fields.
    const widths = new Set(recordsOf(plain, delimiter).map((record) => record.length));
    if (delimitersIn(plain).join() !== delimiter || widths.size !== 1) continue;
    t.is(found?.delimiter, delimiter, label);
    certain++;
  }
  t.log(`${kept} sorted, ${certain} with a certain delimiter, ${refused} refused`);
  t.true(kept > refused && certain > FILES / 10);
});

test('a line that is cut off or too long is an error with its line in files of awkward shapes', async (t) => {
  const shapes = new Shapes(SEED + 1);
  for (let file = 0; file < 100; file++) {
    const width = 2 + shapes.below(3);
    const lines = Array.from({ length: 3 + shapes.below(20) }, () =>
      Array.from({ length: width }, () => `v${shapes.below(9)}`).join(','),
    );
    const wrong = 1 + shapes.below(lines.length - 1);
    lines[wrong] = shapes.below(2) === 0 ? `${lines[wrong]},more` : 'less';
    const run = sorted(path, lines.join(shapes.pick(ENDS)), { by: '0', header: true, delimiter: ',' });
    await t.throwsAsync(
      run,
      { instanceOf: FormatError, message: new RegExp(`line ${wrong + 1} has `) },
      lines.join('\n'),
    );
  }
});

/** A number as an integer times a power of ten. */
function fractionOf(text: string): [bigint, number] {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const value = BigInt(`${whole}${fraction}` || '0');
  return [sign === '-' ? -value : value, Number(power) - fraction.length];
}

function compareNumbers(a: string, b: string): number {
  const [[x, i], [y, j]] = [fractionOf(a), fractionOf(b)];
  const smaller = Math.min(i, j);
  const difference = x * 10n ** BigInt(i - smaller) - y * 10n ** BigInt(j - smaller);
  if (difference !== 0n) return difference < 0n ? -1 : 1;
  if (x !== 0n) return 0;
  return (a.startsWith('-') ? 0 : 1) - (b.startsWith('-') ? 0 : 1); // −0 precedes 0
}

test('codes of numbers of any length are in the order of the numbers', (t) => {
  const shapes = new Shapes(SEED + 2);
  const digits = (maxDigits: number): string =>
    Array.from({ length: shapes.below(maxDigits) }, () => shapes.below(3) * shapes.below(5)).join('');
  const number = (): string => {
    const whole = digits(shapes.pick([2, 5, 40]));
    const fraction = digits(shapes.pick([1, 3, 30]));
    const power = shapes.below(3) === 0 ? `e${shapes.pick(['', '-', '+'])}${shapes.below(30)}` : '';
    const body = whole === '' && fraction === '' ? '0' : `${whole}${fraction === '' ? '' : `.${fraction}`}`;
    return `${shapes.pick(['', '', '-'])}${body}${power}`;
  };
  const codeOf = (text: string): Uint8Array => {
    const bytes = Buffer.from(text);
    const scanned = scanNumber(bytes, 0, bytes.length);
    if (!scanned) throw new Error(`${text} is no number`);
    return exactCode(scanned, bytes, 'last');
  };
  for (let i = 0; i < 5000; i++) {
    const [a, b] = [number(), number()];
    t.is(Math.sign(Buffer.compare(codeOf(a), codeOf(b))), compareNumbers(a, b), `${a} and ${b}`);
  }
});

test('lines of JSON come out byte for byte in the order of their keys', async (t) => {
  const shapes = new Shapes(SEED + 3);
  for (let file = 0; file < FILES / 5; file++) {
    const isNumbers = shapes.below(2) === 0;
    const key = (): string =>
      isNumbers
        ? `${1 + shapes.below(4)}${shapes.below(2) ? `.${shapes.below(100)}` : ''}${'0'.repeat(shapes.below(2) * 20)}`
        : JSON.stringify(shapes.pick(PARTS) + shapes.pick(QUOTED));
    const lines = Array.from({ length: shapes.below(30) }, (_, i) => {
      const value = shapes.below(6) === 0 ? 'null' : key();
      return `{${' '.repeat(shapes.below(2))}"k": ${value}, "i":${i}, "v":${JSON.stringify(shapes.field(','))}}`;
    });
    const { text } = await sorted(path, lines.join('\n'), {
      from: 'ndjson',
      by: lines.length === 0 ? '0' : 'k',
      verify: false,
    });
    const keyOf = (line: string): string | null =>
      /^\{ ?"k": ((?:"(?:[^"\\]|\\.)*")|[^,]*),/.exec(line)?.[1] ?? null;
    const wanted = lines.toSorted((a, b) => {
      const [x, y] = [keyOf(a) as string, keyOf(b) as string];
      if (x === 'null' || y === 'null') return (x === 'null' ? 1 : 0) - (y === 'null' ? 1 : 0);
      return isNumbers
        ? compareNumbers(x, y)
        : Buffer.compare(Buffer.from(JSON.parse(x)), Buffer.from(JSON.parse(y)));
    });
    t.is(text, wanted.map((line) => `${line}\n`).join(''), `seed ${SEED}, file ${file}`);
  }
});
