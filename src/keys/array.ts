import { DtypeError, InputError, MemoryError } from '../util/errors.js';
import { invalidArgument } from '../util/invalid-argument.js';
import { type Dtype, type DtypeInfo, dtypeInfo, type HalfArray, type KeyArray } from './dtype.js';

/** Bit patterns of keys, one unsigned word per key. */
export type KeyWords = Uint8Array | Uint16Array | Uint32Array | BigUint64Array;

/** Keys on the host: the caller's array and the bits that are sorted. */
export interface KeyColumn<K extends KeyArray = KeyArray> {
  readonly array: K;
  readonly dtype: Dtype;
  readonly info: DtypeInfo;
  /** Number of keys. */
  readonly n: number;
  /** The bits of the keys; shares memory with `array` unless `copied`. */
  readonly view: KeyWords;
  /** Whether `view` is a copy, because `array` is not aligned to the key size. */
  readonly copied: boolean;
}

/** Keys on the host as the engines take them, without the caller's array. */
export type HostColumn = Pick<KeyColumn, 'dtype' | 'info' | 'n' | 'view'>;

/** Arrays that hold values: any typed array, including a Buffer. */
export type ValueArray = KeyArray;

/** Values on the host: `bytes` bytes per key, in any typed array. */
export interface ValueColumn<V extends ValueArray = ValueArray> {
  readonly array: V;
  /** Bytes of one value, 1 to 16. */
  readonly bytes: number;
}

/** Allocates the memory of a new array: an ArrayBuffer of this many bytes, all zero. */
export type MemorySource = (bytes: number) => ArrayBuffer;

/** Maximum bytes of a value. */
const MAX_VALUE_BYTES = 16;

const DTYPE_OF_ARRAY: Readonly<Record<string, Dtype>> = {
  Uint8Array: 'u8',
  Uint8ClampedArray: 'u8',
  Int8Array: 'i8',
  Uint16Array: 'u16',
  Int16Array: 'i16',
  Float16Array: 'f16',
  Uint32Array: 'u32',
  Int32Array: 'i32',
  Float32Array: 'f32',
  BigUint64Array: 'u64',
  BigInt64Array: 'i64',
  Float64Array: 'f64',
};

/** Returns the name of a typed array's type. It works across realms, and is 'Uint8Array' for a Buffer. */
const typeName = (value: unknown): string | undefined =>
  ArrayBuffer.isView(value)
    ? (value as unknown as { [Symbol.toStringTag]: string })[Symbol.toStringTag]
    : undefined;

function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return (
    typeName(value) ?? (typeof value === 'object' ? (value.constructor?.name ?? 'an object') : typeof value)
  );
}

/**
 * Returns the dtype of a typed array.
 *
 * @param name name of the argument in the error message
 * @throws InputError when `array` is not a typed array
 */
export function dtypeOf(array: unknown, name = 'keys'): Dtype {
  const dtype = DTYPE_OF_ARRAY[typeName(array) ?? ''];
  if (dtype) return dtype;
  throw invalidArgument(
    name,
    'a typed array or a Buffer',
    { text: describeValue(array) },
    { advice: 'Use Float64Array.from(numbers) for an array of numbers', type: InputError },
  );
}

/**
 * Returns the key column of a typed array.
 *
 * @param keys typed array of keys
 * @param dtype dtype of the bits, if it is not that of the array's type: any dtype of the same width, or any dtype at
 *   all for an array of bytes such as a Buffer or Uint8Array
 * @throws InputError when `keys` is not a typed array, is detached, or does not hold a whole number of keys
 * @throws DtypeError when `dtype` does not fit the array
 */
export function keyColumn<K extends KeyArray>(keys: K, dtype?: Dtype): KeyColumn<K> {
  const own = dtypeInfo(dtypeOf(keys));
  const wanted = dtype === undefined ? own : dtypeInfo(dtype);
  assertAttached(keys, 'keys');
  if (wanted.width !== own.width && own.width !== 8) {
    throw new DtypeError(
      `cannot read ${describeValue(keys)} as ${wanted.name} keys: its elements have ${own.width} bits, not ${wanted.width}. ` +
        'Use a dtype of that width, or pass a Uint8Array over the same bytes',
    );
  }
  const n = keys.byteLength / wanted.bytes;
  if (!Number.isInteger(n)) {
    throw new InputError(
      `cannot read ${keys.byteLength} bytes as ${wanted.name} keys: a key has ${wanted.bytes} bytes, and ` +
        `${keys.byteLength % wanted.bytes} are left over`,
    );
  }
  const view = keyWords(keys, wanted);
  return { array: keys, dtype: wanted.name, info: wanted, n, view, copied: view.buffer !== keys.buffer };
}

