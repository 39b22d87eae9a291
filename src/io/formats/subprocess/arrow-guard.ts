/**
 * Bounds checks for the metadata decoder of apache-arrow, which does not validate its input. Damaged metadata makes it
 * read out of bounds, run endless loops, or follow cycles. Runs in the subprocess, where nothing else uses the decoder.
 */
import { PackageError } from '../../../util/errors.js';

/** The buffer class of the decoder. */
interface ByteBuffer {
  capacity(): number;
  readUint8(at: number): number;
  readUint16(at: number): number;
  readInt32(at: number): number;
  __string(at: number, encoding?: number): unknown;
}

/** Limits on the reads that decoding one metadata block may take. */
const READS_PER_BYTE = 32;
const BASE_READS = 10_000;

const remainingReads = new WeakMap<ByteBuffer, number>();

function countRead(from: ByteBuffer, at: number, bytes: number, cost = 1): void {
  if (!(at >= 0 && at + bytes <= from.capacity())) throw new RangeError('an offset is beyond its end');
  const rest = (remainingReads.get(from) ?? READS_PER_BYTE * from.capacity() + BASE_READS) - cost;
  if (rest < 0) throw new RangeError('its offsets form a loop');
  remainingReads.set(from, rest);
}

let isGuarded = false;

/**
 * Patches the decoder so that all later decoding stays in bounds and terminates.
 *
 * @param decode  decodes a sample whose result refers to its buffer
 * @throws PackageError when the installed apache-arrow version has an unknown buffer class
 */
export function guardDecoder(decode: () => unknown): void {
  if (isGuarded) return;
  isGuarded = true;
  const buffer = (decode() as { readonly _footer?: { readonly bb?: ByteBuffer } })._footer?.bb;
  const prototype: ByteBuffer | undefined = buffer && Object.getPrototypeOf(buffer);
  if (typeof prototype?.readInt32 !== 'function' || typeof prototype.__string !== 'function') {
    throw new PackageError(
      'this version of apache-arrow is not supported: its decoder of metadata differs. Install another version',
      { details: { package: 'apache-arrow' } },
    );
  }
  const { readUint8, readUint16, readInt32, __string: readString } = prototype;
  prototype.readUint8 = function (at) {
    countRead(this, at, 1);
    return readUint8.call(this, at);
  };
  prototype.readUint16 = function (at) {
    countRead(this, at, 2);
    return readUint16.call(this, at);
  };
  prototype.readInt32 = function (at) {
    countRead(this, at, 4);
    return readInt32.call(this, at);
  };
  prototype.__string = function (at, encoding) {
    const begin = at + this.readInt32(at);
    const length = this.readInt32(begin);
    countRead(this, begin, length, length);
    return readString.call(this, at, encoding);
  };
}
