#!/usr/bin/env node

// Runs the tests of `npm test`: two concurrent lanes, one bound by compilation, one by processes.
//
//   node scripts/test.mjs [FILE … | OPTION …]
//
// With test files or options of ava, only those run. Compiled kernels and self-test records are kept outside the tree
// between runs; see scripts/ci/kernel-cache.mjs. Needs `npm run setup`.

import { runNode } from './child.mjs';
import { openKernelCache } from './ci/kernel-cache.mjs';
import { TEST_LANES } from './ci/lanes.mjs';
import { Results } from './ci/results.mjs';

const args = process.argv.slice(2);
// A CI run has opened the cache already, and counts the tests itself.
const cache = process.env.CLSORT_TEST_CACHE ? undefined : openKernelCache();

if (args.length > 0) {
  const env = { ...process.env, ...cache?.env };
  process.exitCode = await runNode(['node_modules/ava/entrypoints/cli.mjs', ...args], {
    stdio: 'inherit',
    env,
  });
  cache?.publish();
} else {
  const results = new Results();
  await Promise.all(
    TEST_LANES.map(({ name, tests }) =>
      results.tests(name, tests, { env: cache?.env, minutes: 60, isBeside: true }),
    ),
  );
  if (!results.crashed) cache?.publish();
  process.exitCode = results.print();
}
