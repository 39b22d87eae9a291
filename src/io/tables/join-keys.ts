/** Key columns of two tables as codes that are equal if and only if the keys are. */
import { DTYPES, type Dtype, dtypeInfo, infinityBits } from '../../keys/dtype.js';
import { decode, encode, keyCodec } from '../../keys/key-codec.js';
import { keyValue, nonFiniteText } from '../../keys/value.js';
import { UsageError } from '../../util/errors.js';
import { type KeyKind, keyKind, type TableType, typeText } from '../formats/tables/table-type.js';
import { exactCode, scanNumber } from '../formats/text/number-text.js';
import { type TextType, tableTypeOf } from '../formats/text/text-type.js';
import type { GrowingBytes } from '../streams/growing-bytes.js';

/** A key column of one table. */
export interface JoinColumn {
  /** Name, for messages. */
  readonly name: string;
  readonly type: TableType;
  /** The type of a text column, which another type may replace. */
  readonly text?: TextType | undefined;
}

/** How the keys of a column are read. */
export interface JoinKey {
  readonly column: JoinColumn;
  /** Whether numbers are compared by their decimal digits, because the types of both columns differ. */
  readonly isExact: boolean;
}

const isNumber = ({ type, text }: JoinColumn): boolean =>
  text?.is === 'number' || (DTYPES as readonly string[]).includes(type.is);

/** Returns the text type that reads the values of a column of another type; undefined if none does. */
function asText(type: TableType): TextType | undefined {
  switch (type.is) {
    case 'text':
    case 'bool':
    case 'date':
      return { is: type.is };
    case 'time':
      return { is: 'time', unit: type.unit };
    case 'timestamp':
      return { is: 'timestamp', unit: type.unit, isZoned: type.zone !== undefined };
    default:
      return undefined;
  }
}

const withText = (column: JoinColumn, text: TextType): JoinColumn => ({
  ...column,
  type: tableTypeOf(text),
  text,
});

/**
 * Returns how the keys of two columns are compared: as numbers, or as values of one type. Two text columns of different
 * types are compared as text. Undefined if keys of these types are never equal.
 */
export function joinKeys(a: JoinColumn, b: JoinColumn): readonly [JoinKey, JoinKey] | undefined {
  const exact = (column: JoinColumn): JoinKey => ({
    column: column.text ? withText(column, { is: 'number' }) : column,
    isExact: true,
  });
  const same = (one: JoinColumn, other: JoinColumn) =>
    [
      { column: one, isExact: false },
      { column: other, isExact: false },
    ] as const;
  const [typeOfA, typeOfB] = [typeText(a.type), typeText(b.type)];
  if (isNumber(a) && isNumber(b)) {
    const isSame = typeOfA === typeOfB && a.text?.is !== 'number' && b.text?.is !== 'number';
    return isSame ? same(a, b) : [exact(a), exact(b)];
  }
  if (typeOfA === typeOfB) return same(a, b);
  if (a.text && b.text) return same(withText(a, { is: 'text' }), withText(b, { is: 'text' }));
  const [text, other] = a.text ? [a, b] : [b, a];
  const read = text.text && !isNumber(text) ? asText(other.type) : undefined;
  if (!read) return undefined;
  return a.text ? same(withText(a, read), b) : same(a, withText(b, read));
}

/** Creates the error of keys that cannot be compared. */
export const differentTypes = (a: JoinColumn, b: JoinColumn): UsageError =>
  new UsageError(
    `cannot join column ${a.name} with column ${b.name}: they hold ${typeText(a.type)} and ${typeText(b.type)}. ` +
      'Convert one of them',
  );

/** The marker of nulls that come last, as key codes have it. */
const NULL = 1;

/**
 * Returns the function that turns the codes of the keys of rows, with nulls and NaNs last, into bytes that are the same
 * for equal keys: both zeros are equal, and so are all NaNs. It appends them to `to`, and returns whether no key is null.
 */
export function equalCodes(
  keys: readonly JoinKey[],
): (codes: Uint8Array, at: number, to: GrowingBytes) => boolean {
  const steps = keys.map(({ column, isExact }) => stepOf(column, isExact));
  return (codes, at, to) => {
    for (const { endOf, equal } of steps) {
      if (codes[at++] === NULL) return false;
      const end = endOf(codes, at);
      if (equal) to.append(equal(codes.subarray(at, end)));
      else to.append(codes, at, end);
      at = end;
    }
    return true;
  };
}

interface Step {
  endOf(code: Uint8Array, at: number): number;
  /** Returns the bytes of a value; undefined if they are its code. */
  readonly equal?: ((value: Uint8Array) => Uint8Array) | undefined;
}

function stepOf({ type, text }: JoinColumn, isExact: boolean): Step {
  const kind = keyKind(type) as KeyKind;
  if (kind.as === 'bytes')
    return { endOf: endOfBytes, equal: text?.is === 'number' ? equalZeros : undefined };
  if (kind.as !== 'number') return { endOf: (_, at) => at + kind.bytes };
  const info = dtypeInfo(kind.dtype);
  const equal = isExact ? digitsOf(kind.dtype) : info.kind === 'float' ? equalFloats(kind.dtype) : undefined;
  return { endOf: (_, at) => at + info.bytes, equal };
}

/** Returns the end of bytes that two zeros end; a zero of the value has 255 behind it. */
function endOfBytes(code: Uint8Array, at: number): number {
  let end = code.indexOf(0, at);
  while (code[end + 1] !== 0) end = code.indexOf(0, end + 2);
  return end + 2;
}

const exactBytes = (number: string): Uint8Array => {
  const bytes = Buffer.from(number);
  const scanned = scanNumber(bytes, 0, bytes.length);
  if (!scanned) throw new RangeError(`cannot compare ${number}: it is not a number`);
  const code = exactCode(scanned, bytes, 'last');
  return Buffer.from([...code].flatMap((byte) => (byte === 0 ? [0, 0xff] : [byte])).concat(0, 0));
};

const [ZERO, MINUS_ZERO] = [exactBytes('0'), exactBytes('-0')];

const equalZeros = (value: Uint8Array): Uint8Array =>
  Buffer.compare(value, MINUS_ZERO) === 0 ? ZERO : value;

const bitsOf = (code: Uint8Array): bigint => BigInt(`0x${Buffer.from(code).toString('hex')}`);

/** Returns the function that returns the code of the decimal digits of a number. */
function digitsOf(dtype: Dtype): (value: Uint8Array) => Uint8Array {
  const [codec, info] = [keyCodec(dtype), dtypeInfo(dtype)];
  return (value) => {
    const number = keyValue(decode(codec, bitsOf(value)), info);
    const special = typeof number === 'number' ? nonFiniteText(number) : undefined;
    return exactBytes(special ?? String(number)); // without the sign of −0
  };
}

/** Returns the function that makes the codes of both zeros equal, and those of all NaNs. */
function equalFloats(dtype: Dtype): (value: Uint8Array) => Uint8Array {
  const [codec, info] = [keyCodec(dtype), dtypeInfo(dtype)];
  const codeOf = (bits: bigint): Uint8Array =>
    Buffer.from(
      encode(codec, bits)
        .toString(16)
        .padStart(2 * info.bytes, '0'),
      'hex',
    );
  const [zero, minusZero] = [codeOf(0n), codeOf(1n << BigInt(info.width - 1))];
  const infinity = codeOf(infinityBits(info));
  const nan = new Uint8Array(info.bytes).fill(0xff);
  return (value) => {
    if (Buffer.compare(value, infinity) > 0) return nan;
    return Buffer.compare(value, minusZero) === 0 ? zero : value;
  };
}
