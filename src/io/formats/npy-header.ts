/**
 * Headers of NumPy files: a magic number, a version, a length, and a Python literal that describes the data.
 *
 *     \x93NUMPY \x01 \x00 <length> {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), } <spaces> \n
 *
 * Versions 1 to 3 differ in the width of the length and in the encoding of field names.
 *
 * @see {@link https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html}
 */
import { DTYPES, type Dtype, dtypeInfo } from '../../keys/dtype.js';
import { DtypeError, FormatError } from '../../util/errors.js';
import type { Source } from '../streams/raw.js';
import { type Literal, parseLiteral } from './python-literal.js';

/** A parsed NumPy header. */
export interface NpyHeader {
  readonly dtype: Dtype;
  readonly bigEndian: boolean;
  /** Whether the first dimension varies fastest (column-major order). */
  readonly fortran: boolean;
  /** One or two dimensions. */
  readonly shape: readonly number[];
  /** Offset of the keys in bytes. */
  readonly begin: number;
}

const MAGIC = '\x93NUMPY';
/** Longest accepted header; headers of numeric arrays take about 100 bytes. */
const MAX_HEADER_BYTES = 2 ** 16;

/** Largest number of 8-byte keys whose byte offsets are safe integers. */
const MAX_KEYS = BigInt(Number.MAX_SAFE_INTEGER) / 8n;

/**
 * Reads and parses the header of a NumPy file.
 *
 * @throws FormatError when the header is invalid
 * @throws DtypeError when clsort does not sort the element type
 * @throws IoError when reading fails
 */
export async function readHeader(source: Source): Promise<NpyHeader> {
  const { name } = source;
  const start = Buffer.from(await source.head(12));
  if (start.toString('latin1', 0, 6) !== MAGIC || start.length < 10) {
    throw invalidHeader(name, 'it does not begin with the magic number of one');
  }
  const [major, minor] = [start.readUInt8(6), start.readUInt8(7)];
  if (major < 1 || major > 3 || minor !== 0) {
    throw invalidHeader(name, `its version is ${major}.${minor}, and 1.0 to 3.0 are supported`);
  }
  const lengthBytes = major === 1 ? 2 : 4;
  const length = start.length < 8 + lengthBytes ? MAX_HEADER_BYTES + 1 : start.readUIntLE(8, lengthBytes);
  if (length > MAX_HEADER_BYTES)
    throw invalidHeader(name, `its header claims more than ${MAX_HEADER_BYTES} bytes`);
  const begin = 8 + lengthBytes + length;
  const head = Buffer.from(await source.head(begin));
  if (head.length < begin) throw invalidHeader(name, 'it ends within its header');
  const text = head.toString(major === 3 ? 'utf8' : 'latin1', 8 + lengthBytes);
  return { ...parseHeader(text, name), begin };
}

const invalidHeader = (name: string, why: string): FormatError =>
  new FormatError(`cannot read ${name} as a NumPy array: ${why}`, {
    details: { path: name, expected: 'a NumPy array' },
  });

function parseHeader(text: string, name: string): Omit<NpyHeader, 'begin'> {
  const header = parseLiteral(text);
  if (!(header instanceof Map)) throw invalidHeader(name, 'its header is not a dictionary');
  const fields = [...header.keys()].sort().join();
  if (fields !== 'descr,fortran_order,shape') {
    throw invalidHeader(
      name,
      `its header has the fields ${fields || '(none)'}, not descr, fortran_order and shape`,
    );
  }
  const fortran = header.get('fortran_order');
  if (typeof fortran !== 'boolean') throw invalidHeader(name, 'fortran_order is neither True nor False');
  const { dtype, bigEndian } = dtypeOfDescr(header.get('descr'), name);
  return { dtype, bigEndian, fortran, shape: shapeOf(header.get('shape'), name) };
}

function shapeOf(shape: Literal | undefined, name: string): number[] {
  if (!Array.isArray(shape) || !shape.every((length) => typeof length === 'bigint' && length >= 0n)) {
    throw invalidHeader(name, 'its shape is not a tuple of whole numbers');
  }
  if (shape.length !== 1 && shape.length !== 2) {
    throw invalidHeader(name, `it has ${shape.length} dimensions, and 1 or 2 are supported. Reshape it`);
  }
  const lengths = shape as bigint[];
  // A dimension of 0 counts as 1 here, so that the other dimension is range-checked as well.
  if (lengths.reduce((all, length) => all * (length || 1n), 1n) > MAX_KEYS) {
    throw invalidHeader(name, `its shape (${lengths.join(', ')}) is larger than any file`);
  }
  return lengths.map(Number);
}

/** NumPy element kinds that cannot be sorted. */
const UNSUPPORTED_KINDS: Readonly<Record<string, string>> = {
  b: 'bool',
  c: 'complex',
  f: 'long double',
  O: 'object',
  M: 'datetime',
  m: 'timedelta',
  S: 'bytes',
  a: 'bytes',
  U: 'strings',
  V: 'void',
};

/**
 * Parses a `descr` entry.
 *
 * @throws DtypeError when clsort does not sort the element type
 * @throws FormatError when the entry is not a type name
 */
function dtypeOfDescr(descr: Literal | undefined, name: string): Pick<NpyHeader, 'dtype' | 'bigEndian'> {
  if (Array.isArray(descr)) throw unsupportedType(name, 'structured');
  if (typeof descr !== 'string') throw invalidHeader(name, 'its descr is not a type name');
  const [, order, kind = '', bytes = ''] = /^([<>|=])([a-zA-Z])(\d*)(?:\[[\w/]+\])?$/.exec(descr) ?? [];
  const dtype = DTYPES.find((known) => known === `${kind}${Number(bytes) * 8}`);
  if (dtype && (order !== '|' || bytes === '1')) return { dtype, bigEndian: order === '>' && bytes !== '1' };
  throw unsupportedType(name, `${UNSUPPORTED_KINDS[kind] ? `${UNSUPPORTED_KINDS[kind]} ` : ''}'${descr}'`);
}

const unsupportedType = (name: string, found: string): DtypeError =>
  new DtypeError(
    `cannot read ${name} as keys: its elements are ${found}. Convert them to one of ${DTYPES.join(', ')}`,
    { details: { path: name, found } },
  );

/** Digits to which the first dimension may grow while a file is written; NumPy reserves the same space. */
const DIGITS = 21;
/** The offset of the keys is a multiple of this many bytes, as the format prescribes. */
const ALIGNMENT = 64;

/**
 * Returns a version 1 header for little-endian keys in row-major order.
 *
 * @throws DtypeError for bf16, which NumPy lacks
 */
export function npyHeader(dtype: Dtype, shape: readonly number[]): Uint8Array {
  if (dtype === 'bf16') {
    throw new DtypeError(
      'cannot write bf16 keys as a NumPy array: NumPy has no such type. Write raw keys (the extension .bf16)',
    );
  }
  const { bytes } = dtypeInfo(dtype);
  const descr = `${bytes === 1 ? '|' : '<'}${dtype[0]}${bytes}`;
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`;
  const dictionary = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${tuple}, }`;
  const grown = dictionary.padEnd(dictionary.length + DIGITS - String(shape[0]).length);
  const whole = Math.ceil((10 + grown.length + 1) / ALIGNMENT) * ALIGNMENT;
  const header = Buffer.alloc(whole, `${MAGIC}\x01\0..${grown}`.padEnd(whole - 1).concat('\n'), 'latin1');
  header.writeUInt16LE(whole - 10, 8);
  return header;
}
