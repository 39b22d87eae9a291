import test from 'ava';
import {
  assertDisjoint,
  bytesOf,
  dtypeOf,
  emptyLike,
  keyColumn,
  keyWords,
  valueColumn,
} from '../../src/keys/array.js';
import { dtypeInfo, type KeyArray } from '../../src/keys/dtype.js';
import { DtypeError, InputError } from '../../src/util/errors.js';

const ARRAYS = [
  [Uint8Array, 'u8'],
  [Uint8ClampedArray, 'u8'],
  [Int8Array, 'i8'],
  [Uint16Array, 'u16'],
  [Int16Array, 'i16'],
  [Uint32Array, 'u32'],
  [Int32Array, 'i32'],
  [Float32Array, 'f32'],
  [BigUint64Array, 'u64'],
  [BigInt64Array, 'i64'],
  [Float64Array, 'f64'],
] as const;

const detached = (): Uint32Array => {
  const array = Uint32Array.of(1, 2, 3);
  structuredClone(array, { transfer: [array.buffer] });
  return array;
};

test('dtypeOf returns the dtype of the elements of a typed array', (t) => {
  for (const [type, dtype] of ARRAYS) t.is(dtypeOf(new type(1)), dtype);
  t.is(dtypeOf(Buffer.alloc(1)), 'u8');
  const half = (globalThis as { Float16Array?: new (length: number) => unknown }).Float16Array;
  if (half) t.is(dtypeOf(new half(1)), 'f16');
});

test('a value that is not a typed array raises an InputError that names its type', (t) => {
  for (const [value, what] of [
    [[3, 1, 2], /an array/],
    [null, /null/],
    [undefined, /undefined/],
    ['abc', /string/],
    [new ArrayBuffer(8), /ArrayBuffer/],
    [new DataView(new ArrayBuffer(8)), /DataView/],
  ] as const) {
    const error = t.throws(() => keyColumn(value as unknown as KeyArray), { instanceOf: InputError });
    t.regex(error?.message ?? '', what);
  }
});

test('a column shares the memory of its array at any offset', (t) => {
  const floats = Float32Array.of(1, -2, 3).subarray(1);
  const { view, n, dtype, copied } = keyColumn(floats);
  t.deepEqual([n, dtype, copied], [2, 'f32', false]);
  t.deepEqual(view, Uint32Array.of(0xc0000000, 0x40400000));
  t.is(view.buffer, floats.buffer);
});

test('a dtype of the same width may override that of the array, but not of another width', (t) => {
  t.is(keyColumn(Uint16Array.of(1), 'f16').dtype, 'f16');
  t.is(keyColumn(Float64Array.of(1), 'u64').dtype, 'u64');
  t.throws(() => keyColumn(Float64Array.of(1), 'f32'), { instanceOf: DtypeError });
  t.throws(() => keyColumn(Uint16Array.of(1), 'u8'), { instanceOf: DtypeError });
  t.throws(() => keyColumn(Uint16Array.of(1), 'u17' as 'u16'), { instanceOf: DtypeError });
});

test('bytes are read as any dtype and copied only if they are not aligned', (t) => {
  const bytes = Buffer.alloc(17, 7);
  const odd = keyColumn(bytes.subarray(1), 'u64');
  t.deepEqual([odd.n, odd.copied], [2, (bytes.byteOffset + 1) % 8 !== 0]);
  t.deepEqual(bytesOf(odd.view), new Uint8Array(16).fill(7));
  const error = t.throws(() => keyColumn(bytes, 'u64'), { instanceOf: InputError });
  t.regex(error?.message ?? '', /17 bytes as u64 keys: a key has 8 bytes/);
});

test('keys may be in shared memory', (t) => {
  const shared = new Int32Array(new SharedArrayBuffer(8));
  shared.set([5, -5]);
  t.deepEqual([...keyColumn(shared).view], [5, 0xfffffffb]);
});

test('detached keys and values raise an InputError', (t) => {
  t.throws(() => keyColumn(detached()), {
    instanceOf: InputError,
    message: /cannot use keys: the buffer is detached/,
  });
  t.throws(() => valueColumn(detached(), { n: 3 }), {
    instanceOf: InputError,
    message: /cannot use values: the buffer is detached/,
  });
});

test('values must have whole elements of 1 to 16 bytes in total for each key', (t) => {
  t.is(valueColumn(new Uint8Array(3), { n: 3 }).bytes, 1);
  t.is(valueColumn(new Float64Array(6), { n: 3 }).bytes, 16);
  t.is(valueColumn(new Uint8Array(9), { n: 3 }).bytes, 3);
  t.is(valueColumn(new Uint16Array(0), { n: 0 }).bytes, 2);
  for (const [values, n] of [
    [new Uint32Array(4), 3],
    [new Float64Array(9), 3], // 24 bytes each
    [new Uint16Array(3), 2], // 3 bytes each, but one and a half elements
    [new Uint8Array(0), 3],
    [new Uint8Array(3), 0],
  ] as const) {
    t.throws(() => valueColumn(values, { n }), { instanceOf: InputError }, `${values.length} for ${n}`);
  }
});

test('emptyLike returns an array of the same type in new memory', (t) => {
  for (const [type] of ARRAYS) {
    const array = new type(5).subarray(2);
    const like = emptyLike(array as Uint8Array);
    t.is(like.constructor, type);
    t.is(like.length, 3);
    t.not(like.buffer, array.buffer);
  }
  const buffer = emptyLike(Buffer.alloc(5));
  t.true(Buffer.isBuffer(buffer));
  t.is(buffer.byteOffset, 0); // not from the shared pool
  t.is(emptyLike(new Uint32Array(1), 9).length, 9);
});

test('assertDisjoint throws for overlapping arrays but not for adjacent ones', (t) => {
  const memory = new ArrayBuffer(64);
  const view = (offset: number, length: number) => new Uint32Array(memory, offset, length);
  t.throws(() => assertDisjoint(view(0, 5), view(16, 4), 'keys and values'), {
    instanceOf: InputError,
    message: /cannot use keys and values: they share memory/,
  });
  t.notThrows(() => assertDisjoint(view(0, 4), view(16, 4), ''));
  t.notThrows(() => assertDisjoint(view(0, 4), view(4, 0), ''));
  t.notThrows(() => assertDisjoint(view(0, 4), new Uint32Array(4), ''));
});

test('keyWords shares memory with aligned bytes and copies others', (t) => {
  const bytes = new Uint8Array(16);
  t.is(keyWords(bytes, dtypeInfo('f64')).buffer, bytes.buffer);
  t.not(keyWords(bytes.subarray(4, 12), dtypeInfo('f64')).buffer, bytes.buffer);
  t.is(keyWords(bytes.subarray(4, 12), dtypeInfo('f32')).buffer, bytes.buffer);
});
