/** The bits [shift, shift + bits) of the codes, which one pass sorts on. */
export interface Digit {
  readonly shift: number;
  readonly bits: number;
}

/** Bits of the words from which most kernels read their digits. */
const WORD = 32;

/**
 * How a window of code bits falls into digits, least significant first: as wide as can be, but none crosses a multiple of
 * `word` bits. The same rule stands in cl/digit.clh (`digit_bits`).
 *
 * An empty window gives one digit of no bits, whose pass copies (and makes positions).
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
