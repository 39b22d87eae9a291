import { utimesSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import test from 'ava';
import { identityOf, piecesOf, regroupPieces } from '../../../src/io/external/input.js';
import { InputReader } from '../../../src/io/external/input-reader.js';
import { openSource } from '../../../src/io/streams/raw.js';
import { IoError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';
import { piecesOf as pipe } from './small.js';

const { path, remove } = scratchFolder();
test.after.always(remove);
const { signal } = new AbortController();
const bytes = Uint8Array.from({ length: 3000 }, (_, i) => i * 7);

async function all(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const copies: Uint8Array[] = [];
  for await (const piece of pieces) copies.push(piece.slice());
  return new Uint8Array(Buffer.concat(copies));
}

test('the identity of a file covers size, time and contents', async (t) => {
  writeFileSync(path('a'), bytes);
  utimesSync(path('a'), 5, 5);
  const first = await identityOf(path('a'));
  t.deepEqual(await identityOf(path('a')), first);
  for (const at of [0, 1500, 2999]) {
    const changed = bytes.slice();
    changed[at] = 99;
    writeFileSync(path('a'), changed);
    utimesSync(path('a'), 5, 5);
    const { checksum, ...rest } = await identityOf(path('a'));
    t.not(checksum, first.checksum);
    t.deepEqual({ ...first, ...rest }, first);
  }
  await t.throwsAsync(identityOf(path('none')), { instanceOf: IoError });
});

test('the pieces of a file are whole records and cover the range', async (t) => {
  writeFileSync(path('b'), bytes);
  for (const bufferBytes of [2, 24, 100, 10_000]) {
    for (const [begin, end] of [
      [0, 3000],
      [12, 2988],
      [36, 36],
    ] as const) {
      const source = await openSource(path('b'), Readable.from([]));
      const pieces = piecesOf(source.readAt as NonNullable<typeof source.readAt>, {
        begin,
        end,
        recordBytes: 12,
        buffer: new Uint8Array(Math.max(24, bufferBytes)),
      });
      t.deepEqual(await all(pieces), bytes.slice(begin, end));
      await source.close();
    }
  }
});

test('pieces of any length are gathered into equal pieces, each valid until the next but one', async (t) => {
  for (const [recordBytes, bufferBytes, maxBytes] of [
    [10, 64, 30],
    [10, 7000, 3000],
    [25, 1000, 500],
    [1, 3, 1],
  ] as const) {
    const got: Uint8Array[] = [];
    let last: { piece: Uint8Array; copy: Uint8Array } | undefined;
    for await (const piece of regroupPieces(
      pipe(bytes, recordBytes, 7),
      recordBytes,
      new Uint8Array(bufferBytes),
    )) {
      if (last) t.deepEqual(last.piece, last.copy);
      last = { piece, copy: piece.slice() };
      got.push(last.copy);
    }
    t.true(got.slice(0, -1).every((piece) => piece.length === maxBytes));
    t.deepEqual(new Uint8Array(Buffer.concat(got)), bytes);
  }
});

test('a pipe is buffered in part for random access and then read on from any position', async (t) => {
  const input = { name: 'pipe', path: undefined, bytes: undefined };
  for (const [maxBytes, from] of [
    [1000, 0],
    [1000, 500],
    [500, 1990],
    [5000, 120],
  ] as const) {
    const reading = new InputReader({ ...input, pieces: () => pipe(bytes, 10, 7) });
    await reading.hold(maxBytes, signal);
    t.true(reading.readableBytes >= Math.min(maxBytes, 3000));
    t.is(reading.bytes, maxBytes > 3000 ? 3000 : undefined);
    const into = new Uint8Array(150);
    await reading.readAt(into, 65);
    t.deepEqual(into, bytes.slice(65, 215));
    t.deepEqual(await all(reading.pieces(from, 10, new Uint8Array(64))), bytes.slice(from));
  }
});
