/** Former names of algorithms. They are deprecated, and accepted wherever the name of an algorithm is read. */
export const ALGORITHM_ALIASES: Readonly<Record<string, string>> = {
  group: 'single-workgroup',
  wide: 'hybrid-radix',
};

/** The present name of an algorithm: that of an alias, and any other name as it is. */
export const canonicalAlgorithm = (name: string): string =>
  Object.hasOwn(ALGORITHM_ALIASES, name) ? (ALGORITHM_ALIASES[name] as string) : name;
