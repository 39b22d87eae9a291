/** Algorithms that can be walked through. */
export const EXPLAINED = ['split', 'amd', 'bitonic', 'odd-even', 'merge', 'row'] as const;

export type Explained = (typeof EXPLAINED)[number];
