/** Plans: how to sort a request. */
import type { AlgorithmShape, Facts, SortRequest } from '../../algorithms/algorithm.js';
import type { Tuning } from '../../algorithms/parameters.js';
import type { Basis } from '../../algorithms/tuning.js';
import type { Dtype } from '../../keys/dtype.js';
import { oncePer } from '../../util/memo.js';

/** The properties of a sort that a plan depends on. */
export interface PlanRequest extends SortRequest {
  readonly algorithm: string;
  /** Number of segments that are sorted separately; omitted for one array. */
  readonly segments?: number;
  /** Most keys of any segment; omitted if unknown. */
  readonly longest?: number;
  /** Whether all segments have the same length and no kernel gets their offsets. */
  readonly areRows?: boolean;
  /** Algorithm parameters that the user chose. */
  readonly parameters?: Tuning;
}

/** One way to run a sort: the engine, the algorithm and its parameters. Plans are plain data. */
export interface Plan {
  /** Engine that runs the plan. */
  readonly engine: 'device' | 'host';
  /** Name of the algorithm in the registry, or `host`. */
  readonly algorithm: string;
  /** Number of keys. */
  readonly n: number;
  /** Dtype of the keys. */
  readonly dtype: Dtype;
  /** Window of code bits that the keys are compared by; `end` is exclusive. */
  readonly bitRange: readonly [begin: number, end: number];
  /** Bytes of the value of each key as the device sees it; 0 for none. */
  readonly valueBytes: number;
  /** Further facts about how the algorithm runs, by name. */
  readonly facts?: Facts;
  /** Keys per chunk, if the array does not fit the device: chunks are sorted and then merged. */
  readonly chunk?: number;
  /** Shape that the programs are compiled for. */
  readonly shape?: AlgorithmShape;
  /** Source of the parameters in `shape`; omitted if the algorithm has none. */
  readonly basis?: Basis;
  /** Reason why this plan was selected. */
  readonly reason: string;
}

/** Returns the compiled variant of a plan, which every sort does: equal for plans that differ only in their keys. */
export const variantOf = oncePer(
  ({ algorithm, shape }: Plan): string => `${algorithm} ${shape ? shapeKey(shape) : ''}`,
);

const shapeKey = ({ keyBits, valueBytes, window, tuning = {} }: AlgorithmShape): string =>
  `${keyBits} ${valueBytes} ${window ? 'window ' : ''}${JSON.stringify(Object.entries(tuning).toSorted())}`;

/** Returns the plan of the host engine. */
export function hostPlan({ n, dtype, bits, valueBytes }: PlanRequest, reason: string): Plan {
  return { engine: 'host', algorithm: 'host', n, dtype, bitRange: bits, valueBytes, reason };
}

/** Returns the request that a plan fulfils. */
export const requestOf = (plan: Plan): PlanRequest => ({ ...plan, bits: plan.bitRange });

/** Describes a plan in words, one line per fact. */
export function explainPlan(plan: Plan): string {
  const { engine, algorithm, n, dtype, bitRange, valueBytes, facts, chunk, shape, basis, reason } = plan;
  const formatEntries = (values: Facts = {}) =>
    Object.entries(values).map(([name, value]) => `${name} ${value}`);
  const tuning = formatEntries(shape?.tuning);
  return [
    `${n} ${dtype} keys${valueBytes > 0 ? ` with values of ${valueBytes} bytes` : ''}, bits ${bitRange[0]} to ${bitRange[1]}`,
    `engine     ${engine}`,
    `algorithm  ${algorithm} (${reason})`,
    ...(tuning.length > 0 ? [`tuning     ${tuning.join(', ')}${basis ? ` (${basis})` : ''}`] : []),
    ...(facts ? [`facts      ${formatEntries(facts).join(', ')}`] : []),
    ...(chunk ? [`chunks     ${Math.ceil(n / chunk)} of at most ${chunk} keys, merged afterwards`] : []),
  ].join('\n');
}
