import test from 'ava';
import { specialKeys } from '../../src/io/operations/gen.js';
import { keyColumn, keyWords, newArray } from '../../src/keys/array.js';
import { DTYPES, type Dtype, dtypeInfo, type KeyArray } from '../../src/keys/dtype.js';
import { keyValue } from '../../src/keys/value.js';
import { widen, widens } from '../../src/keys/widen.js';
import { UsageError } from '../../src/util/errors.js';

/** The keys with awkward bits of a dtype. */
function special(dtype: Dtype): KeyArray {
  const info = dtypeInfo(dtype);
  const bits = specialKeys(info);
  const keys = newArray(dtype, bits.length);
  const words = keyWords(keys, info);
  for (const [i, word] of bits.entries()) words[i] = (info.width === 64 ? word : Number(word)) as never;
  return keys;
}

const valuesOf = (keys: KeyArray, dtype: Dtype): (number | bigint)[] => {
  const { view, info } = keyColumn(keys, dtype);
  return Array.from(view as Uint32Array, (bits) => keyValue(BigInt(bits), info));
};

test('a wider dtype holds every value of a narrower one exactly', (t) => {
  for (const from of DTYPES) {
    for (const to of DTYPES.filter((one) => widens(from, one))) {
      const values = valuesOf(special(from), from);
      const wide = valuesOf(widen(keyColumn(special(from), from), to), to);
      for (const [i, value] of values.entries()) {
        const other = wide[i] as number | bigint;
        const equal =
          typeof value === typeof other ? Object.is(value, other) : BigInt(value) === BigInt(other);
        t.true(equal, `${from} ${value} is ${to} ${other}`);
      }
    }
  }
});

test('a dtype that loses values is refused', (t) => {
  const lossy = [
    ['u8', 'i8'],
    ['i8', 'u64'],
    ['u32', 'f32'],
    ['u64', 'f64'],
    ['f64', 'f32'],
    ['f32', 'i64'],
    ['u16', 'f16'],
    ['u8', 'bf16'],
    ['f16', 'bf16'],
  ] as const;
  for (const [from, to] of lossy) {
    const keys = newArray(from, 3);
    const error = t.throws(() => widen(keyColumn(keys, from), to), { instanceOf: UsageError });
    t.regex(error?.message ?? '', new RegExp(`every ${from} key.* but got "${to}"`));
  }
});
