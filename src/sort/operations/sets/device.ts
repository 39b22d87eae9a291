import type { KeyCodec } from '../../../keys/key-codec.js';
import { buildMemberTable, enqueueMemberTable } from '../../../primitives/member-table.js';
import { buildReduce, enqueueReduce } from '../../../primitives/reduce.js';
import { enqueueContains } from '../../../primitives/search-sorted.js';
import type { DeviceContext } from '../../backend/column-kernel.js';
import { bufferOf, type Column } from '../../model/column.js';
import { MAX_DEVICE_TABLE_BYTES, MAX_TABLE_BYTES, MIN_KEYS_OF_RANGE } from '../policy.js';

/** Order of a search, and whether it marks the keys that are missing instead of those that it finds. */
export interface Membership {
  readonly codec: KeyCodec;
  readonly inverted: boolean;
}

export const containsOnDevice = (
  { device }: DeviceContext,
  sorted: Column,
  keys: Column,
  how: Membership,
  mask: Column,
) => {
  const inputs = { sorted: bufferOf(sorted), length: sorted.n, keys: bufferOf(keys), n: keys.n };
  return enqueueContains(device, { ...inputs, ...how, mask: bufferOf(mask) });
};

/**
 * Marks the keys that are among others by a table, without a wait if it holds all keys of the dtype. Compiles the programs for
 * no keys.
 *
 * @returns whether it did; or a function that enqueues the table after the wait for the range of the others, and returns
 *   whether it did, which a large range prevents
 */
export async function containsByTableOnDevice(
  context: DeviceContext,
  others: Column,
  keys: Column,
  { inverted }: Membership,
  mask: Column,
): Promise<boolean | (() => boolean)> {
  const { device } = context;
  const { width } = keys.info;
  const n = others.n + keys.n;
  const readsRange = width > 16;
  const minimum = device.capabilities.type === 'cpu' ? MIN_KEYS_OF_RANGE.cpu : MIN_KEYS_OF_RANGE.gpu;
  if (n > 0 && (others.n === 0 || (readsRange && n < minimum))) return false;
  const tuning = context.tuning('reduce', others);
  const min = { dtype: others.dtype, op: 'min', tuning } as const;
  const max = { ...min, op: 'max' } as const;
  const [program] = await Promise.all([
    buildMemberTable(device, width),
    readsRange && buildReduce(device, min),
    readsRange && buildReduce(device, max),
  ]);
  if (n === 0) return false;
  const all = { keys: bufferOf(others), n: others.n };
  const work = { others: all, wanted: { keys: bufferOf(keys), n: keys.n }, inverted, mask: bufferOf(mask) };
  if (!readsRange) {
    enqueueMemberTable(device, program, { ...work, least: 0n, range: 2 ** width - 1 });
    return true;
  }
  const first = await enqueueReduce(device, { ...all, ...min });
  const last = await enqueueReduce(device, { ...all, ...max });
  return () => {
    const least = BigInt(first());
    const range = Number(BigInt(last()) - least);
    if (range >= Math.min(MAX_DEVICE_TABLE_BYTES, MAX_TABLE_BYTES * n)) return false;
    enqueueMemberTable(device, program, { ...work, least: BigInt.asUintN(width, least), range });
    return true;
  };
}
