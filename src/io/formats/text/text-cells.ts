/** Converts text values to typed cells, the input of rows and key codes. */
import { type Dtype, dtypeInfo } from '../../../keys/dtype.js';
import { bf16Bits } from '../../../keys/value.js';
import { tableFunctions } from '../../../sort/host/native-tables.js';
import { FormatError } from '../../../util/errors.js';
import { shortenValue } from '../../../util/format-value.js';
import { singleToHalfBits } from '../subprocess/half-float.js';
import type { Cells } from '../tables/row-layout.js';
import { nearestFloat32 } from './nearest-float32.js';
import type { NumberScanner } from './number-style.js';
import { doubleOf, exactCode, integerOf, type ScannedNumber } from './number-text.js';
import { type TextType, tableTypeOf } from './text-type.js';
import { isoDate, isoTime, isoTimestamp, type ReadTime } from './time-text.js';
import { FORM, rawText, textOf, type Values } from './values.js';

export interface CellsRequest {
  readonly type: TextType;
  /** Display names for messages. */
  readonly name: string;
  readonly column: string;
  readonly scanner: NumberScanner;
  /** Position of NaNs for numbers of any length. */
  readonly nan: 'first' | 'last';
}

/**
 * Returns the values of a column as cells.
 *
 * @throws FormatError with line, column and value, when a value does not have the type
 */
export function cellsOf(values: Values, request: CellsRequest): Cells {
  const { type } = request;
  const { forms, begins, ends } = values;
  const to = { type: tableTypeOf(type) };
  if (type.is === 'text') {
    return { ...to, isNull: (i) => forms[i] === FORM.missing, bytes: (i) => textOf(values, i) };
  }
  if (type.is === 'json') {
    return { ...to, isNull: (i) => forms[i] === FORM.missing, bytes: (i) => rawText(values, i) };
  }
  // For all other types an empty string is a null.
  const isNull = (i: number): boolean => forms[i] === FORM.missing || begins[i] === ends[i];
  if (type.is === 'number') {
    const codes: Uint8Array[] = [];
    for (let i = 0; i < values.rows; i++) {
      if (isNull(i)) continue;
      const number = request.scanner.scan(values, i) ?? throwInvalid(values, i, request);
      codes[i] = exactCode(number, request.scanner.bytes, request.nan);
    }
    return { ...to, isNull, bytes: (i) => codes[i] as Uint8Array };
  }
  return { ...to, isNull, memory: memoryOf(values, isNull, request) };
}

function memoryOf(values: Values, isNull: (i: number) => boolean, request: CellsRequest): Uint8Array {
  const { type } = request;
  const { rows } = values;
  switch (type.is) {
    case 'bool':
      return filled(new Uint8Array(rows), (i) => boolOf(values, i, request));
    case 'date':
      return filled(new Int32Array(rows), (i) => dateOf(values, i, request));
    case 'time':
    case 'timestamp':
      return filled(new BigInt64Array(rows), (i) => timeOf(values, i, request));
    case 'i128':
      return wideIntegers(values, isNull, request);
    default: {
      const dtype = type.is as Dtype;
      const native = request.scanner.isDefault
        ? tableFunctions()?.readNumbers(values, dtypeInfo(dtype))
        : undefined;
      return native ?? filled(arrayOf(dtype, rows), numberReader(dtype, values, request) as never);
    }
  }

  function filled<T extends NumberArray>(array: T, read: (i: number) => T[number]): Uint8Array {
    for (let i = 0; i < rows; i++) if (!isNull(i)) array[i] = read(i);
    return new Uint8Array(array.buffer);
  }
}

type NumberArray =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array;

/** Allocates memory for keys of a dtype; f16 and bf16 values are stored as bits. */
function arrayOf(dtype: Dtype, n: number): NumberArray {
  switch (dtype) {
    case 'u8':
      return new Uint8Array(n);
    case 'i8':
      return new Int8Array(n);
    case 'u16':
    case 'f16':
    case 'bf16':
      return new Uint16Array(n);
    case 'i16':
      return new Int16Array(n);
    case 'u32':
      return new Uint32Array(n);
    case 'i32':
      return new Int32Array(n);
    case 'f32':
      return new Float32Array(n);
    case 'f64':
      return new Float64Array(n);
    case 'u64':
      return new BigUint64Array(n);
    case 'i64':
      return new BigInt64Array(n);
  }
}

const single = new Float32Array(1);
const singleBits = new Uint32Array(single.buffer);

