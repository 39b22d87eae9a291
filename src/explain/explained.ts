/** What can be walked through, with the steps or forms of each: the first is the one that is shown unless one is named. */
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

/** Those whose result is the keys in order. */
export const EXPLAINED_SORTS: readonly Explained[] = ['split', 'amd', 'bitonic', 'odd-even', 'merge', 'row'];
