/** Names of all sorting algorithms. */
export const ALGORITHM_NAMES = [
  'single-workgroup',
  'persistent',
  'hybrid-radix',
  'onesweep',
  'serial',
  'tiled',
  'amd',
  'merge',
  'bitonic',
  'split',
  'row',
  'segmented',
  'odd-even',
] as const;

/** Name of a sorting algorithm. */
export type AlgorithmName = (typeof ALGORITHM_NAMES)[number];

/** Deprecated algorithm names and their current names. They are accepted wherever an algorithm name is read. */
export const ALGORITHM_ALIASES = {
  group: 'single-workgroup',
  wide: 'hybrid-radix',
} as const satisfies Readonly<Record<string, AlgorithmName>>;

/**
 * Values of option `algorithm`: the name of an algorithm, `auto` for the choice of the planner, or `host` for the host
 * engine. `group` and `wide` are deprecated aliases of `single-workgroup` and `hybrid-radix`.
 */
export type AlgorithmOption = 'auto' | 'host' | AlgorithmName | keyof typeof ALGORITHM_ALIASES;

/** Returns the current name of an algorithm. A name that is not an alias is returned unchanged. */
export const canonicalAlgorithm = (name: string): string =>
  Object.hasOwn(ALGORITHM_ALIASES, name) ? ALGORITHM_ALIASES[name as keyof typeof ALGORITHM_ALIASES] : name;
