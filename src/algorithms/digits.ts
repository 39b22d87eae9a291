/** The bits [shift, shift + bits) of the codes, which one pass sorts on. */
export interface Digit {
  readonly shift: number;
  readonly bits: number;
}

/** No digit crosses a multiple of this many bits, so that the kernels read a digit from one word. */
const WORD = 32;

/**
 * How a window of code bits falls into digits, least significant first. The same rule stands in
 * cl/digit.clh (`digit_bits`).
 *
 * An empty window gives one digit of no bits, whose pass copies (and makes positions).
 */
export function digitsOf([begin, end]: readonly [begin: number, end: number], radixBits: number): Digit[] {
  if (begin >= end) return [{ shift: begin, bits: 0 }];
  const digits: Digit[] = [];
  for (let shift = begin; shift < end; ) {
    const stop = Math.min(end, shift - (shift % WORD) + WORD);
    const bits = Math.min(radixBits, stop - shift);
    digits.push({ shift, bits });
    shift += bits;
  }
  return digits;
}
