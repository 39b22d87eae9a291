/** What memory has to do for an access of many work-items at once. */

/** Work-items that run together, and share a turn at memory. */
export const ROW = 32;
/** Bytes that memory hands over at least. */
const SECTOR_BYTES = 32;
const WORD_BYTES = 4;

/** One access: for each work-item the number of the element, undefined where it makes none. */
export type Access = readonly (number | undefined)[];

export const rowsOf = (access: Access, lanes: number): Access[] =>
  Array.from({ length: Math.ceil(access.length / lanes) }, (_, row) =>
    access.slice(row * lanes, (row + 1) * lanes),
  );

/**
 * Turns that an access takes at most in one row: banks serve a word each at a time, and the same word to all who ask.
 *
 * @param bytes of an element: of 8, half as many work-items have a turn together
 * @param pad   a word of padding behind each row of banks
 */
export function bankTurns(access: Access, bytes: number, banks: number, pad: boolean): number {
  const lanes = Math.max(1, banks / Math.max(1, bytes / WORD_BYTES));
  const turns = rowsOf(access, lanes).map((row) => {
    const words = new Map<number, Set<number>>();
    for (const element of row) {
      if (element === undefined) continue;
      const plain = Math.floor((element * bytes) / WORD_BYTES);
      const word = pad ? plain + Math.floor(plain / banks) : plain;
      const bank = word % banks;
      words.set(bank, (words.get(bank) ?? new Set()).add(word));
    }
    return Math.max(1, ...[...words.values()].map((own) => own.size));
  });
  return Math.max(1, ...turns);
}

/** Sectors that an access touches, row by row. */
export function sectorsOf(access: Access, bytes: number): number {
  return rowsOf(access, ROW).reduce((sum, row) => {
    const sectors = new Set<number>();
    for (const element of row) {
      if (element === undefined) continue;
      const [first, last] = [element * bytes, (element + 1) * bytes - 1];
      for (let at = Math.floor(first / SECTOR_BYTES); at <= last / SECTOR_BYTES; at++) sectors.add(at);
    }
    return sum + sectors.size;
  }, 0);
}
