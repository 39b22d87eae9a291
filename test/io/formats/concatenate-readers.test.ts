import test from 'ava';
import { concatenateReaders } from '../../../src/io/formats/concatenate-readers.js';
import type { KeyReader } from '../../../src/io/formats/key-file.js';
import { DtypeError, UsageError } from '../../../src/util/errors.js';

/** A file of `n` u16 keys that count from `first`. */
function file(
  first: number,
  n: number,
  { positions = true, shape = [n] as readonly number[] } = {},
): KeyReader {
  const keys = new Uint8Array(Uint16Array.from({ length: n }, (_, i) => first + i).buffer);
  return {
    name: `from ${first}`,
    format: 'raw',
    dtype: 'u16',
    n,
    shape,
    plainAt: positions ? 0 : undefined,
    readAt: positions
      ? async (into, position) => into.set(keys.subarray(position, position + into.length))
      : undefined,
    async *pieces() {
      yield keys;
    },
    close: async () => undefined,
  };
}

test('joined keys are read in order and by position', async (t) => {
  const reader = concatenateReaders([file(0, 5), file(5, 0), file(5, 1), file(6, 10)]);
  t.like(reader, { dtype: 'u16', n: 16, shape: [16], plainAt: undefined });
  const pieces: Uint8Array[] = [];
  for await (const piece of reader.pieces()) pieces.push(piece);
  const all = Buffer.concat(pieces);
  t.deepEqual([...new Uint16Array(all.buffer, all.byteOffset, 16)], [...Array(16).keys()]);
  for (let begin = 0; begin <= 16; begin++) {
    for (let end = begin; end <= 16; end++) {
      const some = Buffer.alloc(2 * (end - begin));
      await reader.readAt?.(some, 2 * begin);
      t.true(some.equals(all.subarray(2 * begin, 2 * end)));
    }
  }
});

test('a sequential file makes the joined reader sequential, and a single file is returned as it is', (t) => {
  t.is(concatenateReaders([file(0, 5), file(5, 5, { positions: false })]).readAt, undefined);
  const one = file(0, 5);
  t.is(concatenateReaders([one]), one);
});

test('matrices with equally many columns are stacked, and others are flattened', (t) => {
  const matrix = (rows: number, columns: number) => file(0, rows * columns, { shape: [rows, columns] });
  t.deepEqual(concatenateReaders([matrix(2, 3), matrix(4, 3)]).shape, [6, 3]);
  t.deepEqual(concatenateReaders([matrix(2, 3), matrix(3, 2)]).shape, [12]);
  t.deepEqual(concatenateReaders([matrix(2, 3), file(0, 3)]).shape, [9]);
});

test('no files, and files of two dtypes, are refused', (t) => {
  t.throws(() => concatenateReaders([]), { instanceOf: UsageError });
  t.throws(() => concatenateReaders([file(0, 1), { ...file(0, 1), dtype: 'f16' }]), {
    instanceOf: DtypeError,
    message: /different dtypes \(u16 and f16\)/,
  });
});
