/** Bitwise conversion between half and single precision, for libraries without half-precision support. */

const bits = new Uint32Array(1);
const value = new Float32Array(bits.buffer);

/** Converts half-precision bits to single precision, exactly and with NaN payloads. */
export function halfToSingleBits(half: number): number {
  const sign = (half & 0x8000) << 16;
  const exponent = (half >> 10) & 31;
  const mantissa = half & 1023;
  if (exponent === 31) return (sign | 0x7f800000 | (mantissa << 13)) >>> 0;
  if (exponent > 0) return (sign | ((exponent + 112) << 23) | (mantissa << 13)) >>> 0;
  value[0] = mantissa * 2 ** -24;
  return (sign | (bits[0] ?? 0)) >>> 0;
}

/** Rounds single-precision bits to half precision, to nearest even. A NaN keeps the upper bits of its payload. */
export function singleToHalfBits(single: number): number {
  const sign = (single >>> 16) & 0x8000;
  const magnitude = single & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7c00 | ((magnitude >> 13) & 1023 || 0x200);
  if (magnitude >= 0x47800000) return sign | 0x7c00; // 65536 and above overflow to infinity
  if (magnitude < 0x38800000) {
    // Below the smallest normal half: adding 0.5 rounds to a multiple of 2^-24.
    bits[0] = magnitude;
    value[0] = (value[0] ?? 0) + 0.5;
    return sign | ((bits[0] ?? 0) - 0x3f000000);
  }
  return sign | ((magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13);
}

/** Converts half-precision values to single-precision bits. */
export function halvesToSingles(halves: Uint16Array): Uint32Array<ArrayBuffer> {
  const singles = new Uint32Array(halves.length);
  for (let i = 0; i < singles.length; i++) singles[i] = halfToSingleBits(halves[i] ?? 0);
  return singles;
}
