/** Plans of a call whose results were rejected, or whose algorithms are not compiled. */
import { BuildError, type ClsortError, MismatchError, UnsupportedError } from '../../util/errors.js';
import type { CallContext } from '../backend/backend.js';
import { MAX_DEVICE_ATTEMPTS } from '../backend/policy.js';
import type { SortSettings } from '../model/options.js';
import { hostPlan, type Plan, type PlanRequest } from '../model/plan.js';

/** Reason to skip a variant that failed in an earlier call. */
const FAILED_BEFORE = 'failed before';

const NONE: ReadonlySet<string> = new Set();

/** Thrown when a result must not be used; holds the plan and the reason. */
export class Refusal {
  readonly plan: Plan;
  readonly reason: string;

  constructor(plan: Plan, reason: string) {
    this.plan = plan;
    this.reason = reason;
  }
}

/**
 * Selects the plan of a sort: the best one left, or the host engine if none is. It remembers what a repeated
 * call has tried; most calls have nothing to remember.
 */
export class PlanSelector {
  readonly #context: CallContext;
  /** Names of algorithms whose result was rejected. */
  #refused = NONE;
  /** Reasons why algorithms were not used. */
  #failures = NONE;

  constructor(context: CallContext) {
    this.#context = context;
  }

  /** Whether a result was rejected. */
  get hasRefused(): boolean {
    return this.#refused.size > 0;
  }

  /**
   * Selects a plan for a request.
   *
   * @throws UnsupportedError when no algorithm could be used at all
   * @throws the compile error, unless the algorithm is `auto`
   */
  async plan(request: PlanRequest, settings: SortSettings): Promise<Plan> {
    if (this.#refused.size >= MAX_DEVICE_ATTEMPTS) return this.#hostPlan(request);
    return (await this.firstUsable(request, settings)) ?? this.#hostPlan(request);
  }

  /**
   * Returns the first plan that was not rejected and that compiles. With `auto`, a failure is a warning and
   * the next plan is tried.
   */
  async firstUsable(request: PlanRequest, settings: SortSettings): Promise<Plan | undefined> {
    const { backend } = this.#context;
    const auto = settings.algorithm === 'auto';
    const verified = settings.verify ? { bySegments: request.segments !== undefined } : undefined;
    for (const plan of backend.plans(request)) {
      if (this.#refused.has(plan.algorithm)) continue;
      if (auto && !backend.trusts(plan)) {
        this.#fail(`${plan.algorithm} ${FAILED_BEFORE}`); // reported when it failed
        continue;
      }
      try {
        await backend.prepare(plan, verified);
        return plan;
      } catch (error) {
        // An algorithm that does not support this size is normal; one that is broken is worth a warning.
        const broken = error instanceof BuildError || error instanceof MismatchError;
        if (!auto || !(broken || error instanceof UnsupportedError)) throw error;
        if (broken && !this.#failures.has(error.message)) this.#warn(error);
        this.#fail(error.message);
      }
    }
    return undefined;
  }

  /**
   * Excludes the plan of a refusal, so that the call is repeated with another one.
   *
   * @throws MismatchError when `onMismatch` is `throw`
   */
  refuse({ plan, reason }: Refusal): void {
    const { backend, settings } = this.#context;
    this.#refused = new Set([...this.#refused, plan.algorithm]);
    this.#fail(`${plan.algorithm} ${reason}`);
    backend.distrust(plan);
    const message = `cannot use the result: ${plan.algorithm} on ${backend.info?.name} ${reason}`;
    if (settings.onMismatch === 'throw') throw new MismatchError(message);
    this.#warn(new MismatchError(`${message}; sorting again with another algorithm`));
  }

  /**
   * Returns the fallback plan when no algorithm is left.
   *
   * @throws UnsupportedError when none could be used at all
   */
  #hostPlan(request: PlanRequest): Plan {
    const name = this.#context.backend.info?.name;
    const failures = [...this.#failures];
    const reason = failures.join('; ');
    if (!this.hasRefused && !failures.some((failure) => failure.endsWith(FAILED_BEFORE))) {
      throw new UnsupportedError(`cannot use any algorithm on ${name}: ${reason}`);
    }
    this.#warn(new MismatchError(`cannot use any algorithm on ${name}: ${reason}; falling back to the host`));
    return hostPlan(request, reason);
  }

  #fail(reason: string): void {
    this.#failures = new Set([...this.#failures, reason]);
  }

  #warn(warning: ClsortError): void {
    const { settings, onWarning } = this.#context;
    (settings.onWarning ?? onWarning)(warning);
  }
}
