import test from 'ava';
import fc from 'fast-check';
import { argsortRecords, sortRecords } from '../../../src/io/api/records.js';
import { specialKeys } from '../../../src/io/operations/gen.js';
import { assertRecords, layoutOrdering } from '../../../src/io/records/layout-ordering.js';
import { keyBytes, type NumberKey, type RecordKey, recordKeys } from '../../../src/io/records/record-keys.js';
import { bytesOf } from '../../../src/keys/array.js';
import { DTYPES, dtypeInfo } from '../../../src/keys/dtype.js';
import type { Sorter } from '../../../src/sort/api/sorter.js';
import {
  AbortedError,
  DtypeError,
  InputError,
  UnsupportedError,
  UsageError,
} from '../../../src/util/errors.js';
import { Random } from '../../../src/util/random.js';
import { forEachSorter } from '../../each-sorter.js';
import { pick } from '../../reference.js';
import { compareRecords, referencePositions } from '../record-reference.js';

/** Writes a number into record `i` in the key's format. */
function place(
  bytes: Uint8Array,
  record: number,
  i: number,
  { offset, dtype, endian }: NumberKey,
  key: bigint,
) {
  const width = dtypeInfo(dtype).bytes;
  for (let b = 0; b < width; b++) {
    const at = endian === 'be' ? width - 1 - b : b;
    bytes[i * record + offset + at] = Number((key >> BigInt(8 * b)) & 0xffn);
  }
}

interface Case {
  readonly record: number;
  readonly keys: readonly RecordKey[];
  readonly n: number;
  /** Random bits of each byte: fewer bits give more ties. */
  readonly bits: number;
  readonly special: boolean;
  readonly seed: number;
}

/** Records of random bytes, or with special numbers as keys. */
function recordsOf({ record, keys, n, bits, special, seed }: Case): Uint8Array {
  const random = new Random(seed);
  const bytes = random.bytes(n * record).map((byte) => byte & (2 ** bits - 1));
  for (const key of special ? keys : []) {
    if (!('dtype' in key)) continue;
    const values = specialKeys(dtypeInfo(key.dtype));
    for (let i = 0; i < n; i++) place(bytes, record, i, key, values[random.below(values.length)] ?? 0n);
  }
  return bytes;
}

const numberKeys: fc.Arbitrary<RecordKey> = fc.record({
  offset: fc.nat(20),
  dtype: fc.constantFrom(...DTYPES),
  endian: fc.constantFrom('le', 'be'),
  descending: fc.boolean(),
  nan: fc.constantFrom('first', 'last'),
});
const bytesKeys: fc.Arbitrary<RecordKey> = fc.record({
  offset: fc.nat(20),
  length: fc.integer({ min: 1, max: 24 }),
  descending: fc.boolean(),
});
const cases: fc.Arbitrary<Case> = fc
  .tuple(fc.array(fc.oneof(numberKeys, bytesKeys), { minLength: 1, maxLength: 4 }), fc.nat(9))
  .chain(([keys, beyond]) =>
    fc.record({
      record: fc.constant(Math.max(...keys.map((key) => key.offset + keyBytes(key))) + beyond),
      keys: fc.constant(keys),
      n: fc.nat(200),
      bits: fc.constantFrom(0, 1, 2, 8),
      special: fc.boolean(),
      seed: fc.nat(),
    }),
  );

const sortedBy = async (sorter: Sorter, one: Case) => {
  const order = layoutOrdering(one);
  const bytes = recordsOf(one);
  const positions = referencePositions(bytes, one.record, one.keys);
  return {
    positions: [...(await order.positions(sorter, bytes))],
    expected: positions,
    sorted: Buffer.from(await order.sort(sorter, bytes)),
    picked: Buffer.from(pick(bytes, one.record, positions)),
  };
};

