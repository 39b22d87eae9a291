/** The cost of a step on a device, computed from its active work-items and its memory accesses. */

import { type Access, bankTurns, ROW, rowsOf, sectorsOf } from '../lab/memory-model.js';

export type { Access };

/** Maximum number of serialised local memory accesses of a row of work-items; 1 when there is no bank conflict. */
export interface BankTurns {
  readonly banks: 16 | 32;
  readonly plain: number;
  /** The same with one word of padding after each row of banks. */
  readonly padded: number;
}

/** Utilisation of work-items and memory in a step. */
export interface Cost {
  /** Launched work-items, and those of them that are active in this step. */
  readonly items: number;
  readonly active: number;
  readonly idle: number;
  /** Rows of 32 work-items with both active and idle work-items. */
  readonly divergent: number;
  readonly banks: readonly BankTurns[];
  /** 32-byte sectors of global memory that rows of 32 work-items touch. */
  readonly sectors: number;
  /**
   * Kernel seconds of the step by device events; null without profiling times, or when one kernel performs several
   * steps.
   */
  readonly kernelSeconds: number | null;
}

export interface Work {
  /** Whether each work-item is active. */
  readonly active: readonly boolean[];
  /** Accesses to local memory of one work-group, and the size of an element in bytes. */
  readonly local?: { readonly accesses: readonly Access[]; readonly bytes: number };
  readonly global?: readonly { readonly access: Access; readonly bytes: number }[];
  readonly kernelSeconds?: number | null;
}

/** Returns the bank conflicts of all local memory accesses, with 16 and with 32 banks. */
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

/** Returns contiguous accesses: work-item i accesses element i, and those from n on access none. */
export const sideBySide = (n: number, items = n): Access =>
  Array.from({ length: items }, (_, i) => (i < n ? i : undefined));

/** Returns the activity of work-items of which the first n are active. */
export const firstOf = (n: number, items: number): boolean[] =>
  Array.from({ length: items }, (_, i) => i < n);
