/** Policy of reading and writing: its heuristics, with their units and measurements. */
import { policy } from '../../util/policy.js';

/**
 * Smaller arrays, in bytes, come from V8. A device takes as long to allocate them; the host engine saves the first
 * access to new pages. scripts/results/NOTES.md, "Batches on an H200" and "Files beside other tools".
 */
export const MIN_BYTES = policy(
  'arrayPool',
  { device: 2 ** 19, host: 2 ** 16 },
  { device: Number.POSITIVE_INFINITY, host: Number.POSITIVE_INFINITY },
);

/** Larger arrays are not pooled: pinning them takes long, and the size may never be requested again. */
export const MAX_BYTES = 2 ** 30;

/** A pooled buffer that exceeds the requested size by more than this factor is not used. */
export const MAX_OVERSIZE = 2;

/** An idle buffer is freed before the next allocation when this many arrays were taken since its release. */
export const MAX_AGE = 64;

/** Number of buffer sizes between two powers of two; files of similar size then share buffers. */
export const SIZE_CLASSES = 8;

/** Bytes per read when a file is read for its checksum only. */
export const SLICE_BYTES = 4 * 2 ** 20;

/** Smaller pieces are collected first, since hashing runs on another thread. */
export const MIN_HASH_BYTES = 2 ** 16;

/** Bytes of a hashed slice, few enough to be in the cache after the transfer. */
export const HASHED_BYTES = 4 * 2 ** 20;

/** Maximum bytes per read or write. */
export const PIECE_BYTES = 16 * 2 ** 20;

/** Bytes of an output chunk: larger than the default of zlib, so that fewer chunks pass through streams. */
export const CHUNK_BYTES = 2 ** 18;
