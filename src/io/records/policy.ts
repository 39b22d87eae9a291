/** Policy of records: its heuristics, with their units and measurements. */

/** Bytes to copy per step, which takes about a millisecond. */
export const STEP_BYTES = 2 ** 22;

/** Records smaller than this are copied byte by byte when unaligned, since a call per record costs more. */
export const CALL_BYTES = 32;

/** Records per slice, few enough to stay in the cache while the code is filled byte by byte. */
export const SLICE = 1024;

/** Bytes of records compared at a time. */
export const SLICE_BYTES = 2 ** 18;
