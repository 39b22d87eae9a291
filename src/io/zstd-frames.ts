/**
 * Where the frames of a zstd file end (RFC 8878). A file may have several, one behind the other, and Node's decompressor
 * drops what follows the end of one in the same chunk, without a word (seen in 24.21), and takes a part of one for all of it
 * (seen in 22.23).
 */

/** What is wanted of the bytes that come next: to see so many, to pass over so many, or to cut here. */
type Want = { readonly see: number } | { readonly pass: number } | 'cut';

const FRAME = 0xfd2fb528;
/** The low four bits may be any. */
const SKIPPABLE = 0x184d2a50;

/** Follows the structure of the file. @throws Error where there is none */
function* structure(): Generator<Want, never, Buffer> {
  for (;;) {
    const magic = (yield { see: 4 }).readUInt32LE();
    if ((magic & ~15) >>> 0 === SKIPPABLE) {
      yield { pass: (yield { see: 4 }).readUInt32LE() };
    } else if (magic === FRAME) {
      yield* frame();
    } else {
      throw new Error('no frame begins where one should');
    }
    yield 'cut';
  }
}

function* frame(): Generator<Want, void, Buffer> {
  const descriptor = (yield { see: 1 }).readUInt8();
  const isSingle = (descriptor & 0x20) !== 0;
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  yield { pass: (isSingle ? 0 : 1) + dictionaryBytes + sizeBytes };
  for (let isLast = false; !isLast; ) {
    const block = (yield { see: 3 }).readUIntLE(0, 3);
    isLast = (block & 1) !== 0;
    const isRepeated = ((block >> 1) & 3) === 1; // one byte, as often as the size says
    yield { pass: isRepeated ? 1 : block >> 3 };
  }
  if ((descriptor & 4) !== 0) yield { pass: 4 }; // a checksum
}

/** The same bytes, in pieces none of which goes on behind the end of a frame. @throws Error where they end within one */
export async function* cutAtFrames(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const walk = structure();
  let seen = Buffer.alloc(0);
  let want: Want = walk.next().value;
  let toPass = 0;
  for await (const piece of pieces) {
    let begin = 0;
    for (let at = 0; at < piece.length; ) {
      if (want === 'cut') {
        if (begin < at) yield piece.subarray(begin, at);
        begin = at;
        want = walk.next(seen).value;
        continue;
      }
      if ('see' in want) {
        const more = piece.subarray(at, at + want.see - seen.length);
        seen = Buffer.concat([seen, more]);
        at += more.length;
        if (seen.length < want.see) continue;
        want = walk.next(seen).value;
        seen = Buffer.alloc(0);
      } else {
        const passed = Math.min(want.pass - toPass, piece.length - at);
        toPass += passed;
        at += passed;
        if (toPass < want.pass) continue;
        toPass = 0;
        want = walk.next(seen).value;
      }
    }
    if (begin < piece.length) yield piece.subarray(begin);
  }
  while (typeof want === 'object' && 'pass' in want && want.pass === toPass) {
    toPass = 0;
    want = walk.next(seen).value; // of nothing that is left to pass over
  }
  if (want !== 'cut') throw new Error('unexpected end of file');
}
