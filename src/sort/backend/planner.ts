import { type AlgorithmFactory, type AlgorithmShape, tunedShape } from '../../algorithms/algorithm.js';
import { parameterError, type Tuning } from '../../algorithms/parameters.js';
import { ALGORITHMS, algorithmNamed, plannedOn } from '../../algorithms/registry.js';
import { shapeForBits } from '../../algorithms/tile.js';
import { basisFor, crossoversFor } from '../../algorithms/tuning.js';
import type { KnownDevice } from '../../device/device.js';
import type { Capabilities } from '../../device/platform/capabilities.js';
import { dtypeInfo } from '../../keys/dtype.js';
import { UnsupportedError, UsageError } from '../../util/errors.js';
import { hostPlan, type Plan, type PlanRequest, variantOf } from '../model/plan.js';
import { MAX_FAILURES, MAX_REQUESTS, MEMORY_SHARE } from './policy.js';

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
  const { n, dtype, bits, valueBytes, algorithm, longest, areRows, parameters = {} } = request;
  const keyBits = dtypeInfo(dtype).width;
  const whole: AlgorithmShape = { keyBits, valueBytes, tuning: parameters };
  const reasons: string[] = [];
  let found = false;
  for (const factory of candidates(device, request)) {
    const error = requestError(factory, request, parameters);
    const shape = shapeForBits(factory, whole, bits);
    if (error && algorithm !== 'auto') throw error;
    const tuned = error?.message ?? tunedShape(factory, device, shape, n, { longest, areRows });
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

function keyOf(request: PlanRequest): string {
  const { n, dtype, bits, valueBytes, algorithm, segments, longest, areRows, parameters = {} } = request;
  const words = [n, dtype, ...bits, valueBytes, algorithm, segments !== undefined, longest, areRows];
  return `${words.join(' ')} ${Object.entries(parameters)}`;
}

/** Cheap comparison of two requests: parameters are compared by identity. */
const isSameRequest = (a: PlanRequest, b: PlanRequest): boolean =>
  a.n === b.n &&
  a.dtype === b.dtype &&
  a.bits[0] === b.bits[0] &&
  a.bits[1] === b.bits[1] &&
  a.valueBytes === b.valueBytes &&
  a.algorithm === b.algorithm &&
  (a.segments !== undefined) === (b.segments !== undefined) &&
  a.longest === b.longest &&
  a.areRows === b.areRows &&
  a.parameters === b.parameters;

/** Plans that were generated, and the generator of the remaining ones. */
interface CachedPlans {
  readonly request: PlanRequest;
  readonly made: Plan[];
  readonly rest: Generator<Plan, void, undefined>;
}

/**
 * Plans the sorts of one device. It caches the plans, since planning would take a large part of the time of a small
 * sort, and counts the wrong results of each variant.
 */
export class Planner {
  readonly #device: KnownDevice;
  readonly #entries = new Map<string, CachedPlans>();
  /** The entry of the last request: consecutive calls are mostly alike. */
  #last: CachedPlans | undefined;
  /** Wrong results by variant. */
  readonly #failures = new Map<string, number>();

  constructor(device: KnownDevice) {
    this.#device = device;
  }

  /**
   * Returns the plans for a request, best first. Equal requests return identical plans, unless the cache was cleared
   * in between.
   *
   * @throws UsageError, UnsupportedError as `devicePlans` does
   */
  plans(request: PlanRequest): Iterable<Plan> {
    if (request.n === 0) return [hostPlan(request, 'nothing to sort')];
    if (request.algorithm === 'host') return [hostPlan(request, 'asked for')];
    return this.#devicePlans(request);
  }

  /** Returns the most keys that can be sorted at once. */
  chunkLimit(request: PlanRequest): number {
    if (request.algorithm === 'host') return Number.POSITIVE_INFINITY;
    return chunkLimit(this.#device.capabilities, request);
  }

  /** Whether the variant of a plan has given fewer than `MAX_FAILURES` wrong results. */
  trusts(plan: Plan): boolean {
    return this.#failures.size === 0 || (this.#failures.get(variantOf(plan)) ?? 0) < MAX_FAILURES;
  }

  /** Counts a wrong result of the variant of a plan. */
  distrust(plan: Plan): void {
    const variant = variantOf(plan);
    this.#failures.set(variant, (this.#failures.get(variant) ?? 0) + 1);
  }

  *#devicePlans(request: PlanRequest): Generator<Plan, void, undefined> {
    const entry = this.#entryFor(request);
    for (let i = 0; ; i++) {
      if (i === entry.made.length) {
        const next = this.#next(entry);
        if (!next) return;
        entry.made.push(next);
      }
      yield entry.made[i] as Plan;
    }
  }

  #entryFor(request: PlanRequest): CachedPlans {
    if (this.#last && isSameRequest(this.#last.request, request)) return this.#last;
    const key = keyOf(request);
    this.#last = this.#entries.get(key) ?? this.#add(key, request);
    return this.#last;
  }

  #add(key: string, request: PlanRequest): CachedPlans {
    if (this.#entries.size >= MAX_REQUESTS) this.#entries.clear();
    const entry = { request, made: [], rest: devicePlans(this.#device, request) };
    this.#entries.set(key, entry);
    return entry;
  }

  #next({ request, rest }: CachedPlans): Plan | undefined {
    try {
      return rest.next().value ?? undefined;
    } catch (error) {
      this.#entries.delete(keyOf(request)); // the next call gets the error again
      this.#last = undefined;
      throw error;
    }
  }
}
