/** Lines that the addon sorts are those that JavaScript sorts. */
import ava from 'ava';
import { LineOrder, type LineOrderOptions } from '../../../src/io/lines/line-order.js';
import { Lines } from '../../../src/io/lines/lines.js';
import type { Output } from '../../../src/io/streams/output.js';
import { hostSorter } from '../../../src/sort/api/host-sorter.js';
import { loadTableFunctions, tableFunctions } from '../../../src/sort/host/native-tables.js';
import { Random } from '../../../src/util/random.js';

const test = ava.serial; // the first test compares results without and with the addon

const SEED = Number(process.env.CLSORT_TEST_SEED ?? 1);
const sorter = hostSorter(() => undefined);
ava.after.always(() => sorter.close());

/** More lines than a thread of the addon sorts at a time. */
const LARGE = 9000;

const NUMBERS = [
  ...[
    '0',
    '-0',
    '+0',
    '7',
    '007',
    '+3',
    '-12',
    '3.50',
    '3.5',
    '-3.25',
    '.5',
    '-.5',
    '5.',
    '1e3',
    '1E-3',
    '1e+5',
  ],
  ...[
    '12345678901234567890',
    '12345678901234567891',
    '-12345678901234567890.5',
    '-12345678901234567891',
    '-99999999999999999999',
    '-100000000000000000000',
    '0.1',
    '0.10000000000000001',
    '-0.1',
    '-0.10000000000000001',
  ],
  ...['9007199254740993', '9007199254740992', '1e22', '1e23', '1e308', '1e309', '-1e400', '1e-400', '5e-324'],
  ...[
    'inf',
    '-inf',
    'Infinity',
    'nan',
    '-nan',
    'NaN',
    '0x1F',
    '0x1f',
    '31',
    '-0x10',
    ' 4',
    '\t4',
    '4 ',
    '4\r',
  ],
  `${'1'.repeat(400)}`,
  `0.${'0'.repeat(400)}1`,
  `0.${'3'.repeat(100)}`,
];
const WORDS = [
  ...[
    '',
    '-',
    '+',
    '.',
    '-.',
    'x',
    '1e',
    '1e+',
    '12abc',
    '1 2',
    '1.2.3',
    '0x',
    '0xg',
    '1,5',
    'infinit',
    'nanx',
    '--1',
  ],
  ...[
    '\xa04',
    '4\xa0',
    '4\v',
    '\xff',
    '\x00',
    'a',
    'a\x00',
    'a\x00\x00',
    'aaaaaaaa',
    'aaaaaaaa\x00',
    'aaaaaaaab',
  ],
  ...['prefix of a line, a', 'prefix of a line, b', 'prefix of a line', 'a\tb', 'a b', 'A', '~', 'é'],
];

const pickOf =
  (random: Random) =>
  (from: readonly string[]): string =>
    from[random.below(from.length)] as string;

/** Kinds of lines: of many values and of few, long and short, numbers and others. */
function* texts(random: Random): Generator<Buffer> {
  const pick = pickOf(random);
  const large: (() => string)[] = [
    () => String(random.below(20)),
    () => String((random.u32() - 2 ** 31) / (1 + random.u32())),
    () => `a common prefix ${pick(WORDS)}`,
  ];
  const kinds: (() => string)[] = [
    ...large,
    () => pick(NUMBERS),
    () => pick([...NUMBERS, '4\xa0', '4\v']),
    () => pick(WORDS),
    () => pick([...NUMBERS, ...WORDS]),
    () => `a common prefix ${pick(WORDS)}${pick(WORDS)}`,
    () => 'ab'.repeat(random.below(40)),
    () => `${random.u32()}${random.u32()}${random.below(2)}`,
  ];
  for (const kind of kinds) {
    for (const count of large.includes(kind) ? [300, LARGE] : [0, 1, 2, 300]) {
      yield Buffer.from(Array.from({ length: count }, () => `${kind()}\n`).join(''), 'latin1');
    }
  }
}

const COMPARISONS = ['text', 'n', 'g', 'undecided'] as const;

function* orders(): Generator<{
  readonly name: string;
  readonly options: LineOrderOptions;
  readonly unique: boolean;
}> {
  for (const compare of COMPARISONS) {
    for (const [reverse, stable, unique] of [
      [false, false, false],
      [true, false, false],
      [false, true, false],
      [true, true, false],
      [false, true, true],
      [true, true, true],
    ] as const) {
      const options: LineOrderOptions = {
        compare: compare === 'undecided' ? 'text' : compare,
        ...{ fold: false, dictionary: false, blanks: [false, false], reverse, stable },
        ...{ keys: [], separator: undefined },
      };
      yield { name: `${compare} ${reverse ? 'r' : ''}${unique ? 'u' : stable ? 's' : ''}`, options, unique };
    }
  }
}

async function sorted(
  bytes: Buffer,
  compare: string,
  options: LineOrderOptions,
  unique: boolean,
): Promise<Buffer> {
  const lines = new Lines(bytes, 0x0a);
  const numbers = compare === 'undecided' ? lines.numbers() : undefined;
  const order = new LineOrder(numbers ? { ...options, compare: 'g' } : options);
  const result = await lines.sorted(numbers ?? lines.codes(order), order, unique, sorter);
  const written: Uint8Array[] = [];
  await result.write({ write: async (piece: Uint8Array) => void written.push(piece) } as unknown as Output);
  return Buffer.concat(written);
}

test('the addon sorts lines as JavaScript does', async (t) => {
  t.is(tableFunctions(), undefined);
  const all = [...texts(new Random(BigInt(SEED)))];
  const results: Buffer[] = [];
  const each = async (visit: (result: Buffer, name: string, k: number) => void) => {
    let k = 0;
    for (const [i, bytes] of all.entries()) {
      for (const { name, options, unique } of orders()) {
        const compare = name.split(' ')[0] as string;
        visit(await sorted(bytes, compare, options, unique), `${name}, text ${i}`, k++);
      }
    }
  };
  await each((result) => results.push(result));
  await loadTableFunctions();
  const wrong: string[] = [];
  await each((result, name, k) => {
    if (!result.equals(results[k] as Buffer)) wrong.push(name);
  });
  t.deepEqual(wrong, [], `seed ${SEED}`);
});

test('lines that are longer than a piece of the output are written', async (t) => {
  const long = 'x'.repeat(5_000_000);
  const options = [...orders()][0]?.options as LineOrderOptions;
  const result = await sorted(Buffer.from(`y\n${long}\na\n`), 'text', options, false);
  t.is(result.toString(), `a\n${long}\ny\n`);
});