/**
 * Returns the value column of a typed array, which holds the same number of elements for each of `n` keys.
 *
 * @throws InputError when `values` is not a typed array, is detached, or does not divide into `n` values of 1 to 16
 *   bytes
 */
export function valueColumn<V extends ValueArray>(values: V, { n }: { readonly n: number }): ValueColumn<V> {
  dtypeOf(values, 'values');
  assertAttached(values, 'values');
  const { length, BYTES_PER_ELEMENT: element } = values;
  const bytes = n === 0 && length === 0 ? element : values.byteLength / n;
  if (bytes % element !== 0 || bytes < 1 || bytes > MAX_VALUE_BYTES) {
    throw new InputError(
      `cannot assign ${length} values to ${n} keys: each key takes the same number of values, of at most ` +
        `${MAX_VALUE_BYTES} bytes together`,
    );
  }
  return { array: values, bytes };
}

/**
 * Returns a new array of the same type, in memory of its own.
 *
 * Its contents are undefined. Every element must be written before the array is returned to a caller.
 *
 * @param array array whose type is used
 * @param length number of elements; default: the length of `array`
 * @param memory allocator; default: the one of Node
 */
export function emptyLike<A extends ValueArray>(
  array: A,
  length: number = array.length,
  memory?: MemorySource,
): A {
  const bytes = length * array.BYTES_PER_ELEMENT;
  if (Buffer.isBuffer(array)) {
    return (memory ? Buffer.from(memory(bytes)) : Buffer.allocUnsafeSlow(length)) as unknown as A;
  }
  const name = typeName(array) as 'Uint8Array'; // stands for all types: their constructors are alike
  return new globalThis[name](memory ? memory(bytes) : (length as never)) as unknown as A;
}

/**
 * Checks that two arrays do not share memory. Devices work in place on host memory, and a buffer over a part of
 * another one has undefined contents.
 *
 * @param what both arrays, as the subject of the error message
 * @throws InputError when the arrays overlap
 */
export function assertDisjoint(a: ArrayBufferView, b: ArrayBufferView, what: string): void {
  if (a.buffer !== b.buffer || a.byteLength === 0 || b.byteLength === 0) return;
  if (a.byteOffset < b.byteOffset + b.byteLength && b.byteOffset < a.byteOffset + a.byteLength) {
    throw new InputError(`cannot use ${what}: they share memory. Pass a copy of one of them (array.slice())`);
  }
}

/** Array type of each dtype. bf16 keys are bits, and so are f16 keys if Node has no Float16Array. */
export interface ArraysByDtype {
  u8: Uint8Array;
  i8: Int8Array;
  u16: Uint16Array;
  i16: Int16Array;
  f16: HalfArray | Uint16Array;
  bf16: Uint16Array;
  u32: Uint32Array;
  i32: Int32Array;
  f32: Float32Array;
  u64: BigUint64Array;
  i64: BigInt64Array;
  f64: Float64Array;
}

export type ArrayOf<D extends Dtype> = ArraysByDtype[D];

/** Dtype of an array type; any dtype for a plain KeyArray. */
export type DtypeOf<K extends KeyArray> = K extends HalfArray
  ? 'f16'
  : K extends Uint8Array | Uint8ClampedArray
    ? 'u8'
    : { [D in Dtype]: K extends ArraysByDtype[D] ? D : never }[Dtype];

const CONSTRUCTOR_NAMES: Readonly<Record<Dtype, string>> = {
  u8: 'Uint8Array',
  i8: 'Int8Array',
  u16: 'Uint16Array',
  i16: 'Int16Array',
  f16: 'Float16Array' in globalThis ? 'Float16Array' : 'Uint16Array',
  bf16: 'Uint16Array',
  u32: 'Uint32Array',
  i32: 'Int32Array',
  f32: 'Float32Array',
  u64: 'BigUint64Array',
  i64: 'BigInt64Array',
  f64: 'Float64Array',
};

/**
 * Returns an array of `length` zeros.
 *
 * @param memory allocator; default: the one of Node
 * @throws MemoryError when memory is insufficient; InputError when an array cannot have that many elements here
 */
export function newArray<D extends Dtype>(dtype: D, length: number, memory?: MemorySource): ArrayOf<D> {
  const name = CONSTRUCTOR_NAMES[dtype] as 'Uint8Array'; // stands for all types: their constructors are alike
  try {
    const source = memory ? memory(length * dtypeInfo(dtype).bytes) : (length as never);
    return new globalThis[name](source) as unknown as ArrayOf<D>;
  } catch (cause) {
    if (cause instanceof MemoryError) throw cause;
    const { message } = cause as Error;
    const Kind = message.includes('allocation failed') ? MemoryError : InputError;
    throw new Kind(
      `cannot allocate an array of ${length} ${dtype} elements: ${message}. Process the data in pieces`,
      { cause },
    );
  }
}

