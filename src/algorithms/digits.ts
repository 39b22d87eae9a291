/** The code bits [shift, shift + bits) that one pass sorts on. */
export interface Digit {
  readonly shift: number;
  readonly bits: number;
}

/** Bits of the words from which most kernels read digits. */
const WORD = 32;

/**
 * Splits a window of code bits into digits, least significant first. Digits are as wide as possible, but none
 * crosses a multiple of `word` bits. cl/digit.clh (`digit_bits`) implements the same rule.
 *
 * An empty window gives one digit of no bits; its pass copies the keys and generates positions.
 */
export function digitsOf(
  [begin, end]: readonly [begin: number, end: number],
  radixBits: number,
  word: 32 | 64 = WORD,
): Digit[] {
  if (begin >= end) return [{ shift: begin, bits: 0 }];
  const digits: Digit[] = [];
  for (let shift = begin; shift < end; ) {
    const stop = Math.min(end, shift - (shift % word) + word);
    const bits = Math.min(radixBits, stop - shift);
    digits.push({ shift, bits });
    shift += bits;
  }
  return digits;
}
