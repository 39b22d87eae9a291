/** Model of the memory transactions of an access by many work-items. */

/** Work-items that run together and share a memory transaction. */
export const ROW = 32;
/** Smallest memory transaction in bytes. */
const SECTOR_BYTES = 32;
const WORD_BYTES = 4;

/** One access: the element index of each work-item; undefined if it is inactive. */
export type Access = readonly (number | undefined)[];

export const rowsOf = (access: Access, lanes: number): Access[] =>
  Array.from({ length: Math.ceil(access.length / lanes) }, (_, row) =>
    access.slice(row * lanes, (row + 1) * lanes),
  );

/**
 * Returns the most serialized accesses of one row: each bank serves one word at a time, and broadcasts a common word.
 *
 * @param bytes bytes of an element; with 8, half as many work-items are served together
 * @param pad whether a word of padding follows each row of banks
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

/** Returns the number of sectors that an access touches, summed over rows. */
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
