import {
  type AlgorithmFactory,
  type AlgorithmShape,
  type Facts,
  tunedShape,
} from '../../algorithms/algorithm.js';
import { refusal, type Tuning } from '../../algorithms/parameters.js';
import { algorithmNamed, plannedOn } from '../../algorithms/registry.js';
import { crossoversFor } from '../../algorithms/tuning.js';
import type { Capabilities } from '../../device/capabilities.js';
import type { Device } from '../../device/device.js';
import { type Dtype, dtypeInfo } from '../../keys/dtype.js';
import { UnsupportedError, UsageError } from '../../util/errors.js';

/** What is to be sorted, as far as a plan depends on it. */
export interface PlanRequest {
  readonly n: number;
  readonly dtype: Dtype;
  readonly bits: readonly [begin: number, end: number];
  /** Bytes of the value beside each key as the device sees it, 0 for none. */
  readonly valueBytes: number;
  readonly algorithm: string;
  /** Parameters of the algorithm that somebody chose. */
  readonly parameters?: Tuning;
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
  /** What else there is to say of how the algorithm does it. */
  readonly facts?: Facts;
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

function candidates(device: Device, algorithm: string, n: number): readonly AlgorithmFactory[] {
  if (algorithm !== 'auto') return [algorithmNamed(algorithm)];
  const isTooMuch = (name: string) => name === 'group' && n > crossoversFor(device).group;
  return plannedOn(device).filter(({ name }) => !isTooMuch(name));
}

/** Why the algorithm cannot have parameters that somebody chose, if so. */
function refused({ parameters }: AlgorithmFactory, chosen: Tuning): string | undefined {
  for (const [name, value] of Object.entries(chosen)) {
    const reason = parameters[name]?.option
      ? refusal(parameters, name, value)
      : `nobody can choose its '${name}'`;
    if (reason !== undefined) return reason;
  }
  return undefined;
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
  const { n, dtype, bits, valueBytes, algorithm, parameters = {} } = request;
  const shape: AlgorithmShape = {
    keyBits: dtypeInfo(dtype).width,
    valueBytes,
    tuning: parameters,
  };
  const reasons: string[] = [];
  let found = false;
  for (const factory of candidates(device, algorithm, n)) {
    const reason = refused(factory, parameters);
    if (reason !== undefined && algorithm !== 'auto') {
      throw new UsageError(`algorithm '${factory.name}': ${reason}`);
    }
    const tuned = reason ?? tunedShape(factory, device, shape, n);
    if (typeof tuned === 'string') {
      reasons.push(`${factory.name}: ${tuned}`);
      continue;
    }
    const facts = factory.facts?.(tuned, n);
    found = true;
    yield {
      engine: 'device',
      algorithm: factory.name,
      n,
      dtype,
      bits,
      valueBytes,
      shape: tuned,
      ...(facts && { facts }),
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
  const { engine, algorithm, n, dtype, bits, valueBytes, facts, chunk, shape, reason } = plan;
  const listed = (values: Facts = {}) => Object.entries(values).map(([name, value]) => `${name} ${value}`);
  const tuning = listed(shape?.tuning);
  return [
    `${n} ${dtype} keys${valueBytes > 0 ? ` with values of ${valueBytes} bytes` : ''}, bits ${bits[0]} to ${bits[1]}`,
    `engine     ${engine}`,
    `algorithm  ${algorithm} (${reason})`,
    ...(tuning.length > 0 ? [`tuning     ${tuning.join(', ')}`] : []),
    ...(facts ? [`facts      ${listed(facts).join(', ')}`] : []),
    ...(chunk ? [`chunks     ${Math.ceil(n / chunk)} of at most ${chunk} keys, merged afterwards`] : []),
  ].join('\n');
}
