/** Policy of calls: its heuristics, with their units and measurements. */
import { policy } from '../../util/policy.js';

/**
 * Bytes of arrays up to which the host engine runs a call while the device compiles its programs: the host
 * engine sorts about 400 MB in a second, and a program with its self-test takes 0.4 to 1.3 seconds on NVIDIA devices.
 * scripts/results/NOTES.md, "Compilation on an H200".
 */
export const MAX_BYTES_WHILE_COMPILING = policy('hostWhileCompiling', 2 ** 28, 0);

/**
 * Bytes by which device arrays, including those of the host engine, may grow in one turn of the event loop.
 * scripts/results/NOTES.md, "Collections of garbage on PoCL".
 */
export const MAX_BYTES_PER_TURN = policy('loopYield', 4 * 2 ** 20, Number.POSITIVE_INFINITY);

/**
 * Bytes by which live memory may grow before a collection is triggered. V8 itself starts one at 64 MiB. The
 * same section.
 */
export const MAX_GROWTH_BYTES = policy('gcPressure', 72 * 2 ** 20, Number.POSITIVE_INFINITY);

/** Milliseconds without a call after which a round of a deferred test runs. A call that arrives meanwhile waits for it. */
export const IDLE_MS = 100;

/** Most concurrent calls: beyond that, overlap gains nothing. */
export const MAX_CALLS = 256;

/** Most keys of all concurrent calls. */
export const MAX_KEYS = 2 ** 24;

/** Smallest chunk after memory errors: a device that cannot sort even this many keys is broken. */
export const MIN_CHUNK_KEYS = 4096;

/**
 * Largest array in bytes that is batched. For larger arrays, copying occupies this thread as long as a
 * separate sort does. scripts/results/NOTES.md, "Many sorts at once".
 */
export const MAX_SORT_BYTES = policy('sortBatches', 2 ** 17, 0);

/** Fewest sorts of a batch: fewer sorts need fewer launches when they run separately. */
export const MIN_SORTS = 4;

/** Most bytes that the sorts of a batch read and write. The device sorts one batch while the next one is copied. */
export const MAX_BATCH_BYTES = 2 ** 22;

/** Most sorts of a batch. */
export const MAX_SORTS = 1023;

/** Most concurrent batches; each has its own staging memory. */
export const MAX_BATCHES = 8;
