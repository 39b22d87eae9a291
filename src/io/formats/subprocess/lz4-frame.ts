/**
 * Decompressor for LZ4 frames, one of the compressions of Arrow buffers. Follows the public frame and block format
 * descriptions. Runs in the subprocess. It trusts no length in the input: offsets are range-checked, the output grows
 * with actual data, and checksums are verified.
 */
import { GrowingBytes } from '../../streams/growing-bytes.js';
import { xxh32 } from './xxh32.js';

/** Magic number of LZ4 frames. */
const MAGIC = 0x184d_2204;
/** Magic number of skippable frames; the low four bits are arbitrary. */
const SKIPPABLE = 0x184d_2a50;

/** Flag bits of a frame descriptor. */
const FLAG = { dictionary: 1, contentChecksum: 4, contentSize: 8, blockChecksum: 16, version: 0xc0 } as const;
const VERSION = 0x40;

/** The top bit of a block length marks an uncompressed block. */
const STORED = 0x8000_0000;

/** Minimum match length, which is added to the stored length. */
const MIN_MATCH = 4;
/** A length nibble with this value continues in the next byte. */
const EXTENDED_LENGTH = 15;

/** Bytes of the output buffer at first; it grows on demand. */
const FIRST_BYTES = 2 ** 16;

/** Copies `length` bytes from `distance` bytes back; an overlapping match repeats its bytes. */
function copyMatch(out: GrowingBytes, distance: number, length: number): void {
  const at = out.reserve(length);
  const { bytes } = out;
  const from = at - distance;
  if (distance >= length) bytes.copyWithin(at, from, from + length);
  else for (let i = 0; i < length; i++) bytes[at + i] = bytes[from + i] as number;
}

/**
 * Decompresses a buffer of LZ4 frames.
 *
 * @param maxBytes  maximum size of the result
 * @throws RangeError when the input is damaged or the result is too large
 */
export function decompressLz4(bytes: Uint8Array, maxBytes: number): Uint8Array<ArrayBuffer> {
  const out = new GrowingBytes(FIRST_BYTES, maxBytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; ) at = decodeFrame(view, bytes, at, out);
  return out.bytes.subarray(0, out.length);
}

/** Decodes a frame and returns its end. A DataView throws a RangeError for reads out of bounds. */
function decodeFrame(view: DataView, bytes: Uint8Array, begin: number, out: GrowingBytes): number {
  const magic = view.getUint32(begin, true);
  if ((magic & ~15) >>> 0 === SKIPPABLE) return subrange(bytes, begin + 8, view.getUint32(begin + 4, true));
  if (magic !== MAGIC) throw new RangeError('it is not an LZ4 frame');
  const flags = view.getUint8(begin + 4);
  if ((flags & FLAG.version) !== VERSION || flags & FLAG.dictionary) {
    throw new RangeError('this kind of LZ4 frame is not supported');
  }
  let at = begin + 6;
  const size = flags & FLAG.contentSize ? view.getBigUint64(at, true) : undefined;
  if (size !== undefined) at += 8;
  const check = (xxh32(bytes.subarray(begin + 4, at)) >>> 8) & 0xff;
  if (view.getUint8(at++) !== check) throw new RangeError('the checksum of its header is wrong');
  const start = out.length;
  for (;;) {
    const word = view.getUint32(at, true);
    at += 4;
    if (word === 0) break;
    const end = subrange(bytes, at, word & ~STORED);
    const block = bytes.subarray(at, end);
    at = end;
    if (flags & FLAG.blockChecksum) {
      if (view.getUint32(at, true) !== xxh32(block)) throw new RangeError('the checksum of a block is wrong');
      at += 4;
    }
    // A block may refer to earlier blocks, but not to data before the frame.
    if (word & STORED) out.append(block);
    else decodeBlock(block, start, out);
  }
  const content = out.bytes.subarray(start, out.length);
  if (size !== undefined && size !== BigInt(content.length))
    throw new RangeError('its size differs from the declared one');
  if (!(flags & FLAG.contentChecksum)) return at;
  if (view.getUint32(at, true) !== xxh32(content)) throw new RangeError('its checksum is wrong');
  return at + 4;
}

function subrange(bytes: Uint8Array, at: number, length: number): number {
  if (at + length > bytes.length) throw new RangeError('it ends inside a block');
  return at + length;
}

/**
 * Decodes the sequences of a block.
 *
 * @param start  start of the data that matches may refer to
 */
function decodeBlock(block: Uint8Array, start: number, out: GrowingBytes): void {
  let at = 0;
  const byte = (): number => {
    const value = block[at++];
    if (value === undefined) throw new RangeError('a block ends inside a sequence');
    return value;
  };
  const lengthFrom = (bits: number): number => {
    let length = bits;
    if (bits < EXTENDED_LENGTH) return length;
    for (let more = byte(); ; more = byte()) {
      length += more;
      if (more < 0xff) return length;
    }
  };
  while (at < block.length) {
    const token = byte();
    const literals = lengthFrom(token >> 4);
    const end = subrange(block, at, literals);
    out.append(block, at, end);
    at = end;
    if (at === block.length) return; // the last sequence has only literals
    const distance = byte() | (byte() << 8);
    if (distance === 0 || distance > out.length - start)
      throw new RangeError('it copies bytes from before its beginning');
    copyMatch(out, distance, lengthFrom(token & EXTENDED_LENGTH) + MIN_MATCH);
  }
  throw new RangeError('a block ends without literals');
}
