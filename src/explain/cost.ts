/** What a step costs a device, computed from who works in it and where it reads and writes. */

/** Work-items that run together, and share a turn at memory. */
export const ROW = 32;
/** Bytes that memory hands over at least. */
const SECTOR_BYTES = 32;
const WORD_BYTES = 4;

/** Turns that one access of a row to local memory takes at most: 1 where no two words lie in the same bank. */
export interface BankTurns {
  readonly banks: 16 | 32;
  readonly plain: number;
  /** The same with a word of padding behind each row of banks. */
  readonly padded: number;
}

/** Who works in a step, and what memory has to do for it. */
export interface Cost {
  /** Work-items that were launched, and how many of them have work in this step. */
  readonly items: number;
  readonly active: number;
  readonly idle: number;
  /** Rows of 32 work-items of which some work and some wait. */
  readonly divergent: number;
  readonly banks: readonly BankTurns[];
  /** Sectors of 32 bytes of global memory that rows of 32 work-items touch. */
  readonly sectors: number;
  /** Seconds of the step's kernels by their events; null where the device does not tell, or a kernel has several steps. */
  readonly kernelSeconds: number | null;
}

/** One access: for each work-item the number of the element, undefined where it makes none. */
export type Access = readonly (number | undefined)[];

export interface Work {
  /** Which of all work-items have work. */
  readonly active: readonly boolean[];
  /** Work-items of a group; accesses to local memory are those of one group. */
  readonly local?: { readonly accesses: readonly Access[]; readonly bytes: number };
  readonly global?: readonly { readonly access: Access; readonly bytes: number }[];
  readonly kernelSeconds?: number | null;
}

const rowsOf = (access: Access, lanes: number): Access[] =>
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

/** Turns of all accesses to local memory with 16 and with 32 banks. */
function turnsOf({ accesses, bytes }: NonNullable<Work['local']>): BankTurns[] {
  const most = (banks: 16 | 32, pad: boolean) =>
    accesses.reduce((turns, access) => Math.max(turns, bankTurns(access, bytes, banks, pad)), 1);
  return ([16, 32] as const).map((banks) => ({
    banks,
    plain: most(banks, false),
    padded: most(banks, true),
  }));
}

export function costOf({ active, local, global = [], kernelSeconds = null }: Work): Cost {
  const works = active.filter(Boolean).length;
  const rows = rowsOf(
    active.map((one) => (one ? 1 : undefined)),
    ROW,
  );
  const divergent = rows.filter((row) => row.includes(1) && row.includes(undefined)).length;
  const sectors = global.reduce((sum, { access, bytes }) => sum + sectorsOf(access, bytes), 0);
  return {
    ...{ items: active.length, active: works, idle: active.length - works, divergent },
    ...{ banks: local ? turnsOf(local) : [], sectors, kernelSeconds },
  };
}

/** As many elements side by side as there are work-items. */
export const sideBySide = (n: number, items = n): Access =>
  Array.from({ length: items }, (_, i) => (i < n ? i : undefined));

/** So many work-items, of which the first n have work. */
export const firstOf = (n: number, items: number): boolean[] =>
  Array.from({ length: items }, (_, i) => i < n);