function numberReader(dtype: Dtype, values: Values, request: CellsRequest): (i: number) => number | bigint {
  const { scanner } = request;
  const scan = (i: number): ScannedNumber => scanner.scan(values, i) ?? throwInvalid(values, i, request);
  const { kind, width, bytes } = dtypeInfo(dtype);
  if (kind === 'float') {
    const finite = (i: number, round: typeof doubleOf): number => {
      const number = scan(i);
      const value = round(number, scanner.bytes);
      return Number.isFinite(value) || scan(i).special
        ? value
        : throwInvalid(values, i, request, `is too large for ${dtype}`);
    };
    if (dtype === 'f64') return (i) => finite(i, doubleOf);
    if (dtype === 'bf16') return (i) => bf16Bits(finite(i, doubleOf));
    const toSingle = (i: number): number => finite(i, nearestFloat32);
    if (dtype === 'f32') return toSingle;
    return (i) => {
      single[0] = toSingle(i);
      return singleToHalfBits(singleBits[0] as number);
    };
  }
  const isSigned = kind === 'signed';
  const [minimum, maximum] = isSigned
    ? [-(1n << BigInt(width - 1)), (1n << BigInt(width - 1)) - 1n]
    : [0n, (1n << BigInt(width)) - 1n];
  return (i) => {
    const number = scan(i);
    if (!number.isWhole || (number.digits === 0 && number.isNegative))
      throwInvalid(values, i, request, 'is not a whole number');
    const value = integerOf(number, scanner.bytes);
    if (value < minimum || value > maximum)
      throwInvalid(values, i, request, `is outside the range of ${dtype} (${minimum} to ${maximum})`);
    return bytes === 8 ? value : Number(value);
  };
}

/** Returns 16-byte integers. */
function wideIntegers(values: Values, isNull: (i: number) => boolean, request: CellsRequest): Uint8Array {
  const words = new BigUint64Array(2 * values.rows);
  for (let i = 0; i < values.rows; i++) {
    if (isNull(i)) continue;
    const number = request.scanner.scan(values, i) ?? throwInvalid(values, i, request);
    const value = integerOf(number, request.scanner.bytes);
    words[2 * i] = BigInt.asUintN(64, value);
    words[2 * i + 1] = BigInt.asUintN(64, value >> 64n);
  }
  return new Uint8Array(words.buffer);
}

function boolOf(values: Values, i: number, request: CellsRequest): number {
  const text = quoteValue(values, i).toLowerCase();
  if (text !== 'true' && text !== 'false') throwInvalid(values, i, request);
  return text === 'true' ? 1 : 0;
}

function dateOf(values: Values, i: number, request: CellsRequest): number {
  const { type } = request;
  const text = quoteValue(values, i);
  const read = type.is === 'date' ? type.read : undefined;
  return (read ? read(text)?.days : isoDate(text)) ?? throwInvalid(values, i, request);
}

const NANOSECONDS = 1_000_000_000n;

function timeOf(values: Values, i: number, request: CellsRequest): bigint {
  const { type } = request;
  const text = quoteValue(values, i);
  const read = type.is === 'timestamp' ? (type.read ?? isoTimestamp) : isoTime;
  const time: ReadTime = read(text) ?? throwInvalid(values, i, request);
  if (type.is === 'timestamp' && (time.offset !== undefined) !== type.isZoned) {
    throwInvalid(values, i, request, time.offset === undefined ? 'has no time zone' : 'has a time zone');
  }
  const seconds = BigInt(time.days) * 86_400n + BigInt(time.seconds);
  if ('unit' in type && type.unit === 'ns') return seconds * NANOSECONDS + BigInt(time.nanoseconds);
  if (time.nanoseconds % 1000 !== 0) throwInvalid(values, i, request, 'has more digits than microseconds');
  return seconds * 1_000_000n + BigInt(time.nanoseconds / 1000);
}

const quoteValue = (values: Values, i: number): string => Buffer.from(textOf(values, i)).toString();

/** @throws FormatError with the invalid value and its position */
function throwInvalid(values: Values, i: number, { name, column, type }: CellsRequest, why?: string): never {
  const line = values.lines[i];
  const text =
    values.forms[i] === FORM.nested ? 'a list or an object' : `'${shortenValue(quoteValue(values, i))}'`;
  throw new FormatError(
    `cannot read ${name}: line ${line} has ${text} in column ${column}, which ${why ?? `is not of type ${type.is}`}`,
    { details: { path: name, line, column } },
  );
}
