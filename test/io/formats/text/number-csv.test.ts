import { readFileSync } from 'node:fs';
import test from 'ava';
import { csv } from '../../../../src/io/formats/csv.js';
import { MAX_FIRST_ROWS } from '../../../../src/io/formats/tables/policy.js';
import { type Dtype, dtypeInfo } from '../../../../src/keys/dtype.js';
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

for (const dtype of DTYPES) {
  test(`few ${dtype} keys are the same text as many`, async (t) => {
    for (const [seed, options] of [{}, { header: false }, { delimiter: '\t' }].entries()) {
      const keys = keysOf(dtype, seed);
      const n = keys.length / dtypeInfo(dtype).bytes;
      await write(csv, path(`${dtype}-few.csv`), { dtype, keys, n, column: 'key', options });
      await write(csv, path(`${dtype}-many.csv`), {
        dtype,
        keys,
        n: MAX_FIRST_ROWS + 1,
        column: 'key',
        options,
      });
      const [few, many] = ['few', 'many'].map((name) => readFileSync(path(`${dtype}-${name}.csv`), 'utf8'));
      t.deepEqual(few?.split('\n'), many?.split('\n'));
    }
  });
}

test('a name that needs quotes is written as it is read', async (t) => {
  const keys = Buffer.from(Float64Array.of(1, 2.5).buffer);
  await write(csv, path('quoted.csv'), { dtype: 'f64', keys, n: 2, column: 'a "b", c' });
  t.is(readFileSync(path('quoted.csv'), 'utf8'), '"a ""b"", c"\n1.0\n2.5\n');
});