forEachSorter((title, open, small) => {
  test(title('records of any layout are sorted as in the reference'), async (t) => {
    const sorter = await open();
    const property = fc.asyncProperty(cases, async (one) => {
      const { positions, expected, sorted, picked } = await sortedBy(sorter, one);
      return positions.join() === expected.join() && sorted.equals(picked);
    });
    await t.notThrowsAsync(fc.assert(property, { numRuns: small ? 20 : 120 }));
  });

  for (const dtype of DTYPES) {
    test(
      title(`${dtype}: records are sorted stably by keys in both byte orders and directions`),
      async (t) => {
        const sorter = await open();
        const n = 97;
        for (const endian of ['le', 'be'] as const) {
          for (const descending of [false, true]) {
            for (const nan of ['first', 'last'] as const) {
              const keys = [{ offset: 3, dtype, endian, descending, nan }];
              const one = { record: 13, keys, n, bits: 8, special: true, seed: 5 };
              const { positions, expected, sorted, picked } = await sortedBy(sorter, one);
              t.deepEqual(positions, expected, `${endian} ${descending} ${nan}`);
              t.deepEqual(sorted, picked);
            }
          }
        }
      },
    );
  }

  test(title('ties are broken word by word for keys of any length'), async (t) => {
    const sorter = await open();
    const n = small ? 300 : 3000;
    const long = (bits: number, length: number, record = length + 4): Case => ({
      record,
      keys: [{ offset: 0, length }],
      n,
      bits,
      special: false,
      seed: 3,
    });
    for (const one of [long(1, 9), long(1, 10), long(1, 40), long(0, 61), long(2, 17), long(1, 12, 1000)]) {
      const { positions, expected, sorted, picked } = await sortedBy(sorter, one);
      t.deepEqual(positions, expected, JSON.stringify(one.keys));
      t.true(sorted.equals(picked));
    }
    // Many groups of records that differ only in the last byte, or are equal.
    const record = 32;
    const random = new Random(8);
    const bytes = new Uint8Array(n * record).fill(7);
    for (let i = 0; i < n; i++) {
      new DataView(bytes.buffer).setUint16(i * record, random.below(n / 4));
      bytes[i * record + 29] = random.below(3);
    }
    for (const keys of [[{ offset: 0, length: 30 }], [{ offset: 0, length: 29 }]]) {
      const found = await layoutOrdering({ record, keys }).positions(sorter, bytes);
      t.deepEqual([...found], referencePositions(bytes, record, keys));
    }
  });

  test(title('more records than one chunk are sorted by keys that differ in the second word'), async (t) => {
    const sorter = await open();
    for (const keys of [
      [
        { offset: 0, dtype: 'f64', endian: 'be' },
        { offset: 9, dtype: 'i16', descending: true },
        { offset: 11, dtype: 'f32' },
      ],
      [
        { offset: 3, length: 6, descending: true },
        { offset: 12, dtype: 'u64', endian: 'be' },
      ],
    ] as const) {
      const one = { record: 20, keys, n: small ? 1100 : 3100, bits: 1, special: true, seed: 12 };
      const { positions, expected, sorted, picked } = await sortedBy(sorter, one);
      t.deepEqual(positions, expected);
      t.true(sorted.equals(picked));
    }
  });

  test(title('records of one byte and of a thousand bytes are sorted'), async (t) => {
    const sorter = await open();
    for (const [record, keys] of [
      [1, [{ offset: 0, dtype: 'i8', descending: true }]],
      [1, [{ offset: 0, length: 1 }]],
      [1000, [{ offset: 997, length: 3 }]],
      [1000, [{ offset: 1, dtype: 'f64', endian: 'be' }]],
      [1001, [{ offset: 0, length: 1001 }]],
    ] as const) {
      const one = { record, keys, n: 150, bits: 8, special: true, seed: 9 };
      const { positions, expected, sorted, picked } = await sortedBy(sorter, one);
      t.deepEqual(positions, expected);
      t.true(sorted.equals(picked));
    }
  });
});

test('compare and prefix agree with the sorted order', (t) => {
  const property = fc.property(cases, (one) => {
    const order = layoutOrdering(one);
    const bytes = recordsOf({ ...one, n: 12 });
    const prefixes = order.prefix(bytes);
    for (let i = 0; i < 12; i++) {
      for (let j = 0; j < 12; j++) {
        const expected = compareRecords(bytes, one.record, one.keys, i, j);
        if (Math.sign(order.compare(bytes, i, bytes, j)) !== expected) return false;
        const [x = 0n, y = 0n] = [prefixes[i], prefixes[j]];
        if (x !== y && x < y !== expected < 0) return false;
        if (x === y && order.exact && expected !== 0) return false;
      }
    }
    return true;
  });
  t.notThrows(() => fc.assert(property, { numRuns: 60 }));
});

test('keys may be text or objects, and nan applies to keys without their own', async (t) => {
  const floats = Float32Array.of(2, Number.NaN, 1, Number.NEGATIVE_INFINITY);
  const bytes = bytesOf(floats);
  const sorted = (keys: readonly (string | RecordKey)[], nan?: 'first' | 'last') =>
    argsortRecords(bytes, { record: 4, keys, nan, device: 'host' });
  t.deepEqual([...(await sorted(['0:f32']))], [3, 2, 0, 1]);
  t.deepEqual([...(await sorted(['0:f32le:desc'], 'first'))], [1, 0, 2, 3]);
  t.deepEqual([...(await sorted([{ offset: 0, dtype: 'f32', nan: 'last' }], 'first'))], [3, 2, 0, 1]);
  // Bytes in memory order, ascending: 2 ends with 00 40, 1 with 80 3f, −∞ with 80 ff, NaN with c0 7f.
  t.deepEqual([...(await sorted(['0:4']))], [0, 2, 3, 1]);
});

