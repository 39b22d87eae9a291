import test from 'ava';
import { cutAtFrames } from '../../../src/io/streams/zstd-frames.js';

const u32 = (number: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
};

/** A block of some bytes: type 0 stores them raw, type 1 repeats one byte, type 2 is compressed. */
function block(type: number, size: number, isLast: boolean): Buffer {
  const header = Buffer.alloc(3);
  header.writeUIntLE((size << 3) | (type << 1) | (isLast ? 1 : 0), 0, 3);
  return Buffer.concat([header, Buffer.alloc(type === 1 ? 1 : size, 0x55)]);
}

const MAGIC = u32(0xfd2fb528);
const FRAMES = [
  // One segment, a size of one byte, a checksum.
  Buffer.concat([MAGIC, Buffer.from([0x24, 9]), block(0, 9, true), Buffer.alloc(4)]),
  // A window, a size of two bytes, no checksum, several blocks.
  Buffer.concat([
    MAGIC,
    Buffer.from([0x40, 0, 0, 0]),
    block(2, 300, false),
    block(1, 4000, false),
    block(0, 0, true),
  ]),
  Buffer.concat([u32(0x184d2a57), u32(5), Buffer.alloc(5)]),
  // A dictionary number of four bytes, a size of eight bytes.
  Buffer.concat([MAGIC, Buffer.from([0xc3, 0]), Buffer.alloc(12), block(1, 7, true)]),
  Buffer.concat([u32(0x184d2a50), u32(0)]),
  Buffer.concat([MAGIC, Buffer.from([0, 0]), block(0, 2, true)]),
];

async function* inChunks(bytes: Buffer, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** Where the pieces end. */
async function endsOf(bytes: Buffer, length: number): Promise<number[]> {
  const ends: number[] = [];
  const pieces: Uint8Array[] = [];
  for await (const piece of cutAtFrames(inChunks(bytes, length))) {
    pieces.push(piece);
    ends.push((ends.at(-1) ?? 0) + piece.length);
  }
  if (!Buffer.concat(pieces).equals(bytes)) throw new Error('other bytes');
  return ends;
}

test('pieces end where frames end, in chunks of any length', async (t) => {
  const all = Buffer.concat(FRAMES);
  let end = 0;
  const expected = FRAMES.map((frame) => {
    end += frame.length;
    return end;
  });
  t.deepEqual(await endsOf(all, all.length), expected);
  for (let length = 1; length < 40; length++) {
    const ends = await endsOf(all, length);
    for (const one of expected) t.true(ends.includes(one), `${length}`);
  }
});

test('data without frames, or truncated within one, is refused', async (t) => {
  const whole = Buffer.concat(FRAMES);
  const ends = FRAMES.map((_, i) => Buffer.concat(FRAMES.slice(0, i + 1)).length);
  for (let length = 0; length < whole.length; length++) {
    const read = endsOf(whole.subarray(0, length), 100);
    if (ends.includes(length)) await t.notThrowsAsync(read, `${length}`);
    else await t.throwsAsync(read, { message: 'unexpected end of file' }, `${length}`);
  }
  for (const junk of [Buffer.from('abcd'), Buffer.concat([FRAMES[5] as Buffer, Buffer.from('and more')])]) {
    await t.throwsAsync(endsOf(junk, 100), { message: /header of a frame is invalid/ });
  }
});
