/** Policy of several devices: its heuristics, with their units and measurements. */
import { policy } from '../../util/policy.js';

/**
 * Smallest input, in bytes of keys and values, that is shared: a smaller one takes too little time to gain
 * from a second device. scripts/results/NOTES.md, "Several devices".
 */
export const MIN_SHARED_BYTES = policy('sharedSorts', 2 ** 22, Number.POSITIVE_INFINITY);

/** Fraction of all keys that a shard may have beyond its expected size. */
export const SHARD_SLACK = 0.02;

/**
 * Most devices that sort an array by default: to split keys among more, the host moves each key separately.
 * Four H200s took 8 times as long as one.
 */
export const MAX_SORTING_DEVICES = 2;

/** Largest k, as a fraction of the keys per device, for which topK selects; for a larger k it sorts all keys. */
export const MAX_TOP_FRACTION = 1 / 4;

/** Sampled keys per shard. With these, shard boundaries are almost surely off by less than a hundredth of all keys. */
export const SAMPLES = 2 ** 13;

/** Bytes of keys, or of values, that are partitioned at a time. */
export const PIECE_BYTES = 2 ** 25;

/** Most threads that partition a piece: half of those of the addon. */
export const MAX_THREADS = 32;

/** Most keys of a measurement, which takes milliseconds. */
export const PROBE_KEYS = 2 ** 20;

/**
 * The same if all devices have dedicated memory. The fixed cost of a call would make them look ten times as
 * slow as they are: H100s that sort 2^30 keys in 0.27 s were estimated at 2.7 s.
 */
export const STREAMED_PROBE_KEYS = 2 ** 24;

/** Weight of the latest measurement; earlier ones have the rest, so that one slow call changes little. */
export const LATEST_WEIGHT = 0.5;

/** Smallest share of the keys for a device: a smaller one saves less time than its call takes. */
export const MIN_WEIGHT = 0.02;

/**
 * Pieces that are partitioned at once if all writers can reserve ahead, so that threads need not idle between pieces.
 */
export const MAX_CONCURRENT_PIECES = 2;
