/** What a step costs a device, computed from who works in it and where it reads and writes. */

import { type Access, bankTurns, ROW, rowsOf, sectorsOf } from '../primitives/memory-model.js';

export type { Access };

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

export interface Work {
  /** Which of all work-items have work. */
  readonly active: readonly boolean[];
  /** Work-items of a group; accesses to local memory are those of one group. */
  readonly local?: { readonly accesses: readonly Access[]; readonly bytes: number };
  readonly global?: readonly { readonly access: Access; readonly bytes: number }[];
  readonly kernelSeconds?: number | null;
}

/** Turns of all accesses to local memory with 16 and with 32 banks. */
function turnsOf({ accesses, bytes }: NonNullable<Work['local']>): BankTurns[] {
  const maxTurns = (banks: 16 | 32, pad: boolean) =>
    accesses.reduce((turns, access) => Math.max(turns, bankTurns(access, bytes, banks, pad)), 1);
  return ([16, 32] as const).map((banks) => ({
    banks,
    plain: maxTurns(banks, false),
    padded: maxTurns(banks, true),
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
