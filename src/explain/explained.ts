/** Algorithms that can be explained, with their steps or forms; the first one is the default. */
export const EXPLAINED = {
  split: [],
  amd: [],
  bitonic: ['flip', 'alternating'],
  'odd-even': [],
  merge: [],
  row: ['masks', 'khr', 'ptx'],
  reduce: ['halving', 'interleaved', 'compacted', 'two_loads', 'unrolled', 'grid', 'subgroups'],
  scan: ['sweep', 'padded', 'tile', 'hillis_steele', 'single_pass'],
  histogram: ['private_bins', 'private_items', 'permuted', 'tagged', 'waves', 'global'],
} as const;

export type Explained = keyof typeof EXPLAINED;

export const EXPLAINED_NAMES = Object.keys(EXPLAINED) as Explained[];

/** Algorithms whose result is the sorted keys. */
export const EXPLAINED_SORTS: readonly Explained[] = ['split', 'amd', 'bitonic', 'odd-even', 'merge', 'row'];
