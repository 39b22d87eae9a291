/** NumPy files of one array: one-dimensional, or a row-major or column-major matrix. */
import { type DtypeInfo, dtypeInfo } from '../../keys/dtype.js';
import { FormatError, UsageError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { swapBytes, swapPieces } from '../streams/byte-order.js';
import type { Output } from '../streams/output.js';
import { PIECE_BYTES } from '../streams/policy.js';
import type { Source } from '../streams/raw.js';
import { assertDtype } from './file-dtype.js';
import type { KeyFacts, KeyFormat, KeyReader, KeyWriter, ReadRequest } from './key-file.js';
import { columnOf, rowByRow } from './matrix.js';
import { type NpyHeader, npyHeader, readHeader } from './npy-header.js';

export const npy: KeyFormat = {
  id: 'npy',
  name: 'a NumPy array',
  extensions: ['npy'],
  compressible: true,
  matches: (head) =>
    String.fromCharCode(...head.subarray(0, 6)) === '\x93NUMPY' && (head[6] ?? 0) >= 1 && (head[6] ?? 9) <= 3,
  async open(source, request) {
    const header = await readHeader(source);
    const keys = new StoredKeys(source, header);
    assertDtype(source.name, header, request);
    return request.column === undefined
      ? keys.all()
      : keys.column(columnNumber(request.column, header, source.name));
  },
  maxKeys: async (source) => keysOf(await readHeader(source)),
  create,
  bytes: ({ dtype, n, shape }) =>
    n === undefined ? undefined : npyHeader(dtype, shape ?? [n]).length + n * dtypeInfo(dtype).bytes,
};

const keysOf = ({ shape }: NpyHeader): number => shape.reduce((all, length) => all * length, 1);

/**
 * Returns the 0-based index of the requested column.
 *
 * @throws UsageError when the array is one-dimensional or has no such column
 */
function columnNumber(
  column: NonNullable<ReadRequest['column']>,
  { shape: [, columns] }: NpyHeader,
  name: string,
): number {
  if (columns === undefined) {
    throw new UsageError(`cannot use column ${column} of ${name}: it has one dimension. Omit the column`);
  }
  const number = Number(column);
  if (Number.isInteger(number) && number >= 0 && number < columns) return number;
  throw invalidArgument('column', `a whole number from 0 to ${columns - 1} (${name})`, column);
}

/** The keys that follow a NumPy header. */
class StoredKeys {
  readonly #source: Source;
  readonly #header: NpyHeader;
  readonly #info: DtypeInfo;
  readonly #n: number;

  /** @throws FormatError when the size of the source differs from the size in the header */
  constructor(source: Source, header: NpyHeader) {
    this.#source = source;
    this.#header = header;
    this.#info = dtypeInfo(header.dtype);
    this.#n = keysOf(header);
    if (source.bytes !== undefined) this.#assertLength(source.bytes - header.begin);
  }

  all(): KeyReader {
    const { shape, fortran } = this.#header;
    const [rows = 0, columns = 1] = shape;
    const inOrder = !fortran || rows < 2 || columns < 2;
    const matrix = { info: this.#info, rows, columns };
    return {
      ...this.#facts(this.#n, shape),
      ...(inOrder ? this.#plainAccess(0) : { plainAt: undefined }),
      pieces: () =>
        inOrder ? this.#storedPieces() : rowByRow(matrix, this.#randomAccess(), () => this.#storedPieces()),
    };
  }

  column(column: number): KeyReader {
    const { shape, fortran } = this.#header;
    const [rows = 0, columns = 1] = shape;
    const matrix = { info: this.#info, rows, columns };
    const begin = column * rows;
    return {
      ...this.#facts(rows, [rows]),
      ...(fortran ? this.#plainAccess(begin) : { plainAt: undefined }),
      pieces: () =>
        fortran ? this.#part(begin, begin + rows) : columnOf(this.#storedPieces(), matrix, column),
    };
  }

  #facts(n: number, shape: readonly number[]) {
    const { dtype, bigEndian } = this.#header;
    const { name } = this.#source;
    return { name, format: npy.id, dtype, bigEndian, n, shape, close: () => this.#source.close() };
  }

  /** Returns direct access to the keys from key `begin` on, which the file stores in the requested order. */
  #plainAccess(begin: number): Pick<KeyReader, 'plainAt' | 'file' | 'readAt'> {
    const randomAccess = this.#randomAccess();
    if (!randomAccess) return { plainAt: undefined };
    const first = begin * this.#info.bytes;
    return {
      plainAt: this.#header.bigEndian ? undefined : this.#header.begin + first,
      file: this.#header.bigEndian ? undefined : this.#source,
      readAt: (into, position) => randomAccess(into, first + position),
    };
  }

  /** Returns a function that reads little-endian key bytes at any offset; undefined if the source is sequential. */
  #randomAccess(): Source['readAt'] {
    const { readAt } = this.#source;
    if (!readAt) return undefined;
    return async (into, position) => {
      await readAt(into, this.#header.begin + position);
      if (this.#header.bigEndian) swapBytes(into, this.#info);
    };
  }

  /** Yields all keys in file order, as little-endian bytes. */
  #storedPieces(): AsyncGenerator<Uint8Array> {
    const pieces = this.#exactPieces();
    return this.#header.bigEndian ? swapPieces(pieces, this.#info) : pieces;
  }

  /** Yields the bytes of the source and checks their number against the header. */
  async *#exactPieces(): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    const { begin } = this.#header;
    for await (const piece of this.#source.pieces(this.#info.bytes, begin)) {
      bytes += piece.length;
      if (bytes > this.#n * this.#info.bytes) this.#assertLength(bytes);
      yield piece;
    }
    this.#assertLength(bytes);
  }

  /** Yields keys `begin` to `end` in file order. */
  async *#part(begin: number, end: number): AsyncGenerator<Uint8Array> {
    const { bytes } = this.#info;
    const randomAccess = this.#randomAccess();
    if (randomAccess) {
      for (let at = begin * bytes; at < end * bytes; at += PIECE_BYTES) {
        const piece = new Uint8Array(Math.min(PIECE_BYTES, end * bytes - at));
        await randomAccess(piece, at);
        yield piece;
      }
      return;
    }
    let at = 0;
    for await (const piece of this.#storedPieces()) {
      const [from, to] = [Math.max(0, begin * bytes - at), Math.min(piece.length, end * bytes - at)];
      if (from < to) yield piece.subarray(from, to);
      at += piece.length;
    }
  }

  #assertLength(bytes: number): void {
    const expected = this.#n * this.#info.bytes;
    if (bytes === expected) return;
    const { name } = this.#source;
    const found = bytes < expected ? `only ${bytes}` : 'more';
    throw new FormatError(
      `cannot read ${name} as a NumPy array: its header declares ${expected} bytes of keys, and it has ${found}`,
      { details: { path: name, expected } },
    );
  }
}

async function create(output: Output, facts: KeyFacts): Promise<KeyWriter> {
  const { dtype, n, shape } = facts;
  const { bytes } = dtypeInfo(dtype);
  if (n === undefined && !output.patch) {
    throw new UsageError(
      `cannot write ${output.name} as a NumPy array: its header holds the length, which is unknown until the input ` +
        'ends. Write to an uncompressed file',
    );
  }
  await output.write(npyHeader(dtype, shape ?? [n ?? 0]));
  let written = 0;
  return {
    writeBy:
      output.writeBy &&
      (async (length, write) => {
        written += length / bytes;
        await output.writeBy?.(length, write);
      }),
    async write(piece) {
      written += piece.length / bytes;
      await output.write(piece);
    },
    async end() {
      if (n === undefined) await output.patch?.(npyHeader(dtype, [written]), 0);
    },
  };
}
