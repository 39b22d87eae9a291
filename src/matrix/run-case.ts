import type { AlgorithmOption } from '../algorithms/algorithm-names.js';
import { algorithmNamed } from '../algorithms/registry.js';
import type { DeviceInfo, Plan, Sorter, SortReport } from '../index.js';
import { type CaseOptions, type CheckedOperation, startCase } from '../sort/operations/case.js';
import { CHECKED_OPERATIONS } from '../sort/operations/cases.js';
import { type ClsortError, MismatchError, UnsupportedError } from '../util/errors.js';
import { AUTO, NONE } from './axes.js';
import { Inputs } from './input.js';
import type { MatrixCase } from './matrix-case.js';
import { type MatrixRow, type Outcome, ROW_SCHEMA } from './row.js';

/** The device fields of a row. */
export type RowDevice = Pick<DeviceInfo, 'platform' | 'name' | 'driver'>;

export function rowOf(
  { platform, name, driver }: RowDevice,
  one: MatrixCase,
  result: Pick<MatrixRow, 'outcome' | 'seconds' | 'reason' | 'plan' | 'again'>,
): MatrixRow {
  return { schema: ROW_SCHEMA, platform, device: name, driver, ...one, ...result };
}

const operationOf = ({ operation }: MatrixCase): CheckedOperation => {
  const found = CHECKED_OPERATIONS.find(({ name }) => name === operation);
  if (!found) throw new RangeError(`cannot run the case: there is no operation '${operation}'`);
  return found;
};

/** Size of the value beside each key, in bytes, for operations that are a single sort. */
const VALUE_BYTES: Readonly<Record<string, number>> = {
  ...{ sort: 0, sortInPlace: 0, argsort: 4, sortPairs: 4, 'sortPairs-8': 8 },
};

const factsText = (facts: Readonly<Record<string, unknown>> = {}): string[] =>
  Object.entries(facts).map(([name, value]) => `${name} ${value}`);

const planText = ({ algorithm, reason, facts, shape }: Plan): string =>
  [algorithm, ...factsText(shape?.tuning), ...factsText(facts), reason].join(', ');

const reportText = ({ algorithm, reason, facts, chunks }: SortReport): string =>
  [algorithm, ...factsText(facts), ...(chunks ? [`${chunks} chunks`] : []), reason].join(', ');

/** Returns the plan of a sort; undefined for operations of several steps, or when planning fails. */
export function planOf(sorter: Sorter, { operation, algorithm, dtype, n }: MatrixCase): string | undefined {
  const valueBytes = VALUE_BYTES[operation];
  if (valueBytes === undefined) return undefined;
  try {
    return planText(sorter.plan(n, { dtype, algorithm: algorithm as AlgorithmOption, valueBytes }));
  } catch {
    return undefined; // the call reports the reason
  }
}

/** Runs cases on one device. */
export class CaseRunner {
  readonly #sorter: Sorter;
  readonly #device: RowDevice;
  readonly #inputs = new Inputs();
  readonly #again: number;

  /** @param again number of repetitions of a successful call, timed without compilation; default 2 */
  constructor(sorter: Sorter, device: RowDevice, { again = 2 } = {}) {
    this.#sorter = sorter;
    this.#device = device;
    this.#again = again;
  }

  /** Runs one case and returns its row; never throws. */
  async run(one: MatrixCase): Promise<MatrixRow> {
    const input = this.#inputs.of(one);
    const operation = operationOf(one);
    const warnings: ClsortError[] = [];
    let report: SortReport | undefined;
    const options = optionsOf(one, warnings, (made) => {
      report = made;
    });
    const planned = planOf(this.#sorter, one);
    const started = performance.now();
    const row = (outcome: Outcome, reason?: string, again?: number): MatrixRow => {
      const plan = planned ?? (report && reportText(report));
      return rowOf(this.#device, one, {
        outcome,
        ...(reason !== undefined && { reason: firstLines(reason) }),
        ...(plan !== undefined && { plan }),
        seconds,
        ...(again !== undefined && { again }),
      });
    };
    let seconds = 0;
    try {
      const check = await startCase(operation, this.#sorter, input, options).finally(() => {
        seconds = secondsSince(started);
      });
      const wrong = check();
      if (wrong !== undefined) return row('wrong', wrong);
      const other = this.#sorter.device && replacedBy(one, report);
      if (other !== undefined)
        return row('error', [other, ...warnings.map(({ message }) => message)].join('; '));
      const again = await this.#timed(one, operation, options);
      if (typeof again === 'string') return row('wrong', again);
      return row('ok', undefined, again);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (error instanceof UnsupportedError) return row('skipped', reason);
      return row(error instanceof MismatchError ? 'wrong' : 'error', reason);
    }
  }

  /** Returns the seconds of the shortest repetition, or what is wrong with its result. */
  async #timed(
    one: MatrixCase,
    operation: CheckedOperation,
    options: CaseOptions,
  ): Promise<number | string | undefined> {
    if (this.#again === 0 || one.order !== 'ascending' || one.keys !== 'uniform') return undefined;
    let best = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.#again; i++) {
      const started = performance.now();
      const check = await startCase(operation, this.#sorter, this.#inputs.of(one), options);
      best = Math.min(best, secondsSince(started));
      const wrong = check();
      if (wrong !== undefined) return `second call: ${wrong}`;
    }
    return best;
  }
}

/** Returns elapsed seconds, rounded to microseconds. */
const secondsSince = (started: number): number => Math.round((performance.now() - started) * 1000) / 1e6;

/** Lines quoted of a message: a compiler log can fill pages. */
const MAX_LINES = 3;
const firstLines = (text: string): string => text.split('\n').slice(0, MAX_LINES).join('\n');

function optionsOf(
  { dtype, algorithm, order }: MatrixCase,
  warnings: ClsortError[],
  onReport: (report: SortReport) => void,
): CaseOptions {
  const [descending, nan] = [order.startsWith('descending'), order.endsWith('nan-first')];
  const call = { dtype, onWarning: (warning: ClsortError) => void warnings.push(warning) };
  const isNamed = algorithm !== AUTO && algorithm !== NONE;
  const where = { descending, nan: nan ? ('first' as const) : ('last' as const) };
  return {
    ...where,
    algorithm,
    isStable: !isNamed || algorithmNamed(algorithm).stable,
    call,
    // A fallback result would hide that the first one was wrong.
    sort: {
      ...call,
      ...where,
      onReport,
      onMismatch: 'throw',
      ...(algorithm !== NONE && { algorithm: algorithm as AlgorithmOption }),
    },
  };
}

/**
 * Describes which algorithm replaced the requested one: a fallback is fine for a sort, but a failure of its cell. Empty
 * inputs are exempt.
 */
function replacedBy({ algorithm, n }: MatrixCase, report: SortReport | undefined): string | undefined {
  if (algorithm === NONE || n === 0 || !report || report.algorithm === algorithm) return undefined;
  if (algorithm !== AUTO) return `'${report.algorithm}' was used instead`;
  return report.algorithm === 'host' && report.n > 1 ? 'the host engine was used instead' : undefined;
}
