// Tests that should detect a fault, as scripts/mutate.mjs runs them: files below dist/test, titles, and devices.

/** All tests of files, or those whose titles match. */
export const tests = (files, ...match) => ({ files: [files].flat(), ...(match.length > 0 && { match }) });

/** One algorithm at several sizes: order, permutation and stability. */
export const sorts = (algorithm, ...sizes) => ({
  files: ['algorithms/every-algorithm'],
  match: [`${algorithm} sorts 300 keys or fewer*`, ...sizes.map((n) => `${algorithm} sorts ${n} keys:*`)],
});

const few = (algorithm) => sorts(algorithm);

/** The tests of `few` on the simulator, which detects accesses beyond the end of memory. */
export const accesses = (algorithm) => ({ ...few(algorithm), oclgrind: true });

/** The tests of `few` on the simulator, which detects data races. */
export const races = (algorithm) => ({ ...few(algorithm), races: true });

/** Any tests on the simulator, which detects data races. */
export const racesIn = (files, ...match) => ({ ...tests(files, ...match), races: true });
