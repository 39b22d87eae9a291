/** Policy of the algorithms: their heuristics, with their units and measurements. */
import { policy } from '../util/policy.js';

/**
 * Whether sorts on devices find out that an array is ascending or strictly descending while they count its digits, and
 * then move it to the output at once. scripts/results/NOTES.md, "Arrays in order".
 */
export const FINDS_ORDER = policy('ordered', true, false);
