import { UsageError } from '../util/errors.js';
import type { AlgorithmFactory } from './algorithm.js';
import { amdRadix } from './amd-radix.js';
import { groupRadix } from './group-radix.js';
import { onesweep } from './onesweep.js';
import { serialRadix } from './serial-radix.js';
import { tiledRadix } from './tiled-radix.js';

/** Every sort that clsort has; bench, matrix, explain and `--algorithm` read this list. */
export const ALGORITHMS: readonly AlgorithmFactory[] = [
  groupRadix,
  onesweep,
  tiledRadix,
  serialRadix,
  amdRadix,
];

/** @throws UsageError when there is no algorithm of that name */
export function algorithmNamed(name: string): AlgorithmFactory {
  const found = ALGORITHMS.find((algorithm) => algorithm.name === name);
  if (found) return found;
  throw new UsageError(
    `unknown algorithm '${name}': expected auto, host or one of ${ALGORITHMS.map((a) => a.name).join(' ')}`,
  );
}
