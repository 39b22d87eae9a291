/**
 * Where the frames of a zstd file end (RFC 8878). A file may have several, one behind the other, and Node's decompressor
 * drops what follows the end of one in the same chunk, without a word (seen in 24.21), and takes a part of one for all of it
 * (seen in 22.23).
 */

/** What is wanted of the bytes that come next: to see so many, to pass over so many, or to cut here. */
type ParserRequest = { readonly peek: number } | { readonly skip: number } | 'cut';

const FRAME = 0xfd2fb528;
/** The low four bits may be any. */
const SKIPPABLE = 0x184d2a50;

/** Follows the structure of the file. @throws Error where there is none */
function* parseStructure(): Generator<ParserRequest, never, Buffer> {
  for (;;) {
    const magic = (yield { peek: 4 }).readUInt32LE();
    if ((magic & ~15) >>> 0 === SKIPPABLE) {
      yield { skip: (yield { peek: 4 }).readUInt32LE() };
    } else if (magic === FRAME) {
      yield* parseFrame();
    } else {
      throw new Error('no frame begins where one should');
    }
    yield 'cut';
  }
}

function* parseFrame(): Generator<ParserRequest, void, Buffer> {
  const descriptor = (yield { peek: 1 }).readUInt8();
  const isSingle = (descriptor & 0x20) !== 0;
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  yield { skip: (isSingle ? 0 : 1) + dictionaryBytes + sizeBytes };
  for (let isLast = false; !isLast; ) {
    const block = (yield { peek: 3 }).readUIntLE(0, 3);
    isLast = (block & 1) !== 0;
    const isRepeated = ((block >> 1) & 3) === 1; // one byte, as often as the size says
    yield { skip: isRepeated ? 1 : block >> 3 };
  }
  if ((descriptor & 4) !== 0) yield { skip: 4 }; // a checksum
}

/** The same bytes, in pieces none of which goes on behind the end of a frame. @throws Error where they end within one */
export async function* cutAtFrames(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const parser = parseStructure();
  let seen = Buffer.alloc(0);
  let want: ParserRequest = parser.next().value;
  let toPass = 0;
  for await (const piece of pieces) {
    let begin = 0;
    for (let at = 0; at < piece.length; ) {
      if (want === 'cut') {
        if (begin < at) yield piece.subarray(begin, at);
        begin = at;
        want = parser.next(seen).value;
        continue;
      }
      if ('peek' in want) {
        const more = piece.subarray(at, at + want.peek - seen.length);
        seen = Buffer.concat([seen, more]);
        at += more.length;
        if (seen.length < want.peek) continue;
        want = parser.next(seen).value;
        seen = Buffer.alloc(0);
      } else {
        const passed = Math.min(want.skip - toPass, piece.length - at);
        toPass += passed;
        at += passed;
        if (toPass < want.skip) continue;
        toPass = 0;
        want = parser.next(seen).value;
      }
    }
    if (begin < piece.length) yield piece.subarray(begin);
  }
  while (typeof want === 'object' && 'skip' in want && want.skip === toPass) {
    toPass = 0;
    want = parser.next(seen).value; // of nothing that is left to pass over
  }
  if (want !== 'cut') throw new Error('unexpected end of file');
}
