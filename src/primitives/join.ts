import type { Device } from '../device/device.js';
import { type FittedProgram, roundUpToGroups } from '../device/fitted-program.js';
import type { Buffer } from '../device/memory/buffer.js';
import { u32, u64 } from '../device/queue/queue.js';
import { chain, type MaybePromise } from '../util/maybe-promise.js';
import { buildForGroups } from './group.js';

/** How the number of pairs of a key follows from the number of its equals. */
export interface PairCounts {
  /** Fewest pairs. */
  readonly least: number;
  /** Most pairs. */
  readonly most: number;
  /** Swap 0 and 1 pairs. */
  readonly inverted: boolean;
}

/** Pairs of keys whose equals were found. All columns are u32. */
export interface JoinPlacesWork {
  /** First position of each pair, ascending. */
  readonly left: Buffer;
  /** Where the pairs of each key begin. */
  readonly begins: Buffer;
  /** Where the equals of each key begin among the sorted keys; 2^32 − 1 if it has none. */
  readonly first: Buffer;
  /** Positions of the sorted keys before the sort; undefined if they were sorted. */
  readonly order: Buffer | undefined;
  /** Second position of each pair. */
  readonly right: Buffer;
  /** Number of pairs. */
  readonly n: number;
}

/** Builds the program. @throws BuildError */
export const buildJoin = (device: Device): MaybePromise<FittedProgram> =>
  buildForGroups(device, 'join.cl', ['join_counts', 'join_places'], {});

/**
 * Enqueues the computation of the number of pairs of each of n keys.
 *
 * @param first u32: number of sorted keys before each key; becomes 2^32 − 1 if the key has no equal
 * @param counts u32: number of sorted keys that do not follow the key; becomes the number of pairs
 */
export const enqueueJoinCounts = (
  device: Device,
  first: Buffer,
  counts: Buffer,
  n: number,
  { least, most, inverted }: PairCounts,
): MaybePromise<void> =>
  chain(buildJoin(device), ({ program, groupSize }) => {
    const args = [first, counts, u64(n), u32(least), u32(most), u32(inverted ? 1 : 0)];
    const launch = { global: roundUpToGroups(n, groupSize), local: groupSize };
    device.queue.run(program.kernel('join_counts'), args, launch);
  });

/** Enqueues the computation of the second position of each pair. */
export const enqueueJoinPlaces = (
  device: Device,
  { left, begins, first, order, right, n }: JoinPlacesWork,
): MaybePromise<void> =>
  chain(buildJoin(device), ({ program, groupSize }) => {
    const args = [left, begins, first, order ?? first, right, u64(n), u32(order ? 1 : 0)];
    const launch = { global: roundUpToGroups(n, groupSize), local: groupSize };
    device.queue.run(program.kernel('join_places'), args, launch);
  });
