/** Returns the expected arrays of one digit of the split. */
export function splitModel(digits: readonly number[], bins: number) {
  const histogram = new Array<number>(bins).fill(0);
  const offsets = digits.map((digit) => {
    const met = histogram[digit] ?? 0;
    histogram[digit] = met + 1;
    return met;
  });
  let sum = 0;
  const prefix = histogram.map((count) => {
    sum += count;
    return sum - count;
  });
  return {
    histogram,
    prefix,
    offsets,
    places: offsets.map((offset, i) => offset + (prefix[digits[i] ?? 0] ?? 0)),
  };
}
