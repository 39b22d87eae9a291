import { type AlgorithmFactory, type AlgorithmShape, tunedShape } from '../../algorithms/algorithm.js';
import { parameterError, type Tuning } from '../../algorithms/parameters.js';
import { ALGORITHMS, algorithmNamed, plannedOn } from '../../algorithms/registry.js';
import { basisFor, crossoversFor } from '../../algorithms/tuning.js';
import type { KnownDevice } from '../../device/device.js';
import type { Capabilities } from '../../device/platform/capabilities.js';
import { dtypeInfo } from '../../keys/dtype.js';
import { UnsupportedError, UsageError } from '../../util/errors.js';
import type { Plan, PlanRequest } from '../model/plan.js';

/** Fraction of device memory that a sort may plan to use: drivers and displays need some as well. */
const MEMORY_SHARE = 0.9;

/**
 * Returns the most keys that a device can sort at once. No buffer may exceed the largest allocation, and
 * input, output and a second output to alternate with must fit together. The result is an estimate, since
 * counters and other processes also use memory.
 */
export function chunkLimit(
  { maxAllocation, globalBytes, quirks }: Capabilities,
  { dtype, valueBytes }: Pick<PlanRequest, 'dtype' | 'valueBytes'>,
): number {
  const keyBytes = dtypeInfo(dtype).bytes;
  // A device that works in host memory uses the caller's input and output.
  const copies = quirks.zeroCopy ? 1 : 3;
  const byMemory = (globalBytes * MEMORY_SHARE) / (copies * (keyBytes + valueBytes));
  return Math.max(1, Math.floor(Math.min(maxAllocation / Math.max(keyBytes, valueBytes), byMemory)));
}

function candidates(
  device: KnownDevice,
  { algorithm, n, segments }: Pick<PlanRequest, 'algorithm' | 'n' | 'segments'>,
): readonly AlgorithmFactory[] {
  if (algorithm !== 'auto') return [algorithmNamed(algorithm)];
  if (segments !== undefined) return ALGORITHMS.filter(({ bySegments }) => bySegments);
  const isTooLarge = (name: string) =>
    name === 'single-workgroup' && n > crossoversFor(device).singleWorkgroup;
  return plannedOn(device).filter(({ name, plannedFrom = 0 }) => n >= plannedFrom && !isTooLarge(name));
}

/** Returns the error of a request that the algorithm cannot serve on any device, if it is one. */
function requestError(
  factory: AlgorithmFactory,
  { segments }: PlanRequest,
  chosen: Tuning,
): UsageError | undefined {
  if (segments !== undefined && !factory.bySegments) {
    return new UsageError(`cannot use algorithm '${factory.name}': it sorts whole arrays, not segments`);
  }
  for (const [name, value] of Object.entries(chosen)) {
    const error = factory.parameters[name]?.option
      ? parameterError(factory, name, value)
      : new UsageError(`cannot use algorithm '${factory.name}' with ${name}: it has no such option`, {
          details: { option: name },
        });
    if (error) return error;
  }
  return undefined;
}

function planOf(
  device: KnownDevice,
  { n, dtype, bits, valueBytes, algorithm }: PlanRequest,
  factory: AlgorithmFactory,
  shape: AlgorithmShape,
): Plan {
  const facts = factory.facts?.(shape, n);
  const basis = basisFor(factory, device, shape, n);
  return {
    ...{ engine: 'device', algorithm: factory.name, n, dtype, bitRange: bits, valueBytes, shape },
    ...(facts && { facts }),
    ...(basis && { basis }),
    reason: algorithm === 'auto' ? `first choice left for ${device.capabilities.type} devices` : 'asked for',
  };
}

/**
 * Generates the plans for a device, best first. Each later plan is the fallback of those before it.
 *
 * @throws UsageError when the requested algorithm does not accept the parameters or segments
 * @throws UnsupportedError when no algorithm supports the request
 */
export function* devicePlans(device: KnownDevice, request: PlanRequest): Generator<Plan, void, undefined> {
  const { n, dtype, valueBytes, algorithm, longest, parameters = {} } = request;
  const shape: AlgorithmShape = {
    keyBits: dtypeInfo(dtype).width,
    valueBytes,
    tuning: parameters,
  };
  const reasons: string[] = [];
  let found = false;
  for (const factory of candidates(device, request)) {
    const error = requestError(factory, request, parameters);
    if (error && algorithm !== 'auto') throw error;
    const tuned = error?.message ?? tunedShape(factory, device, shape, n, longest);
    if (typeof tuned === 'string') {
      reasons.push(`${factory.name}: ${tuned}`);
      continue;
    }
    found = true;
    yield planOf(device, request, factory, tuned);
    // The variant for short segments may fail where the one for any length works.
    const general = longest === undefined ? tuned : tunedShape(factory, device, shape, n);
    if (typeof general !== 'string' && general !== tuned) yield planOf(device, request, factory, general);
  }
  if (found) return;
  throw new UnsupportedError(
    `cannot sort ${n} ${dtype} keys with values of ${valueBytes} bytes on ${device.info.name}: ${
      reasons.join('; ') || 'no algorithm is available'
    }. Use algorithm 'auto' or device 'host'`,
  );
}
