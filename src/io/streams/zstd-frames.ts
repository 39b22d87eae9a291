/**
 * Splits a zstd file at the ends of its frames (RFC 8878). A file may have several frames. Node's decompressor silently
 * drops data after the end of a frame in the same chunk (seen in 24.21), and treats a partial frame as complete (seen
 * in 22.23).
 */

/** What the parser wants next: to see a number of bytes, to skip a number of bytes, or to cut here. */
type ParserRequest = { readonly peek: number } | { readonly skip: number } | 'cut';

/** Magic number of zstd frames. */
const FRAME = 0xfd2fb528;
/** The lowest four bits may have any value. */
const SKIPPABLE = 0x184d2a50;

/**
 * Parses the structure of the file.
 *
 * @throws Error when no frame begins where one should
 */
function* parseStructure(): Generator<ParserRequest, never, Buffer> {
  for (;;) {
    const magic = (yield { peek: 4 }).readUInt32LE();
    if ((magic & ~15) >>> 0 === SKIPPABLE) {
      yield { skip: (yield { peek: 4 }).readUInt32LE() };
    } else if (magic === FRAME) {
      yield* parseFrame();
    } else {
      throw new Error('the header of a frame is invalid');
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
    const isRepeated = ((block >> 1) & 3) === 1; // one byte, repeated as often as the size says
    yield { skip: isRepeated ? 1 : block >> 3 };
  }
  if ((descriptor & 4) !== 0) yield { skip: 4 }; // a checksum
}

/**
 * Yields the same bytes in pieces that end at the ends of frames.
 *
 * @throws Error when the bytes end within a frame
 */
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
    want = parser.next(seen).value; // skips of zero bytes
  }
  if (want !== 'cut') throw new Error('unexpected end of file');
}
