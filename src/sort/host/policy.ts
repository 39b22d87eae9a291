/** Policy of the host engine: its heuristics, with their units and measurements. */
import { policy } from '../../util/policy.js';

/** Keys that are sorted before a yield, which would take longer than a short segment. */
export const MIN_STEP_KEYS = 2 ** 12;

/**
 * Maximum keys that are sorted on the JavaScript thread: at most about a millisecond of work. Below, a change
 * of threads takes longer than the second thread gains: 20 to 50 microseconds.
 */
export const MAX_KEYS_AT_ONCE = policy('immediateSorts', 2 ** 16, 0);

/** Elements of a step, which takes a millisecond or two for any work per element. */
export const SLICE = 2 ** 16;

/** Bytes that a step copies, which takes about a millisecond. */
export const COPY_BYTES = 2 ** 22;

/** Milliseconds of work before the event loop runs. */
export const YIELD_INTERVAL_MS = 5;

/** Bytes that one step compares, which takes about a millisecond. */
export const COMPARE_BYTES = 2 ** 22;

/** Below this number of keys, clearing and summing the bins of wide digits costs more than the saved passes. */
export const MIN_WIDE_DIGIT_KEYS = policy('wideDigits', 2048, Number.POSITIVE_INFINITY);

/** The built-in sort takes less time than passes for so few keys. */
export const MAX_BUILT_IN_KEYS = 2 ** 12;
