/** Policy of transfers: its heuristics, with their units and measurements. */
import { policy } from '../../util/policy.js';

/**
 * Smallest array in bytes that is bound in place. Below this size a copy is cheaper, and the 4-byte minimum
 * of a buffer would overrun the array.
 */
export const MIN_ZERO_COPY_BYTES = policy('zeroCopy', 4096, Number.POSITIVE_INFINITY);

/** Most idle buffers that are kept, which limits memory. */
export const MAX_IDLE = 4;
