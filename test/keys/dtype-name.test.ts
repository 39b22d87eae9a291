import test from 'ava';
import { DTYPES } from '../../src/keys/dtype.js';
import { dtypeOfName, namedDtype } from '../../src/keys/dtype-name.js';
import { DtypeError } from '../../src/util/errors.js';

test('dtypeOfName accepts own and NumPy names, in any case and with a byte order', (t) => {
  const long = { u: 'uint', i: 'int', f: 'float', bf: 'bfloat' } as const;
  for (const dtype of DTYPES) {
    const other = dtype.replace(/^[a-z]+/, (kind) => long[kind as 'u']);
    for (const name of [dtype, other, dtype.toUpperCase(), other.toUpperCase()]) {
      t.deepEqual(dtypeOfName(name), { dtype, bigEndian: undefined }, name);
      t.deepEqual(dtypeOfName(`${name}le`), { dtype, bigEndian: false }, name);
      t.deepEqual(dtypeOfName(`${name}be`), { dtype, bigEndian: true }, name);
    }
  }
});

test('dtypeOfName returns undefined for other names, and namedDtype throws', (t) => {
  for (const name of [
    '',
    'u',
    'u12',
    'f8',
    'bf8',
    'b16',
    'u128',
    'f64me',
    'double',
    'complex64',
    'constructor',
    'f64 ',
    'xu8',
  ]) {
    t.is(dtypeOfName(name), undefined, name);
  }
  t.throws(() => namedDtype('u33'), {
    instanceOf: DtypeError,
    message: /expected one of u8, i8, .* for dtype but got "u33"/,
  });
});
