import { readFileSync } from 'node:fs';
import test from 'ava';
import { csv } from '../../../../src/io/formats/csv.js';
import { numberText } from '../../../../src/io/formats/text/number-csv.js';
import { elementsOf, keyWords } from '../../../../src/keys/array.js';
import { type Dtype, dtypeInfo } from '../../../../src/keys/dtype.js';
import { loadTableFunctions, tableFunctions } from '../../../../src/sort/host/native-tables.js';
import { Random } from '../../../../src/util/random.js';
import { scratchFolder } from '../../../cli/cli.js';
import { someKeys, write } from '../subprocess/files.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

const DTYPES: readonly Dtype[] = ['u8', 'i8', 'u16', 'i16', 'u32', 'i32', 'f32', 'u64', 'i64', 'f64'];

/** Numbers around the exponents that change the text of a float. */
const FLOATS = [
  1,
  -1,
  0.5,
  0.1,
  1 / 3,
  100,
  16777216,
  1e-4,
  9.999e-5,
  1e-5,
  1e15,
  9999999999999998,
  1e16,
  1e17,
  1e21,
  1e38,
];

function keysOf(dtype: Dtype, seed: number): Uint8Array {
  const keys = someKeys(dtype, 500, { payloads: false, seed });
  const floats = { f32: Float32Array, f64: Float64Array }[dtype as string];
  return floats ? Buffer.concat([keys, Buffer.from(floats.from(FLOATS).buffer)]) : keys;
}

/** Doubles of any bits and of few digits, powers of two and ten, their neighbours, and those halfway between decimals. */
function someDoubles(n: number): Float64Array {
  const random = new Random(Number(process.env.CLSORT_TEST_SEED ?? 1));
  const any = (): number => (random.u32() + random.u32() / 2 ** 32) / 2 ** 32;
  const kinds = [
    () => new DataView(new Uint32Array([random.u32(), random.u32()]).buffer).getFloat64(0),
    any,
    () => any() * 10 ** (random.below(60) - 30),
    () => 2 ** (random.below(2100) - 1075),
    () => 2 ** (random.below(2100) - 1075) * (1 - Number.EPSILON / 2),
    () => 10 ** (random.below(640) - 325) * (1 + (random.below(3) - 1) * Number.EPSILON),
    () => random.u32() / 10 ** random.below(12),
    () => random.u32() * 2 ** (random.below(90) - 60),
    () => Math.floor(any() * 2 ** 53) * 2 ** (random.below(12) - 6),
  ];
  return Float64Array.from({ length: n }, (_, i) => kinds[i % kinds.length]?.() ?? 0);
}

test('the addon writes the same text of doubles as JavaScript', async (t) => {
  await loadTableFunctions();
  const special = [0, -0, Number.NaN, -Infinity, Infinity, ...FLOATS];
  const doubles = Float64Array.from([...special, ...someDoubles(180_000)]);
  const bytes = new Uint8Array(doubles.buffer);
  const text = Buffer.from(tableFunctions()?.writeNumbers(bytes, dtypeInfo('f64')) ?? []).toString();
  const wrong = text
    .split('\n')
    .flatMap((line, i) =>
      line === (i < doubles.length ? numberText(doubles[i] as number, 'f64') : '') ? [] : [line],
    );
  t.deepEqual(wrong, []);
});

for (const dtype of DTYPES) {
  test(`${dtype} keys are the same text whether this process or another one writes them`, async (t) => {
    await loadTableFunctions();
    for (const [seed, options] of [{}, { header: false }, { delimiter: '\t' }].entries()) {
      const keys = keysOf(dtype, seed);
      const n = keys.length / dtypeInfo(dtype).bytes;
      const file = path(`${dtype}.csv`);
      const linesOf = async (column: string): Promise<readonly string[]> => {
        await write(csv, file, { dtype, keys, n, column, options });
        return readFileSync(file, 'utf8').split('\n');
      };
      const lines = await linesOf('key');
      const elsewhere = await linesOf('"key"');
      const [header] = options.header === false ? [] : elsewhere;
      t.deepEqual(header, options.header === false ? undefined : '"""key"""');
      t.deepEqual(header === undefined ? lines : ['"""key"""', ...lines.slice(1)], elsewhere);
      if (dtype === 'f32') continue;
      const numbers = elementsOf(keyWords(keys, dtypeInfo(dtype)), dtype) as Iterable<number | bigint>;
      const expected = [...numbers].map((number) => numberText(number, dtype));
      t.deepEqual(lines.slice(header === undefined ? 0 : 1), [...expected, '']);
    }
  });
}

test('a name that needs quotes is written as it is read', async (t) => {
  const keys = Buffer.from(Float64Array.of(1, 2.5).buffer);
  await write(csv, path('quoted.csv'), { dtype: 'f64', keys, n: 2, column: 'a "b", c' });
  t.is(readFileSync(path('quoted.csv'), 'utf8'), '"a ""b"", c"\n1.0\n2.5\n');
});
