/**
 * Frames of LZ4, as Arrow compresses its buffers by: after the public description of the frame and block formats. Runs in the
 * child. What the bytes say is believed nowhere: places and lengths have to lie in what is there, the result grows with what
 * is found and not with what is claimed, and the checksums that a frame has must be right.
 */
import { xxh32 } from './xxh32.js';

const MAGIC = 0x184d_2204;
/** Frames that hold no data have one of sixteen such. */
const SKIPPABLE = 0x184d_2a50;

/** Bits of the flags of a frame. */
const FLAG = { dictionary: 1, contentChecksum: 4, contentSize: 8, blockChecksum: 16, version: 0xc0 } as const;
const VERSION = 0x40;

/** The top bit of a block's length says that it is stored as it is. */
const STORED = 0x8000_0000;

/** Lengths of matches begin with this. */
const MIN_MATCH = 4;
/** A length that is that long goes on in the next byte. */
const EXTENDED_LENGTH = 15;

const FIRST_BYTES = 2 ** 16;

/** Bytes that come out, in memory that grows. */
class GrowingBuffer {
  bytes: Uint8Array<ArrayBuffer>;
  length = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.bytes = new Uint8Array(Math.min(maxBytes, FIRST_BYTES));
  }

  /** Makes room for so many more. @throws RangeError */
  reserve(more: number): void {
    const needed = this.length + more;
    if (needed > this.#maxBytes) throw new RangeError(`it holds more than ${this.#maxBytes} bytes`);
    if (needed <= this.bytes.length) return;
    const grown = new Uint8Array(Math.min(this.#maxBytes, Math.max(needed, 2 * this.bytes.length)));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  add(part: Uint8Array): void {
    this.reserve(part.length);
    this.bytes.set(part, this.length);
    this.length += part.length;
  }

  /** Repeats `length` bytes that came `distance` ago; of fewer than that all come by turns. */
  copyMatch(distance: number, length: number): void {
    this.reserve(length);
    const { bytes } = this;
    const from = this.length - distance;
    if (distance >= length) bytes.copyWithin(this.length, from, from + length);
    else for (let i = 0; i < length; i++) bytes[this.length + i] = bytes[from + i] as number;
    this.length += length;
  }
}

/**
 * What a buffer of frames holds.
 *
 * @param maxBytes bytes that it may come to
 * @throws RangeError that says what is wrong with it
 */
export function decompressLz4(bytes: Uint8Array, maxBytes: number): Uint8Array<ArrayBuffer> {
  const out = new GrowingBuffer(maxBytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; ) at = decodeFrame(view, bytes, at, out);
  return out.bytes.subarray(0, out.length);
}

/** Reads a frame, and returns where it ends. A DataView throws a RangeError beyond its end. */
function decodeFrame(view: DataView, bytes: Uint8Array, begin: number, out: GrowingBuffer): number {
  const magic = view.getUint32(begin, true);
  if ((magic & ~15) >>> 0 === SKIPPABLE) return subrange(bytes, begin + 8, view.getUint32(begin + 4, true));
  if (magic !== MAGIC) throw new RangeError('it is no frame of LZ4');
  const flags = view.getUint8(begin + 4);
  if ((flags & FLAG.version) !== VERSION || flags & FLAG.dictionary) {
    throw new RangeError('it is a frame of LZ4 of a kind that is not known');
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
    // Blocks may repeat what those before them hold, but nothing from before the frame.
    if (word & STORED) out.add(block);
    else decodeBlock(block, start, out);
  }
  const content = out.bytes.subarray(start, out.length);
  if (size !== undefined && size !== BigInt(content.length))
    throw new RangeError('it holds another size than it says');
  if (!(flags & FLAG.contentChecksum)) return at;
  if (view.getUint32(at, true) !== xxh32(content)) throw new RangeError('its checksum is wrong');
  return at + 4;
}

function subrange(bytes: Uint8Array, at: number, length: number): number {
  if (at + length > bytes.length) throw new RangeError('it ends inside a block');
  return at + length;
}

/** Sequences of literals, and of what came before. @param start of what may be repeated */
function decodeBlock(block: Uint8Array, start: number, out: GrowingBuffer): void {
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
    out.add(block.subarray(at, end));
    at = end;
    if (at === block.length) return; // the last sequence has literals only
    const distance = byte() | (byte() << 8);
    if (distance === 0 || distance > out.length - start)
      throw new RangeError('it repeats what was not there');
    out.copyMatch(distance, lengthFrom(token & EXTENDED_LENGTH) + MIN_MATCH);
  }
  throw new RangeError('a block ends without literals');
}
