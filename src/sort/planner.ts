import { type AlgorithmFactory, type AlgorithmShape, tunedShape } from '../algorithms/algorithm.js';
import { amdGeometry, type ScanChain } from '../algorithms/amd-geometry.js';
import { ALGORITHMS, algorithmNamed } from '../algorithms/registry.js';
import { crossoversFor } from '../algorithms/tuning.js';
import type { Capabilities } from '../device/capabilities.js';
import type { Device } from '../device/device.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { UnsupportedError, UsageError } from '../util/errors.js';

/** What is to be sorted, as far as a plan depends on it. */
export interface PlanRequest {
  readonly n: number;
  readonly dtype: Dtype;
  readonly bits: readonly [begin: number, end: number];
  /** Bytes of the value beside each key as the device sees it, 0 for none. */
  readonly valueBytes: number;
  readonly algorithm: string;
  readonly scan: ScanChain | 'auto';
  /** Bits of a digit, if somebody chose them. */
  readonly radixBits?: number | undefined;
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
  /** Keys of a chunk, where the whole does not fit the device: chunks are sorted, then merged. */
  readonly chunk?: number;
  /** What its programs are compiled for. */
  readonly shape?: AlgorithmShape;
  /** Why this one. */
  readonly reason: string;
}

/** Share of the device's memory that a sort may plan to take: drivers and displays need some too. */
const MEMORY_SHARE = 0.9;

/**
 * Most keys that a device can sort at a time: none of its buffers may be larger than the largest
 * allocation, and input, output and a second output to alternate with must fit together. An estimate,
 * since tables of counters and other processes take memory as well.
 */
export function chunkLimit(
  { maxAllocation, globalBytes, quirks }: Capabilities,
  { dtype, valueBytes }: Pick<PlanRequest, 'dtype' | 'valueBytes'>,
): number {
  const keyBytes = dtypeInfo(dtype).bytes;
  // On a device that works in host memory, input and output are the caller's.
  const copies = quirks.zeroCopy ? 1 : 3;
  const byMemory = (globalBytes * MEMORY_SHARE) / (copies * (keyBytes + valueBytes));
  return Math.max(1, Math.floor(Math.min(maxAllocation / Math.max(keyBytes, valueBytes), byMemory)));
}

/** Names in the order in which they are tried, by what the device is. */
const PREFERENCE: Readonly<Record<'cpu' | 'gpu', readonly string[]>> = {
  gpu: ['group', 'persistent', 'onesweep', 'tiled', 'amd', 'merge', 'bitonic'],
  cpu: ['group', 'serial', 'tiled', 'amd', 'merge', 'bitonic'],
};

function candidates(device: Device, algorithm: string, n: number): readonly AlgorithmFactory[] {
  if (algorithm !== 'auto') return [algorithmNamed(algorithm)];
  const isTooMuch = (name: string) => name === 'group' && n > crossoversFor(device).group;
  const order = PREFERENCE[device.capabilities.type === 'cpu' ? 'cpu' : 'gpu'];
  return order.flatMap((name) =>
    ALGORITHMS.filter((factory) => factory.name === name && factory.stable && !isTooMuch(name)),
  );
}

/** True, or why the algorithm's digits cannot have so many bits. */
function takesDigits({ radixBits }: AlgorithmFactory, wanted: number | undefined): true | string {
  if (wanted === undefined) return true;
  if (!radixBits) return 'nobody can choose the bits of its digits';
  const [least, most] = radixBits;
  return (wanted >= least && wanted <= most) || `its digits have ${least} to ${most} bits, not ${wanted}`;
}

/** The plan of the host engine. */
export function hostPlan({ n, dtype, bits, valueBytes }: PlanRequest, reason: string): Plan {
  return { engine: 'host', algorithm: 'host', n, dtype, bits, valueBytes, reason };
}

/**
 * The plans for a device, best first; each later one is what to fall back to when one fails.
 *
 * @throws UnsupportedError when the algorithm that was asked for cannot do it
 */
export function* devicePlans(device: Device, request: PlanRequest): Generator<Plan, void, undefined> {
  const { n, dtype, bits, valueBytes, algorithm, scan, radixBits } = request;
  const shape: AlgorithmShape = {
    keyBits: dtypeInfo(dtype).width,
    valueBytes,
    tuning: { ...(scan !== 'auto' && { scan }), ...(radixBits !== undefined && { radixBits }) },
  };
  const reasons: string[] = [];
  let found = false;
  for (const factory of candidates(device, algorithm, n)) {
    const digits = takesDigits(factory, radixBits);
    if (digits !== true && algorithm !== 'auto') {
      throw new UsageError(`radixBits of ${factory.name}: ${digits}`);
    }
    const tuned = digits === true ? tunedShape(factory, device, shape, n) : digits;
    if (typeof tuned === 'string') {
      reasons.push(`${factory.name}: ${tuned}`);
      continue;
    }
    const geometry = factory.name === 'amd' ? amdGeometry(n, scan) : undefined;
    found = true;
    yield {
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
    };
  }
  if (found) return;
  throw new UnsupportedError(
    `no algorithm can sort ${n} ${dtype} keys with values of ${valueBytes} bytes on ${device.info.name}: ${
      reasons.join('; ') || 'none is certified'
    }. Use algorithm 'auto' or device 'host'.`,
  );
}

/** A plan in words, a line for each fact. */
export function explainPlan(plan: Plan): string {
  const { engine, algorithm, n, dtype, bits, valueBytes, padded, scan, chunk, shape, reason } = plan;
  const tuning = Object.entries(shape?.tuning ?? {}).map(([name, value]) => `${name} ${value}`);
  return [
    `${n} ${dtype} keys${valueBytes > 0 ? ` with values of ${valueBytes} bytes` : ''}, bits ${bits[0]} to ${bits[1]}`,
    `engine     ${engine}`,
    `algorithm  ${algorithm} (${reason})`,
    ...(tuning.length > 0 ? [`tuning     ${tuning.join(', ')}`] : []),
    ...(padded ? [`padded     ${padded} keys, scanned by a chain of ${scan} kernels`] : []),
    ...(chunk ? [`chunks     ${Math.ceil(n / chunk)} of at most ${chunk} keys, merged afterwards`] : []),
  ].join('\n');
}
