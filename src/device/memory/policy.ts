/** Policy of transfers and copies: their heuristics, with their units and measurements. */
import { policy } from '../../util/policy.js';

/**
 * Smaller transfers are left to the driver, which takes one thread less. Bytes. scripts/results/NOTES.md,
 * "From array to array on an H200".
 */
export const STAGED_BYTES = policy('staging', 2 ** 20, Number.POSITIVE_INFINITY);

/** Minimum number of pieces, so that copying one and transferring another overlap. */
export const MIN_PIECES = 4;

/** Limits of a piece in bytes. Each piece costs the driver some time. */
export const MIN_PIECE_BYTES = 2 * 2 ** 20;

export const MAX_PIECE_BYTES = 8 * 2 ** 20;

/**
 * Data of this size is not in the caches when the copy ends, however it is written. Bytes.
 * scripts/results/NOTES.md, "Many sorts at once".
 */
export const UNCACHED_BYTES = policy('uncachedCopies', 64 * 2 ** 20, Number.POSITIVE_INFINITY);

/** More threads gain nothing: the memory is busy. */
export const MAX_THREADS = 16;

/** Fewer bytes are copied by the calling thread: waking others takes as long. scripts/results/NOTES.md, "sortMany". */
export const MIN_PARALLEL_COPY_BYTES = policy('parallelCopies', 2 ** 18, Number.POSITIVE_INFINITY);

/** Concurrent file transfers per direction: scripts/results/NOTES.md, "Batches on an H200". */
export const FILE_SLICES = 8;

/** Staging bytes of a file transfer. */
export const FILE_BYTES = 4 * 2 ** 20;

/** Bytes of one device transfer, and threads per file. */
export const FILE_TRANSFERS = {
  /**
   * Hashed files: one thread moves a piece while the other one hashes another, still cached piece, and further ones
   * are in flight.
   */
  hashed: { piece: 2 ** 20, threads: 2 },
  /** Uploads without a hash. */
  up: { piece: 2 ** 20, threads: 4 },
  /** Downloads: systems let one thread at a time write a file, and changing the thread takes some time. */
  down: { piece: 2 ** 20, threads: 1 },
};

/** Bytes of staging memory for the transfers of one direction. */
export const RING_BYTES = 64 * 2 ** 20;

/** Parts of the memory. A small transfer takes one, so that several run at once; a large one takes all. */
export const SLICES = 8;

/** Threads of a staged transfer. More threads would wait for each other's pieces. */
export const MAX_COPIERS = 8;

/**
 * Threads of all small transfers together. With more, the transfers would wait for each other.
 * scripts/results/NOTES.md, "Many sorts at once".
 */
export const SLICE_COPIERS = 4;

/**
 * Larger arrays are transferred separately: the overhead of a transfer is small beside their bytes. Bytes.
 * scripts/results/NOTES.md, "Many sorts at once".
 */
export const MAX_BYTES = policy('coalescedTransfers', 2 ** 19, 0);

/** Smallest slot size. On every device, buffers may begin at its multiples. */
export const MIN_SLOT_BYTES = 2 ** 12;

/** Maximum slots of a ring. */
export const MAX_SLOTS = 2 ** 10;

/** Maximum bytes of all slots of a ring. */
export const MAX_RING_BYTES = 2 ** 24;
