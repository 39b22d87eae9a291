import { UsageError } from '../util/errors.js';
import type { AlgorithmFactory } from './algorithm.js';
import { amdRadix } from './amd-radix.js';
import { bitonic } from './bitonic.js';
import { groupRadix } from './group-radix.js';
import { merge } from './merge.js';
import { oddEven } from './odd-even.js';
import { onesweep } from './onesweep.js';
import { persistentRadix } from './persistent-radix.js';
import { rowSort } from './row-sort.js';
import { serialRadix } from './serial-radix.js';
import { splitRadix } from './split-radix.js';
import { tiledRadix } from './tiled-radix.js';

/** Every sort that clsort has; bench, matrix, explain and `--algorithm` read this list. */
export const ALGORITHMS: readonly AlgorithmFactory[] = [
  groupRadix,
  persistentRadix,
  onesweep,
  tiledRadix,
  serialRadix,
  amdRadix,
  merge,
  bitonic,
  splitRadix,
  rowSort,
  oddEven,
];

/** @throws UsageError when there is no algorithm of that name */
export function algorithmNamed(name: string): AlgorithmFactory {
  const found = ALGORITHMS.find((algorithm) => algorithm.name === name);
  if (found) return found;
  throw new UsageError(
    `unknown algorithm '${name}': expected auto, host or one of ${ALGORITHMS.map((a) => a.name).join(' ')}`,
  );
}