/** Returns the memory of a view, or its bytes from `start` to `end`, as a Uint8Array: at most 4 GiB on Node 20. */
export function bytesOf(view: ArrayBufferView, start = 0, end: number = view.byteLength): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + start, end - start);
}

/** Maximum bytes of a Uint8Array on Node 20. */
const MAX_PLAIN_BYTES = 2 ** 32 - 1;

/**
 * Returns the bytes of a view from `start` to `end` as a Uint8Array. Beyond 4 GiB it returns words of 8 bytes, or the
 * largest words that alignment and length allow.
 */
export function byteRange(view: ArrayBufferView, start = 0, end: number = view.byteLength): ArrayBufferView {
  const bytes = end - start;
  if (bytes <= MAX_PLAIN_BYTES) return bytesOf(view, start, end);
  const at = view.byteOffset + start;
  const unit = [8, 4, 2].find((width) => at % width === 0 && bytes % width === 0) ?? 1;
  const Words = { 8: BigUint64Array, 4: Uint32Array, 2: Uint16Array, 1: Uint8Array }[
    unit
  ] as typeof Uint8Array;
  return new Words(view.buffer, at, bytes / unit);
}

/** Returns new zeroed memory in the form of `byteRange`. */
export function newBytes(bytes: number): ArrayBufferView {
  return byteRange(new DataView(new ArrayBuffer(bytes)));
}

/** Bytes that are written at a time. */
const COPY_BYTES = 2 ** 30;

/** Sets all bytes to 0. */
export function clearBytes(memory: ArrayBuffer): void {
  for (let start = 0; start < memory.byteLength; start += COPY_BYTES) {
    new Uint8Array(memory, start, Math.min(COPY_BYTES, memory.byteLength - start)).fill(0);
  }
}

/** Copies arrays to others of the same lengths. */
export function copyEach(from: readonly Uint8Array[], to: readonly Uint8Array[]): void {
  for (const [i, view] of from.entries()) to[i]?.set(view);
}

/** Copies the bytes of a view to the front of another one, which must be large enough. */
export function copyBytes(from: ArrayBufferView, to: ArrayBufferView): void {
  for (let start = 0; start < from.byteLength; start += COPY_BYTES) {
    const end = Math.min(start + COPY_BYTES, from.byteLength);
    bytesOf(to, start, end).set(bytesOf(from, start, end));
  }
}

/** Returns the memory of a view as words of a key's width: the same memory if it is aligned to them, else a copy. */
export function keyWords(view: ArrayBufferView, { bytes: unit }: DtypeInfo): KeyWords {
  const { buffer, byteOffset, byteLength } = view.byteOffset % unit === 0 ? view : copyOf(view);
  if (unit === 1) return new Uint8Array(buffer, byteOffset, byteLength);
  if (unit === 2) return new Uint16Array(buffer, byteOffset, byteLength / 2);
  if (unit === 4) return new Uint32Array(buffer, byteOffset, byteLength / 4);
  return new BigUint64Array(buffer, byteOffset, byteLength / 8);
}

/** Returns words as keys of a dtype, in the same memory. */
export function elementsOf({ buffer, byteOffset, length }: KeyWords, dtype: Dtype): KeyArray {
  const Elements = globalThis[CONSTRUCTOR_NAMES[dtype] as 'Uint8Array'];
  return new Elements(buffer, byteOffset, length);
}

/** Whether the program can detach or resize this memory while it is in use. A device must not hold such memory. */
export function isResizable({ buffer }: ArrayBufferView): boolean {
  const { resizable = false, growable = false } = buffer as { resizable?: boolean; growable?: boolean };
  return resizable || growable;
}

/** Returns the same bytes in memory of fixed length: the array itself, or a copy. */
export function withFixedLength(view: ArrayBufferView): ArrayBufferView {
  return isResizable(view) ? copyOf(view) : view;
}

/** Returns a copy of a view in new memory. */
function copyOf(view: ArrayBufferView): ArrayBufferView {
  const copy = newBytes(view.byteLength);
  copyBytes(view, copy);
  return copy;
}

/** Whether the buffer of a typed array was transferred, or shrunk to before the array's end. */
export function isDetached(array: ArrayBufferView): boolean {
  try {
    Uint8Array.prototype.keys.call(array); // such an array looks empty, but its iterator throws
    return false;
  } catch {
    return true;
  }
}

/** @throws InputError when the array is detached */
export function assertAttached(array: ArrayBufferView, what: string): void {
  if (!isDetached(array)) return;
  throw new InputError(
    `cannot use ${what}: the buffer is detached, since it was transferred (postMessage, structuredClone) or has shrunk`,
  );
}
