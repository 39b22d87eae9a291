/** Deprecated algorithm names and their current names. They are accepted wherever an algorithm name is read. */
export const ALGORITHM_ALIASES: Readonly<Record<string, string>> = {
  group: 'single-workgroup',
  wide: 'hybrid-radix',
};

/** Returns the current name of an algorithm. A name that is not an alias is returned unchanged. */
export const canonicalAlgorithm = (name: string): string =>
  Object.hasOwn(ALGORITHM_ALIASES, name) ? (ALGORITHM_ALIASES[name] as string) : name;
