import { utimesSync, writeFileSync } from 'node:fs';
import test from 'ava';
import { ahead, identityOf, openFile, piecesOf } from '../../../src/io/external/input.js';
import { Reading } from '../../../src/io/external/reading.js';
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

test('a file is known again by size, time and contents', async (t) => {
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

test('pieces of a file are whole units, and all of it', async (t) => {
  writeFileSync(path('b'), bytes);
  for (const room of [2, 24, 100, 10_000]) {
    for (const [begin, end] of [
      [0, 3000],
      [12, 2988],
      [36, 36],
    ] as const) {
      const file = await openFile(path('b'), 0, signal);
      const pieces = piecesOf(file.readAt, {
        begin,
        end,
        unit: 12,
        room: new Uint8Array(Math.max(24, room)),
      });
      t.deepEqual(await all(pieces), bytes.slice(begin, end));
      await file.close();
    }
  }
});

test('a file that is cut meanwhile is told of', async (t) => {
  const file = await openFile(path('b'), 2990, signal);
  await t.throwsAsync(file.readAt(new Uint8Array(20), 0), {
    instanceOf: IoError,
    message: /it ends at byte 3000/,
  });
  await file.close();
});

test('what is read ahead comes in order, and a failure where it belongs', async (t) => {
  t.deepEqual(await all(ahead(pipe(bytes, 10, 7))), bytes);
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield bytes;
    throw new IoError('gone');
  }
  let got = 0;
  const read = async (): Promise<void> => {
    for await (const piece of ahead(failing())) got += piece.length;
  };
  await t.throwsAsync(read(), { message: 'gone' });
  t.is(got, 3000);
});

test('a pipe is held in part, read from there at any position, and then whole from where it is wanted', async (t) => {
  const input = { name: 'pipe', path: undefined, plainAt: undefined, bytes: undefined };
  for (const [most, from] of [
    [1000, 0],
    [1000, 500],
    [500, 1990],
    [5000, 120],
  ] as const) {
    const reading = await Reading.open({ ...input, pieces: () => pipe(bytes, 10, 7) }, signal);
    await reading.hold(most, signal);
    t.true(reading.known >= Math.min(most, 3000));
    t.is(reading.bytes, most > 3000 ? 3000 : undefined);
    const into = new Uint8Array(150);
    await reading.readAt(into, 65);
    t.deepEqual(into, bytes.slice(65, 215));
    t.deepEqual(await all(reading.pieces(from, 10, new Uint8Array(0))), bytes.slice(from));
    await reading.close();
  }
});
