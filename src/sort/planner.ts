import type { AlgorithmFactory, AlgorithmShape } from '../algorithms/algorithm.js';
import { amdGeometry, type ScanChain } from '../algorithms/amd-geometry.js';
import { ALGORITHMS, algorithmNamed } from '../algorithms/registry.js';
import type { Device } from '../device/device.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { UnsupportedError } from '../util/errors.js';

/** What is to be sorted, as far as a plan depends on it. */
export interface PlanRequest {
  readonly n: number;
  readonly dtype: Dtype;
  readonly bits: readonly [begin: number, end: number];
  /** Bytes of the value beside each key as the device sees it, 0 for none. */
  readonly valueBytes: number;
  readonly algorithm: string;
  readonly scan: ScanChain | 'auto';
}

/** One way to sort something: pure data. */
export interface Plan {
  readonly engine: 'device' | 'host';
  /** Name in the registry, or `host`. */
  readonly algorithm: string;
  readonly n: number;
  readonly dtype: Dtype;
  readonly bits: readonly [begin: number, end: number];
  readonly valueBytes: number;
  /** Keys that the AMD-style pipeline counts, a multiple of 16384, and kernels of its scan. */
  readonly padded?: number;
  readonly scan?: ScanChain;
  /** What its programs are compiled for. */
  readonly shape?: AlgorithmShape;
  /** Why this one. */
  readonly reason: string;
}

/** Names in the order in which they are tried, by what the device is. */
const PREFERENCE: Readonly<Record<'cpu' | 'gpu', readonly string[]>> = {
  gpu: ['group', 'onesweep', 'tiled', 'amd', 'merge', 'bitonic'],
  cpu: ['group', 'serial', 'tiled', 'amd', 'merge', 'bitonic'],
};

function candidates(device: Device, algorithm: string): readonly AlgorithmFactory[] {
  if (algorithm !== 'auto') return [algorithmNamed(algorithm)];
  const order = PREFERENCE[device.capabilities.type === 'cpu' ? 'cpu' : 'gpu'];
  return order.flatMap((name) => ALGORITHMS.filter((factory) => factory.name === name && factory.stable));
}

/** The plan of the host engine. */
export function hostPlan({ n, dtype, bits, valueBytes }: PlanRequest, reason: string): Plan {
  return { engine: 'host', algorithm: 'host', n, dtype, bits, valueBytes, reason };
}

/**
 * The plans for a device, best first; each later one is what to fall back to when one fails.
 *
 * @param usable false for variants that certification has ruled out
 * @throws UnsupportedError when the algorithm that was asked for cannot do it
 */
export function devicePlans(
  device: Device,
  request: PlanRequest,
  usable: (factory: AlgorithmFactory) => boolean = () => true,
): Plan[] {
  const { n, dtype, bits, valueBytes, algorithm, scan } = request;
  const shape: AlgorithmShape = {
    keyBits: dtypeInfo(dtype).width,
    valueBytes,
    ...(scan !== 'auto' && { tuning: { scan } }),
  };
  const reasons: string[] = [];
  const plans = candidates(device, algorithm)
    .filter(usable)
    .flatMap((factory): Plan[] => {
      const available = factory.available(device, shape);
      if (available !== true) {
        reasons.push(`${factory.name}: ${available}`);
        return [];
      }
      const tuned = factory.tune?.(device, shape, n) ?? shape;
      if (typeof tuned === 'string') {
        reasons.push(`${factory.name}: ${tuned}`);
        return [];
      }
      const geometry = factory.name === 'amd' ? amdGeometry(n, scan) : undefined;
      return [
        {
          engine: 'device',
          algorithm: factory.name,
          n,
          dtype,
          bits,
          valueBytes,
          shape: tuned,
          ...(geometry && { padded: geometry.padded, scan: geometry.scan }),
          reason:
            algorithm === 'auto' ? `first choice left for ${device.capabilities.type} devices` : 'asked for',
        },
      ];
    });
  if (plans.length === 0) {
    throw new UnsupportedError(
      `no algorithm can sort ${n} ${dtype} keys with values of ${valueBytes} bytes on ${device.info.name}: ${
        reasons.join('; ') || 'none is certified'
      }. Use algorithm 'auto' or device 'host'.`,
    );
  }
  return plans;
}
