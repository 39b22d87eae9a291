/** Plans: what somebody decided about how to sort. */
import type { AlgorithmShape, Facts } from '../../algorithms/algorithm.js';
import type { Tuning } from '../../algorithms/parameters.js';
import type { Basis } from '../../algorithms/tuning.js';
import type { Dtype } from '../../keys/dtype.js';

/** What is to be sorted, as far as a plan depends on it. */
export interface PlanRequest {
  readonly n: number;
  readonly dtype: Dtype;
  readonly bits: readonly [begin: number, end: number];
  /** Bytes of the value beside each key as the device sees it, 0 for none. */
  readonly valueBytes: number;
  readonly algorithm: string;
  /** How many segments are to be sorted each by itself; left out for one array as a whole. */
  readonly segments?: number;
  /** No segment has more keys; left out where nobody knows. */
  readonly longest?: number;
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
  /** Where the parameters of `shape` come from; left out where the algorithm has none of its own. */
  readonly basis?: Basis;
  /** Why this one. */
  readonly reason: string;
}

/** Plans are asked for theirs at every sort. */
const variants = new WeakMap<Plan, string>();

/** What is compiled for a plan: the same for plans that differ in nothing but their keys. */
export function variantOf(plan: Plan): string {
  const known = variants.get(plan);
  if (known !== undefined) return known;
  const variant = `${plan.algorithm} ${plan.shape ? shapeKey(plan.shape) : ''}`;
  variants.set(plan, variant);
  return variant;
}

const shapeKey = ({ keyBits, valueBytes, tuning = {} }: AlgorithmShape): string =>
  `${keyBits} ${valueBytes} ${JSON.stringify(Object.entries(tuning).toSorted())}`;

/** The plan of the host engine. */
export function hostPlan({ n, dtype, bits, valueBytes }: PlanRequest, reason: string): Plan {
  return { engine: 'host', algorithm: 'host', n, dtype, bits, valueBytes, reason };
}

/** Fewest keys of a segment, on average, that the host engine sorts one by one: a sort of few takes it as long as one of these. */
const MIN_KEYS_PER_SEGMENT = 16;

/** The plans of the host engine: none for many short segments. */
export function hostPlans(request: PlanRequest, reason: string): Plan[] {
  const { n, segments = 0 } = request;
  return n < segments * MIN_KEYS_PER_SEGMENT ? [] : [hostPlan(request, reason)];
}

/** A plan in words, a line for each fact. */
export function explainPlan(plan: Plan): string {
  const { engine, algorithm, n, dtype, bits, valueBytes, facts, chunk, shape, basis, reason } = plan;
  const formatEntries = (values: Facts = {}) =>
    Object.entries(values).map(([name, value]) => `${name} ${value}`);
  const tuning = formatEntries(shape?.tuning);
  return [
    `${n} ${dtype} keys${valueBytes > 0 ? ` with values of ${valueBytes} bytes` : ''}, bits ${bits[0]} to ${bits[1]}`,
    `engine     ${engine}`,
    `algorithm  ${algorithm} (${reason})`,
    ...(tuning.length > 0 ? [`tuning     ${tuning.join(', ')}${basis ? ` (${basis})` : ''}`] : []),
    ...(facts ? [`facts      ${formatEntries(facts).join(', ')}`] : []),
    ...(chunk ? [`chunks     ${Math.ceil(n / chunk)} of at most ${chunk} keys, merged afterwards`] : []),
  ].join('\n');
}
