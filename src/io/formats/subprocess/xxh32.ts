/** xxHash with 32 bits and seed 0, the checksum of LZ4 frames. Follows the public specification. */

const P1 = 0x9e37_79b1 as number;
const P2 = 0x85eb_ca77 as number;
const P3 = 0xc2b2_ae3d as number;
const P4 = 0x27d4_eb2f as number;
const P5 = 0x1656_67b1 as number;
/** Bytes that the four accumulators consume per round. */
const STRIPE = 16;

const rotateLeft = (x: number, bits: number): number => (x << bits) | (x >>> (32 - bits));
const round = (lane: number, word: number): number =>
  Math.imul(rotateLeft(lane + Math.imul(word, P2), 13), P1);

export function xxh32(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { length } = bytes;
  let at = 0;
  let hash = P5;
  if (length >= STRIPE) {
    let [a, b, c, d] = [P1 + P2, P2, 0, -P1];
    for (; at + STRIPE <= length; at += STRIPE) {
      a = round(a | 0, view.getUint32(at, true));
      b = round(b | 0, view.getUint32(at + 4, true));
      c = round(c | 0, view.getUint32(at + 8, true));
      d = round(d | 0, view.getUint32(at + 12, true));
    }
    hash = rotateLeft(a, 1) + rotateLeft(b, 7) + rotateLeft(c, 12) + rotateLeft(d, 18);
  }
  hash = (hash + length) | 0;
  for (; at + 4 <= length; at += 4) {
    hash = Math.imul(rotateLeft((hash + Math.imul(view.getUint32(at, true), P3)) | 0, 17), P4);
  }
  for (; at < length; at++) {
    hash = Math.imul(rotateLeft((hash + Math.imul(view.getUint8(at), P5)) | 0, 11), P1);
  }
  hash = Math.imul(hash ^ (hash >>> 15), P2);
  hash = Math.imul(hash ^ (hash >>> 13), P3);
  return (hash ^ (hash >>> 16)) >>> 0;
}
