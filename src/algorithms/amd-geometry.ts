import { invalidArgument } from '../util/invalid-argument.js';

/** Bins of an 8-bit digit. */
export const RADIX = 256;
/** Keys per block. */
export const BLOCK = 256;
/** Blocks per run. */
export const RUN = 64;
/** Keys are padded to a multiple of this: a run of 64 blocks of 256. */
export const PADDING = RUN * BLOCK;
/** Key positions are 32-bit words in the tables. */
export const MAX_PADDED = 2 ** 32;

/** Number of scan kernels: 3 for a single run of blocks, 5 otherwise (or if forced). */
export type ScanChain = 3 | 5;

/** Partition of n keys into blocks and runs. */
export interface AmdGeometry {
  /** n rounded up to a multiple of 16384. */
  readonly padded: number;
  /** Blocks of 256 keys. */
  readonly blocks: number;
  /** Runs of 64 blocks. */
  readonly runs: number;
  readonly scan: ScanChain;
}

/**
 * Computes the partition of n keys.
 *
 * @param chain a forced scan chain; 'auto' picks the shortest one that suffices
 * @throws UsageError when 3 kernels are forced and there is more than one run
 */
export function amdGeometry(n: number, chain: ScanChain | 'auto' = 'auto'): AmdGeometry {
  const padded = Math.max(1, Math.ceil(n / PADDING)) * PADDING;
  const runs = padded / PADDING;
  if (chain === 3 && runs > 1) {
    throw invalidArgument('scan', `5 or 'auto' for more than ${PADDING} keys`, chain, { details: { n } });
  }
  return { padded, blocks: padded / BLOCK, runs, scan: chain === 'auto' ? (runs === 1 ? 3 : 5) : chain };
}
