import type { Device } from '../device/device.js';
import { type FittedProgram, roundUpToGroups } from '../device/fitted-program.js';
import type { Buffer } from '../device/memory/buffer.js';
import { u32, u64 } from '../device/queue/queue.js';
import type { DtypeInfo } from '../keys/dtype.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { buildForGroups } from './group.js';

/** Keys in device memory. */
interface Keys {
  readonly keys: Buffer;
  readonly n: number;
}

/** A search for integers among others of a small range. */
export interface MemberTableWork {
  readonly others: Keys;
  /** Bits of the least of the others. */
  readonly least: bigint;
  /** Greatest of the others minus the least. */
  readonly range: number;
  readonly wanted: Keys;
  /** Mark the keys that are missing instead. */
  readonly inverted: boolean;
  /** u8, for each wanted key */
  readonly mask: Buffer;
}

/** Builds the program for integers of this width. @throws BuildError */
export const buildMemberTable = (device: Device, width: DtypeInfo['width']): MaybePromise<FittedProgram> =>
  buildForGroups(device, 'member_table.cl', ['mark_members', 'find_members'], {
    KEY_BITS: width,
    VALUE_BYTES: 0,
  });

/**
 * Enqueues a search by a table with a byte for each integer of the range of the others, which are in any order. Bits
 * would need atomics, which take longer than larger tables.
 *
 * Complexity: a fill and two launches; one access to the table for each key.
 */
export function enqueueMemberTable(
  { queue, pool }: Device,
  { program, groupSize: local }: FittedProgram,
  { others, least, range, wanted, inverted, mask }: MemberTableWork,
): void {
  const bytes = 4 * Math.ceil((range + 1) / 4);
  const [from, to] = [u64(least), u64(range)];
  pool.withBuffers([bytes], (table) => {
    queue.fill(table, 0, { bytes });
    const marked = [others.keys, table, u64(others.n), from, to];
    queue.run(program.kernel('mark_members'), marked, { global: roundUpToGroups(others.n, local), local });
    const found = [table, wanted.keys, mask, u64(wanted.n), from, to, u32(inverted ? 1 : 0)];
    queue.run(program.kernel('find_members'), found, { global: roundUpToGroups(wanted.n, local), local });
  });
}
