/** Policy of a queue: its heuristics, with their units and measurements. */
import { policy } from '../../util/policy.js';

/**
 * Launches that are submitted together: enough to save time, few enough for the device not to idle. A launch
 * takes NVIDIA's driver 4 to 5 microseconds: scripts/results/NOTES.md, "Limits of small calls".
 */
export const MAX_LAUNCHES = policy('launchBatches', 8, 1);

/** While small uploads are pending, this many launches wait with them. */
export const MAX_COALESCED_LAUNCHES = 64;

/** Bytes of pending uploads at which they are submitted earlier. */
export const MAX_COALESCED_BYTES = 2 ** 20;

/**
 * How long this thread polls for completion in one turn of the event loop. After a quiet turn it polls as
 * long as a small call takes, since another turn would take longer than the rest of the call.
 */
export const POLL_MICROSECONDS = { quiet: 200, busy: 50 };

/** A longer turn included work of other code. */
export const BUSY_TURN_MILLISECONDS = 0.1;

/** A program that awaits call after call still yields to the event loop at this interval. */
export const MAX_MILLISECONDS_BETWEEN_YIELDS = 1;

/** Words of one piece of memory that small readbacks share. */
export const ARENA_WORDS = 1024;

/** Words of the largest readback in shared memory. scripts/results/NOTES.md, "sortMany". */
export const MAX_WORDS = policy('sharedReadbacks', 128, 0);
