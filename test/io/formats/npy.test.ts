import { readFileSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import test, { type ExecutionContext } from 'ava';
import type { KeyReader } from '../../../src/io/formats/key-file.js';
import { npy } from '../../../src/io/formats/npy.js';
import { npyHeader } from '../../../src/io/formats/npy-header.js';
import { copyKeys } from '../../../src/io/operations/copy.js';
import { generate } from '../../../src/io/operations/gen.js';
import { openSource } from '../../../src/io/streams/raw.js';
import { DTYPES, type Dtype, dtypeInfo } from '../../../src/keys/dtype.js';
import { DtypeError, FormatError, UsageError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';
import { testWithNumPy } from '../../numpy.js';
import { nowhere } from '../context.js';

const { path, folder, remove } = scratchFolder();
test.after.always(remove);

/** Dtypes that NumPy has. */
const NUMPY_DTYPES = DTYPES.filter((dtype) => dtype !== 'bf16');

/** NumPy's name of a dtype, little-endian. */
const numpyName = (dtype: Dtype): string => `${dtype[0]}${dtypeInfo(dtype).bytes}`;

const allOf = async ({ pieces }: Pick<KeyReader, 'pieces'>): Promise<Buffer> => {
  const list: Uint8Array[] = [];
  for await (const piece of pieces()) list.push(piece.slice());
  return Buffer.concat(list);
};

async function read(name: string, column?: number): Promise<KeyReader & { readonly keys: Buffer }> {
  const source = await openSource(name, Readable.from([]));
  try {
    const reader = await npy.open(source, { column });
    return { ...reader, keys: await allOf(reader) };
  } finally {
    await source.close();
  }
}

/** The same file as from a pipe, in chunks that end anywhere. */
async function readPiped(bytes: Uint8Array, column?: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += 37) chunks.push(bytes.subarray(at, at + 37));
  return allOf(await npy.open(await openSource('-', Readable.from(chunks)), { column }));
}

testWithNumPy(
  'files of NumPy are read bit for bit, for every dtype, byte order, dimension, layout and version',
  async (t, python) => {
    for (const dtype of NUMPY_DTYPES) {
      writeFileSync(path(`${dtype}.bin`), generate({ dtype, count: 60, distribution: 'special', seed: 1 }));
    }
    python(
      `from numpy.lib import format as f
for dtype in sys.argv[2].split():
    a = np.fromfile(sys.argv[1] + '/' + dtype.split(':')[0] + '.bin', dtype.split(':')[1])
    for order in '<>':
        b = a.astype(a.dtype.newbyteorder(order), copy=True)
        for shape in [(60,), (12, 5), (1, 60), (60, 1)]:
            for layout in 'CF':
                for version in [(1, 0), (2, 0), (3, 0)]:
                    c = np.array(b.reshape(shape), order=layout)
                    name = '%s-%s-%s-%s-%d' % (dtype.split(':')[0], 'lb'[order == '>'], 'x'.join(map(str, shape)), layout, version[0])
                    with open(sys.argv[1] + '/' + name + '.npy', 'wb') as out:
                        f.write_array(out, c, version=version)
`,
      folder,
      NUMPY_DTYPES.map((dtype) => `${dtype}:${numpyName(dtype)}`).join(' '),
    );
    for (const dtype of NUMPY_DTYPES) {
      const expected = readFileSync(path(`${dtype}.bin`));
      const { bytes } = dtypeInfo(dtype);
      for (const order of 'lb') {
        for (const shape of [[60], [12, 5], [1, 60], [60, 1]]) {
          for (const layout of 'CF') {
            for (const version of '123') {
              const name = `${dtype}-${order}-${shape.join('x')}-${layout}-${version}.npy`;
              const { keys, ...reader } = await read(path(name));
              t.like(reader, { dtype, n: 60, shape, bigEndian: order === 'b' && bytes > 1 }, name);
              if (!keys.equals(expected)) t.fail(name);
              const file = readFileSync(path(name));
              if (!(await readPiped(file)).equals(expected)) t.fail(`${name} in a pipe`);
              if (reader.plainAt !== undefined) t.deepEqual(file.subarray(reader.plainAt), expected, name);
              if (reader.readAt) {
                const some = new Uint8Array(3 * bytes);
                const source = await openSource(path(name), Readable.from([]));
                await (await npy.open(source, {})).readAt?.(some, 7 * bytes);
                await source.close();
                t.deepEqual(Buffer.from(some), expected.subarray(7 * bytes, 10 * bytes));
              }
            }
          }
        }
      }
      t.not((await read(path(`${dtype}-l-12x5-C-1.npy`))).plainAt, undefined);
      t.is((await read(path(`${dtype}-l-12x5-F-1.npy`))).plainAt, undefined);
    }
  },
);

testWithNumPy('a column is read from a matrix of any layout', async (t, python) => {
  python(
    `a = np.arange(84, dtype='u4').reshape(12, 7)
for order in '<>':
    for layout in 'CF':
        np.save(sys.argv[1] + '/m' + 'lb'[order == '>'] + layout, np.array(a, dtype=order + 'u4', order=layout))`,
    folder,
  );
  for (const name of ['mlC', 'mlF', 'mbC', 'mbF']) {
    for (const column of [0, 3, 6]) {
      const expected = Uint32Array.from({ length: 12 }, (_, row) => row * 7 + column);
      const file = path(`${name}.npy`);
      const { keys, n, shape, plainAt } = await read(file, column);
      t.deepEqual(new Uint32Array(keys.buffer, keys.byteOffset, 12), expected, `${name} ${column}`);
      t.deepEqual([n, shape], [12, [12]]);
      t.is(plainAt !== undefined, name === 'mlF');
      t.deepEqual(await readPiped(readFileSync(file), column), keys);
    }
    for (const column of [7, -1, 1.5]) {
      await t.throwsAsync(read(path(`${name}.npy`), column), {
        instanceOf: UsageError,
        message: /expected a whole number from 0 to 6/,
      });
    }
  }
});

testWithNumPy('NumPy reads the written files and writes the same header and keys', async (t, python) => {
  for (const dtype of NUMPY_DTYPES) {
    const keys = generate({ dtype, count: 30, distribution: 'special', seed: 2 });
    writeFileSync(path(`${dtype}.npy`), Buffer.concat([npyHeader(dtype, [30]), keys]));
    writeFileSync(path(`${dtype}-2.npy`), Buffer.concat([npyHeader(dtype, [6, 5]), keys]));
  }
  const printed = python(
    `for dtype in sys.argv[2].split():
    a = np.load(sys.argv[1] + '/' + dtype.split(':')[0] + '.npy')
    b = np.load(sys.argv[1] + '/' + dtype.split(':')[0] + '-2.npy')
    assert a.dtype == np.dtype(dtype.split(':')[1]) and a.shape == (30,) and b.shape == (6, 5), dtype
    assert a.tobytes() == b.tobytes(), dtype
    np.save(sys.argv[1] + '/again-' + dtype.split(':')[0], b)
    print(a.tobytes().hex())`,
    folder,
    NUMPY_DTYPES.map((dtype) => `${dtype}:${numpyName(dtype)}`).join(' '),
  );
  for (const [i, dtype] of NUMPY_DTYPES.entries()) {
    const keys = generate({ dtype, count: 30, distribution: 'special', seed: 2 });
    t.is(printed.split('\n')[i], Buffer.from(keys).toString('hex'), dtype);
    const again = readFileSync(path(`again-${dtype}.npy`));
    const ours = readFileSync(path(`${dtype}-2.npy`));
    // Older versions leave no padding for the dimensions to grow; the dictionary is the same.
    t.is(
      again.toString('latin1', 10).trim().split('\n')[0]?.trimEnd(),
      ours.toString('latin1', 10).trim().split('\n')[0]?.trimEnd(),
    );
  }
});

test('bf16 keys, which NumPy lacks, are not written', (t) => {
  t.throws(() => npyHeader('bf16', [3]), {
    instanceOf: DtypeError,
    message: /bf16 .*NumPy has no such type/,
  });
});

testWithNumPy('an unsupported NumPy type is a DtypeError that names it', async (t, python) => {
  python(
    `for name, a in {
    'complex': np.zeros(4, 'c16'), 'long': np.zeros(4, np.longdouble), 'bool': np.zeros(4, '?'),
    'date': np.zeros(4, 'M8[ns]'), 'delta': np.zeros(4, 'm8[s]'), 'strings': np.array(['a', 'b']),
    'bytes': np.array([b'a', b'b']), 'struct': np.zeros(4, [('a', 'f4'), ('b', 'i4')]), 'void': np.zeros(4, 'V4'),
    'object': np.array([None, {}], dtype=object) }.items():
    np.save(sys.argv[1] + '/' + name, a, allow_pickle=True)`,
    folder,
  );
  for (const [name, message] of [
    ['complex', /complex '<c16'/],
    ['long', /long double '<f16'/],
    ['bool', /bool '\|b1'/],
    ['date', /datetime '<M8\[ns\]'/],
    ['delta', /timedelta '<m8\[s\]'/],
    ['strings', /strings '<U1'/],
    ['bytes', /bytes '\|S1'/],
    ['struct', /are structured/],
    ['void', /void '\|V4'/],
    ['object', /object '\|O'/],
  ] as const) {
    await t.throwsAsync(read(path(`${name}.npy`)), { instanceOf: DtypeError, message }, name);
  }
});

const header = (dictionary: string, version = 1): Buffer => {
  const text = Buffer.from(`${dictionary}\n`, 'latin1');
  const length = Buffer.alloc(version === 1 ? 2 : 4);
  length.writeUIntLE(text.length, 0, length.length);
  return Buffer.concat([Buffer.from(`\x93NUMPY${String.fromCharCode(version)}\0`, 'latin1'), length, text]);
};
const dictionary = (descr: string, shape: string, fortran = 'False') =>
  `{'descr': ${descr}, 'fortran_order': ${fortran}, 'shape': ${shape}, }`;

async function refused(t: ExecutionContext, file: Uint8Array, message: RegExp): Promise<void> {
  writeFileSync(path('hostile.npy'), file);
  await t.throwsAsync(read(path('hostile.npy')), { instanceOf: FormatError, message }, String(message));
  await t.throwsAsync(readPiped(file), { instanceOf: FormatError, message }, `${message} in a pipe`);
}

test('a malformed header, or one that does not match the data, is a FormatError', async (t) => {
  const none = Buffer.alloc(0);
  const good = Buffer.concat([header(dictionary("'<u4'", '(3,)')), Buffer.alloc(12)]);
  writeFileSync(path('good.npy'), good);
  t.is((await read(path('good.npy'))).n, 3);
  await refused(t, Buffer.from('\x93NUMPY', 'latin1'), /does not begin with the magic number/);
  await refused(t, Buffer.from('PK\x03\x04 and so on'), /does not begin with the magic number/);
  await refused(
    t,
    Buffer.concat([good.subarray(0, 6), Buffer.from([9, 0]), good.subarray(8)]),
    /version is 9\.0/,
  );
  await refused(
    t,
    Buffer.concat([good.subarray(0, 6), Buffer.from([1, 1]), good.subarray(8)]),
    /version is 1\.1/,
  );
  await refused(t, good.subarray(0, 40), /ends within its header/);
  await refused(t, Buffer.from('\x93NUMPY\x02\0\xff\xff\xff\xff', 'latin1'), /claims more than 65536 bytes/);
  await refused(t, good.subarray(0, -4), /12 bytes of keys, and it has only 8/);
  await refused(t, Buffer.concat([good, Buffer.alloc(4)]), /12 bytes of keys, and it has more/);
  for (const [text, message] of [
    ['', /not a dictionary/],
    ['[1, 2]', /not a dictionary/],
    ['{', /not a dictionary/],
    ["{'descr': '<u4'} {}", /not a dictionary/],
    [`${'['.repeat(5000)}`, /not a dictionary/],
    ["{'descr': '<u4', 'descr': '<u4', 'fortran_order': False, 'shape': (1,)}", /not a dictionary/],
    ["{'descr': '<u4', 'shape': (1,)}", /fields descr,shape/],
    [
      "{'descr': '<u4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
      /fields descr,fortran_order,more,shape/,
    ],
    [dictionary("'<u4'", '(3,)', '1'), /fortran_order/],
    [dictionary('7', '(3,)'), /descr is not a type name/],
    [dictionary("'<u4'", '3'), /shape is not a tuple/],
    [dictionary("'<u4'", "('3',)"), /shape is not a tuple/],
    [dictionary("'<u4'", '(-3,)'), /not a dictionary/],
    [dictionary("'<u4'", '(3.5,)'), /not a dictionary/],
    [dictionary("'<u4'", '()'), /0 dimensions/],
    [dictionary("'<u4'", '(1, 1, 3)'), /3 dimensions/],
    [dictionary("'<u4'", '(99999999999999999999,)'), /larger than any file/],
    [dictionary("'<u4'", '(4294967296, 4294967296)'), /larger than any file/],
    [dictionary("'<u4'", '(4294967296, 1000)', 'True'), /and it has only 0/],
    [dictionary("'<f8'", '(1000000000000,)'), /and it has only 0/],
  ] as const) {
    await refused(t, Buffer.concat([header(text), none]), message);
    await refused(t, Buffer.concat([header(text, 2), none]), message);
  }
  for (const descr of ['f4', '<f3', '|f4', '<q', 'float64', '<u16', '']) {
    writeFileSync(path('type.npy'), header(dictionary(`'${descr}'`, '(0,)')));
    await t.throwsAsync(read(path('type.npy')), { instanceOf: DtypeError }, descr);
  }
});

test('old forms of the header are read: long integers, other field orders and quotes', async (t) => {
  const text = '{ "shape" : ( 3L , ), "descr":"=u2","fortran_order" :  True}   ';
  writeFileSync(path('old.npy'), Buffer.concat([header(text), Buffer.from('abcdef')]));
  const { keys, dtype, shape } = await read(path('old.npy'));
  t.deepEqual([dtype, shape, keys.toString()], ['u2' as never, [3], 'abcdef'].with(0, 'u16'));
});

test('arrays without rows or without columns have no keys', async (t) => {
  for (const shape of ['(0,)', '(0, 5)', '(5, 0)', '(1000000000000, 0)']) {
    for (const fortran of ['True', 'False']) {
      writeFileSync(path('none.npy'), header(dictionary("'>f8'", shape, fortran)));
      const { keys, n } = await read(path('none.npy'));
      t.is(keys.length + (n ?? -1), 0, shape);
    }
  }
});

test('a length known only at the end is written then, and is an error for a compressed file', async (t) => {
  const keys = generate({ dtype: 'u16', count: 1000, distribution: 'uniform', seed: 3 });
  const context = { ...nowhere, stdin: Readable.from([keys.subarray(0, 777), keys.subarray(777)]) };
  await copyKeys(['-'], path('late.npy'), { dtype: 'u16' }, context);
  t.deepEqual(readFileSync(path('late.npy')), Buffer.concat([npyHeader('u16', [1000]), keys]));
  const again = { ...nowhere, stdin: Readable.from([keys]) };
  await t.throwsAsync(copyKeys(['-'], path('late.npy.gz'), { dtype: 'u16' }, again), {
    instanceOf: UsageError,
    message: /the length, which is unknown until the input ends/,
  });
});
