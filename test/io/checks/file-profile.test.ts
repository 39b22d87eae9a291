import { Readable } from 'node:stream';
import test from 'ava';
import { profileKeys } from '../../../src/io/checks/file-profile.js';
import { raw } from '../../../src/io/formats/raw.js';
import { generate } from '../../../src/io/operations/gen.js';
import { openSource } from '../../../src/io/streams/raw.js';
import { DTYPES, type Dtype, dtypeInfo } from '../../../src/keys/dtype.js';
import { keyValue } from '../../../src/keys/value.js';
import { patterns, referenceSort } from '../../reference.js';

async function profile(bytes: Uint8Array, dtype: Dtype) {
  const chunks = [bytes.subarray(0, 333), bytes.subarray(333)].filter(({ length }) => length > 0);
  return profileKeys(await raw.open(await openSource('-', Readable.from(chunks)), { dtype }));
}

test('surveyKeys reports range, NaNs and order of every dtype', async (t) => {
  for (const dtype of DTYPES) {
    const info = dtypeInfo(dtype);
    for (const distribution of ['special', 'uniform', 'high-byte'] as const) {
      const keys = generate({ dtype, count: 1000, distribution, seed: 6 });
      const values = patterns(keys, dtype).map((bits) => keyValue(bits, info));
      const numbers = values
        .filter((value) => !Number.isNaN(value))
        .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      const expected = {
        n: 1000,
        minimum: numbers[0],
        maximum: numbers.at(-1),
        nans: 1000 - numbers.length,
        ascending: false,
        descending: false,
      };
      const { disorder, ...found } = await profile(keys, dtype);
      t.true(disorder !== undefined && disorder.at > 0, `${dtype} ${distribution}`);
      // Either zero may be reported as the extreme.
      t.deepEqual(
        { ...found, minimum: found.minimum === 0 ? 0 : found.minimum },
        { ...expected, minimum: expected.minimum === 0 ? 0 : expected.minimum },
        `${dtype} ${distribution}`,
      );
      t.true((await profile(referenceSort(keys, dtype), dtype)).ascending);
      t.true((await profile(referenceSort(keys, dtype, { descending: true }), dtype)).descending);
    }
    const same = await profile(generate({ dtype, count: 50, distribution: 'constant', seed: 2 }), dtype);
    t.true(same.ascending && same.descending);
  }
});

test('no keys, or only NaNs, have no range', async (t) => {
  t.like(await profile(new Uint8Array(0), 'i64'), { n: 0, minimum: undefined, nans: 0, ascending: true });
  const nans = new Uint8Array(Float32Array.of(Number.NaN, Number.NaN).buffer);
  t.like(await profile(nans, 'f32'), { n: 2, minimum: undefined, maximum: undefined, nans: 2 });
});
