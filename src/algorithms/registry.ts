import type { Device, KnownDevice } from '../device/device.js';
import { dtypeInfo } from '../keys/dtype.js';
import { invalidName } from '../util/suggest.js';
import { type Algorithm, type AlgorithmFactory, type SortRequest, tunedShape } from './algorithm.js';
import { canonicalAlgorithm } from './algorithm-names.js';
import { amdRadix } from './amd-radix.js';
import { bitonic } from './bitonic.js';
import { hybridRadix } from './hybrid-radix.js';
import { merge } from './merge.js';
import { oddEven } from './odd-even.js';
import { onesweep } from './onesweep.js';
import type { Tuning } from './parameters.js';
import { persistentRadix } from './persistent-radix.js';
import { rowSort } from './row-sort.js';
import { segmentedSort } from './segmented.js';
import { serialRadix } from './serial-radix.js';
import { singleWorkgroupRadix } from './single-workgroup-radix.js';
import { splitRadix } from './split-radix.js';
import { shapeForBits } from './tile.js';
import { tiledRadix } from './tiled-radix.js';

/**
 * All sorting algorithms. bench, matrix, explain and `--algorithm` read this list. The planner tries those that are
 * planned on a device in this order.
 */
export const ALGORITHMS: readonly AlgorithmFactory[] = [
  singleWorkgroupRadix,
  persistentRadix,
  hybridRadix,
  onesweep,
  serialRadix,
  tiledRadix,
  amdRadix,
  merge,
  bitonic,
  splitRadix,
  rowSort,
  segmentedSort,
  oddEven,
];

/** Returns the algorithms that the planner picks from on a device, best first. */
export function plannedOn({ capabilities }: KnownDevice): readonly AlgorithmFactory[] {
  const kind = capabilities.type === 'cpu' ? 'cpu' : 'gpu';
  return ALGORITHMS.filter((factory) => factory.stable && factory.plannedOn?.includes(kind));
}

/** Returns the algorithm of a name or a deprecated alias. @throws UsageError when there is no such algorithm */
export function algorithmNamed(name: string): AlgorithmFactory {
  const canonical = canonicalAlgorithm(name);
  const found = ALGORITHMS.find((algorithm) => algorithm.name === canonical);
  if (found) return found;
  const names = ALGORITHMS.map((algorithm) => algorithm.name);
  throw invalidName('algorithm', name, ['auto', 'host', ...names]);
}

/**
 * Creates an algorithm for one kind of sort without its self-test, for callers that check the results.
 *
 * @param tuning parameters that override those of the device
 * @returns the algorithm, or the reason why it is not available on this device
 * @throws UsageError, BuildError
 */
export async function untestedAlgorithm(
  device: Device,
  name: string,
  request: SortRequest,
  tuning: Tuning = {},
): Promise<Algorithm | string> {
  const factory = algorithmNamed(name);
  const { dtype, n, valueBytes, bits } = request;
  const shape = shapeForBits(factory, { keyBits: dtypeInfo(dtype).width, valueBytes, tuning }, bits);
  const tuned = tunedShape(factory, device, shape, n);
  if (typeof tuned === 'string') return tuned;
  const algorithm = await factory.create(device, tuned);
  const supported = algorithm.supports(request);
  return supported === true ? algorithm : supported;
}
