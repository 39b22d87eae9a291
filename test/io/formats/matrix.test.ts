import test from 'ava';
import { columnOf, rowByRow } from '../../../src/io/formats/matrix.js';
import { type Dtype, dtypeInfo } from '../../../src/keys/dtype.js';

const bytesOf = (keys: ArrayBufferView): Uint8Array => new Uint8Array(keys.buffer);

async function* inPieces(keys: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < keys.length; at += length) yield keys.slice(at, at + length);
}

async function all(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const list: Uint8Array[] = [];
  for await (const piece of pieces) list.push(piece.slice());
  return Buffer.concat(list);
}

const SHAPES = [
  [1, 1],
  [1, 9],
  [9, 1],
  [7, 5],
  [5, 7],
  [60, 3],
  [3, 60],
] as const;

for (const [dtype, make] of [
  ['u8', (n: number, key: (i: number) => number) => Uint8Array.from({ length: n }, (_, i) => key(i))],
  ['u16', (n: number, key: (i: number) => number) => Uint16Array.from({ length: n }, (_, i) => key(i))],
  ['f64', (n: number, key: (i: number) => number) => Float64Array.from({ length: n }, (_, i) => key(i))],
] as const) {
  const info = dtypeInfo(dtype as Dtype);
  test(`${dtype}: a column-major matrix is read row by row, in bands of any size, from a file or a pipe`, async (t) => {
    for (const [rows, columns] of SHAPES) {
      const stored = make(rows * columns, (i) => i % 251);
      const expected = make(rows * columns, (i) => {
        const [row, column] = [Math.floor(i / columns), i % columns];
        return (column * rows + row) % 251;
      });
      const bytes = bytesOf(stored);
      const reads: number[] = [];
      const source = async (into: Uint8Array, position: number): Promise<void> => {
        reads.push(into.length);
        into.set(bytes.subarray(position, position + into.length));
      };
      for (const piece of [info.bytes, 3 * info.bytes, 1024]) {
        for (const band of [1, columns * info.bytes * 2, 2 ** 20]) {
          const matrix = { info, rows, columns };
          const pieces = () => inPieces(bytes, piece);
          const turned = await all(rowByRow(matrix, source, pieces, band));
          t.true(turned.equals(bytesOf(expected)), `${rows} × ${columns}, band ${band}`);
          t.true(turned.equals(await all(rowByRow(matrix, undefined, pieces, band))), 'once');
        }
      }
      // Only long reads go to a position directly.
      t.true(reads.every((length) => length >= 4096));
    }
  });

  test(`${dtype}: a column is read across pieces of any length`, async (t) => {
    for (const [rows, columns] of SHAPES) {
      const bytes = bytesOf(make(rows * columns, (i) => i % 251));
      for (const column of [0, Math.floor(columns / 2), columns - 1]) {
        const expected = make(rows, (row) => (row * columns + column) % 251);
        for (const piece of [info.bytes, 3 * info.bytes, 1024]) {
          const picked = await all(columnOf(inPieces(bytes, piece), { info, rows, columns }, column));
          t.true(picked.equals(bytesOf(expected)), `${rows} × ${columns}, ${column}`);
        }
      }
    }
  });
}

test('long columns are read directly by position', async (t) => {
  const info = dtypeInfo('f64');
  const [rows, columns] = [2000, 3];
  const stored = Float64Array.from({ length: rows * columns }, (_, i) => i);
  const reads: number[] = [];
  const source = async (into: Uint8Array, position: number): Promise<void> => {
    reads.push(into.length);
    into.set(bytesOf(stored).subarray(position, position + into.length));
  };
  const nothing = () => inPieces(new Uint8Array(0), 1);
  const turned = await all(rowByRow({ info, rows, columns }, source, nothing, 1000 * columns * 8));
  t.deepEqual(reads, Array(6).fill(8000));
  const keys = new Float64Array(turned.buffer, turned.byteOffset, rows * columns);
  t.true(keys.every((key, i) => key === (i % columns) * rows + Math.floor(i / columns)));
});