test('sortRecords accepts Buffers at any offset and writes into a given array', async (t) => {
  const text = Buffer.from('xbob  2ann  1eve  3');
  const options = { record: 6, keys: ['0:5'], device: 'host' };
  const bytes = text.subarray(1);
  t.is(Buffer.from(await sortRecords(bytes, options)).toString(), 'ann  1bob  2eve  3');
  t.is(text.toString(), 'xbob  2ann  1eve  3', 'the input is unchanged');
  const into = new Uint8Array(18);
  t.is(await sortRecords(bytes, { ...options, keys: ['5:1:desc'], into }), into);
  t.is(Buffer.from(into).toString(), 'eve  3bob  2ann  1');
  t.is((await sortRecords(new Uint8Array(0), options)).length, 0);
  t.is((await argsortRecords(new Uint8Array(0), { ...options, keys: ['0:6'] })).length, 0);
  await t.throwsAsync(sortRecords(bytes, { ...options, into: new Uint8Array(17) }), {
    instanceOf: InputError,
  });
  await t.throwsAsync(sortRecords(bytes, { ...options, into: bytes }), { instanceOf: InputError });
});

test('invalid layouts and invalid records are refused', async (t) => {
  const refused = (
    layout: object,
    message: RegExp,
    instanceOf: abstract new () => Error = UsageError as never,
  ) => {
    t.throws(
      () => recordKeys(layout as never),
      { instanceOf: instanceOf as never, message },
      String(message),
    );
  };
  refused(
    { record: 100, keys: ['95:10'] },
    /cannot sort by key 95:10: it ends at byte 105, and a record has 100 bytes/,
  );
  refused({ record: 8, keys: ['1:u64'] }, /key 1:u64: it ends at byte 9.*8 bytes/);
  refused({ record: 8, keys: [] }, /for keys but got \[\]/);
  refused({ record: 8 }, /for keys but got undefined/);
  refused({ record: 0, keys: ['0:1'] }, /for record but got 0/);
  refused({ record: 1.5, keys: ['0:1'] }, /for record but got 1.5/);
  refused({ record: 2 ** 24 + 1, keys: ['0:1'] }, /expected a whole number of bytes from 1 to 16777216/);
  refused({ record: 8, keys: ['0'] }, /expected OFFSET:LENGTH .* for key but got "0"/);
  refused({ record: 8, keys: ['-1:2'] }, /for key but got "-1:2"/);
  refused({ record: 8, keys: ['0:0'] }, /for length of a key but got 0/);
  refused({ record: 8, keys: ['0:u8:down'] }, /expected asc or desc at the end for key but got "0:u8:down"/);
  refused(
    { record: 8, keys: ['0:u33'] },
    /for the type of key 0:u33 but got "u33"\. Did you mean "u/,
    DtypeError as never,
  );
  refused({ record: 8, keys: [7] }, /for key but got 7/);
  refused({ record: 8, keys: [{ offset: -1, length: 1 }] }, /for offset of a key but got -1/);
  refused({ record: 8, keys: [{ offset: 0 }] }, /for length of a key but got undefined/);
  refused({ record: 8, keys: [{ offset: 0, length: 2, dtype: 'u8' }] }, /no value beside a dtype/);
  refused({ record: 8, keys: [{ offset: 0, dtype: 'u9' }] }, /for dtype but got "u9"/, DtypeError as never);
  refused(
    { record: 8, keys: [{ offset: 0, dtype: 'u8', endian: 'big' }] },
    /for endian of a key but got "big"/,
  );
  refused({ record: 8, keys: [{ offset: 0, dtype: 'f32', nan: 'no' }] }, /for nan of a key but got "no"/);
  refused({ record: 8, keys: [{ offset: 0, length: 1, desc: true }] }, /for a field of a key but got "desc"/);
  refused(
    { record: 8, keys: [{ offset: 0, length: 1, descending: 1 }] },
    /for descending of a key but got 1/,
  );
  await t.throwsAsync(sortRecords(new Uint8Array(15), { record: 10, keys: ['0:1'] }), {
    instanceOf: InputError,
    message: /15 bytes into records of 10 bytes: 5 bytes are left over/,
  });
  await t.throwsAsync(sortRecords(new Uint8Array(10), { record: 10, keys: ['0:1'], dtype: 'u8' } as never), {
    instanceOf: UsageError,
  });
  await t.throwsAsync(sortRecords(new Uint8Array(10), undefined as never), { instanceOf: UsageError });
  await t.throwsAsync(sortRecords([1] as never, { record: 1, keys: ['0:1'] }), { instanceOf: InputError });
  t.throws(() => assertRecords(2 ** 32, 1), {
    instanceOf: UnsupportedError,
    message: /at most 4294967295 records/,
  });
  t.notThrows(() => assertRecords(2 ** 32 - 1, 1));
});

test('an aborted call rejects with an AbortedError', async (t) => {
  const signal = AbortSignal.abort();
  const options = { record: 10, keys: ['0:10'], device: 'host', signal };
  await t.throwsAsync(sortRecords(new Uint8Array(1e6), options), { instanceOf: AbortedError });
});
