/** Policy of the backends: their heuristics, with their units and measurements. */
import { policy } from '../../util/policy.js';

/** Keys per segment from which a work-group of 1024 selects faster than one of 256. */
export const LONG_SEGMENT = 8192;

/**
 * Number of keys above which the first keys are selected before they are sorted. Without the addon, the
 * selection sorts positions.
 */
export const SELECT_ABOVE = policy('hostSelect', 4096, Number.POSITIVE_INFINITY);

/**
 * Most first keys that are found in sorted order, by comparison of each with each; more are sorted instead.
 * scripts/results/NOTES.md, "First keys".
 */
export const MAX_RANKED = policy('rankedTop', { cpu: 256, gpu: 2048 }, { cpu: 0, gpu: 0 });

/**
 * Candidates for the first keys that are listed, as a fraction of the keys; while there are more, all keys are read. The
 * row of `rankedTop` measures this and the next three constants together.
 */
export const CANDIDATES_SHARE = 1 / 64;

/** Least number of candidates that are listed; at least `MAX_RANKED`. */
export const MIN_CANDIDATES = 4096;

/** Work-items of a group of such a selection, and groups per compute unit: each adds its counts to those of all. */
export const SELECTING_GROUP = 256;
export const SELECTING_GROUPS_PER_UNIT = 4;

/** How keys at given ranks are found: by a kernel, by histograms of digits and copies of keys, or by a sort of all keys. */
export type RanksBy = 'kernel' | 'histograms' | 'sort';

/** Returns the form that takes less time than a sort. scripts/results/NOTES.md, "Keys by rank". */
export const ranksBy = (form: RanksBy): RanksBy => policy('rankSelection', form, 'sort');

/**
 * Minimum elements of an operation in the addon. Fewer take JavaScript less time than a change of threads: 20
 * to 50 microseconds.
 */
export const MIN_NATIVE_ELEMENTS = 2 ** 14;

/** Fraction of device memory that a sort may plan to use: drivers and displays need some as well. */
export const MEMORY_SHARE = 0.9;

/**
 * Failures after which a variant is not used again while the device is open, unless the user requests its algorithm.
 */
export const MAX_FAILURES = 2;

/**
 * Whether the stress rounds of a self-test run after the first use of a variant, while no call runs. On an H200 they take
 * two thirds of a self-test of 150 to 300 ms. scripts/results/NOTES.md, "Compilation on an H200".
 */
export const DEFERS_STRESS = policy('deferredStress', true, false);

/** Most cached requests, so that programs with many sizes need little memory. */
export const MAX_REQUESTS = 256;

/** Algorithms that are tried when results are rejected, before the call falls back to the host engine. */
export const MAX_DEVICE_ATTEMPTS = 2;

/**
 * Seconds for the first build of a driver that the tests do not run on, in a child process. The first call takes
 * 0.3 to 0.5 s longer, once per driver. 0: builds take place in this process, which a compiler may end.
 */
export const FIRST_BUILD_SECONDS = policy('firstBuild', 60, 0);

/**
 * Keys of one process from which opening a device can pay: with fewer, the host engine is done sooner than a device is
 * open. scripts/results/NOTES.md, "Whole commands and the start of a device".
 */
export const MIN_KEYS_TO_OPEN_DEVICE = policy('deviceStart', 2 ** 26, 0);
