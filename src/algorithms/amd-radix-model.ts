import { type AmdGeometry, amdGeometry, BLOCK, RADIX, RUN, type ScanChain } from './amd-geometry.js';

/** Expected output of each kernel of one pass of the AMD-style pipeline, by buffer name. */
export interface AmdPassModel {
  readonly geometry: AmdGeometry;
  /** After `histogram`: digit counts, [block][bin]. */
  readonly buckets: Uint32Array;
  /** After `ScanArraysdim2`: exclusive scan over each run of 64 blocks, [block][bin], and run totals, [bin][run]. */
  readonly scannedInRuns: Uint32Array;
  readonly runTotals: Uint32Array;
  /** After `prefixSum` (chain of 5): exclusive scan of the run totals, [bin][run], and bin totals. */
  readonly runPrefixes: Uint32Array;
  readonly binTotals: Uint32Array;
  /** After `blockAddition` (chain of 5): keys with this digit in earlier blocks, [block][bin]. */
  readonly scannedInBins: Uint32Array;
  /** After `ScanArraysdim1`: keys with a smaller digit, [bin]. */
  readonly binBases: Uint32Array;
  /** After `fixOffset`: output position of the block's first key with this digit, [block][bin]. */
  readonly scannedBuckets: Uint32Array;
  /** Output position of each key, padding included: a bijection of 0 … padded - 1. */
  readonly places: Uint32Array;
}

/**
 * Computes the reference result of one pass, written for clarity.
 *
 * @param digits the digit of each key
 * @param padDigit the digit of the keys that are added as padding
 */
export function amdPassModel(
  digits: ArrayLike<number>,
  padDigit: number,
  chain: ScanChain | 'auto' = 'auto',
): AmdPassModel {
  const geometry = amdGeometry(digits.length, chain);
  const { padded, blocks, runs } = geometry;
  const digitOf = (i: number): number => (i < digits.length ? (digits[i] ?? 0) : padDigit);
  const table = () => new Uint32Array(blocks * RADIX);
  const at = (array: Uint32Array, i: number): number => array[i] ?? 0;

  const buckets = table();
  for (let i = 0; i < padded; i++) {
    const slot = Math.floor(i / BLOCK) * RADIX + digitOf(i);
    buckets[slot] = at(buckets, slot) + 1;
  }
  const scannedInRuns = table();
  const scannedInBins = table();
  const runTotals = new Uint32Array(RADIX * runs);
  const runPrefixes = new Uint32Array(RADIX * runs);
  const binTotals = new Uint32Array(RADIX);
  for (let bin = 0; bin < RADIX; bin++) {
    let inBin = 0;
    for (let run = 0; run < runs; run++) {
      runPrefixes[bin * runs + run] = inBin;
      let inRun = 0;
      for (let block = run * RUN; block < (run + 1) * RUN; block++) {
        scannedInRuns[block * RADIX + bin] = inRun;
        scannedInBins[block * RADIX + bin] = inBin + inRun;
        inRun += at(buckets, block * RADIX + bin);
      }
      runTotals[bin * runs + run] = inRun;
      inBin += inRun;
    }
    binTotals[bin] = inBin;
  }
  const binBases = new Uint32Array(RADIX);
  for (let bin = 1; bin < RADIX; bin++) binBases[bin] = at(binBases, bin - 1) + at(binTotals, bin - 1);
  const scannedBuckets = scannedInBins.map((sum, slot) => sum + at(binBases, slot % RADIX));
  const next = scannedBuckets.slice();
  const places = Uint32Array.from({ length: padded }, (_, i) => {
    const slot = Math.floor(i / BLOCK) * RADIX + digitOf(i);
    const place = at(next, slot);
    next[slot] = place + 1;
    return place;
  });
  return {
    geometry,
    buckets,
    scannedInRuns,
    runTotals,
    runPrefixes,
    binTotals,
    scannedInBins,
    binBases,
    scannedBuckets,
    places,
  };
}
