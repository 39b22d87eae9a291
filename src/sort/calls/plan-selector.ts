import { BuildError, type ClsortError, MismatchError, UnsupportedError } from '../../util/errors.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import type { SortSettings } from '../api/options.js';
import { hostPlan, type Plan, type PlanRequest } from '../backend/plan.js';
import type { CallContext } from './call.js';

/** A call whose results are refused is tried on this many algorithms before the host sorts. */
const MAX_DEVICE_ATTEMPTS = 2;

/** Why a variant is not tried, when it is not the first time. */
const FAILED_BEFORE = 'failed before';

const NONE: ReadonlySet<string> = new Set();

/** Says that a result must not be used, and why. */
export class Refusal {
  readonly plan: Plan;
  readonly reason: string;

  constructor(plan: Plan, reason: string) {
    this.plan = plan;
    this.reason = reason;
  }
}

/**
 * Which plan a sort is made by: the best that is left, and the host when none is. What has been tried is remembered when the call
 * is made once more; most calls have nothing to remember.
 */
export class PlanSelector {
  readonly #context: CallContext;
  /** Names of algorithms whose result was refused. */
  #refused = NONE;
  /** Why algorithms were not used, in words. */
  #failures = NONE;

  constructor(context: CallContext) {
    this.#context = context;
  }

  /** Was a result refused? */
  get hasRefused(): boolean {
    return this.#refused.size > 0;
  }

  /** @throws UnsupportedError when no algorithm was ever to be used; what compiling one throws, but for `auto` */
  plan(request: PlanRequest, settings: SortSettings): MaybePromise<Plan> {
    if (this.#refused.size >= MAX_DEVICE_ATTEMPTS) return this.#hostPlan(request);
    return (
      this.#readyPlan(request) ??
      chain(this.firstUsable(request, settings), (firstUsable) => firstUsable ?? this.#hostPlan(request))
    );
  }

  /** The first plan that was not refused and compiles; under `auto` a failure is a warning, and the next is tried. */
  async firstUsable(request: PlanRequest, settings: SortSettings): Promise<Plan | undefined> {
    const { backend } = this.#context;
    const auto = settings.algorithm === 'auto';
    for (const plan of backend.plans(request)) {
      if (this.#refused.has(plan.algorithm)) continue;
      if (auto && !backend.trusts(plan)) {
        this.#fail(`${plan.algorithm} ${FAILED_BEFORE}`); // which was told then
        continue;
      }
      try {
        await backend.prepare(plan);
        return plan;
      } catch (error) {
        // That an algorithm does not serve this size is the planner's business; that it does not work is worth a warning.
        const broken = error instanceof BuildError || error instanceof MismatchError;
        if (!auto || !(broken || error instanceof UnsupportedError)) throw error;
        if (broken && !this.#failures.has(error.message)) this.#warn(error);
        this.#fail(error.message);
      }
    }
    return undefined;
  }

  /** Has another plan made the call once more. @throws MismatchError when nothing else is to be tried */
  refuse({ plan, reason }: Refusal): void {
    const { backend, settings } = this.#context;
    this.#refused = new Set([...this.#refused, plan.algorithm]);
    this.#fail(`${plan.algorithm} ${reason}`);
    backend.distrust(plan);
    const message = `${plan.algorithm} on ${backend.info?.name} ${reason}`;
    if (settings.onMismatch === 'throw') throw new MismatchError(`${message}: its result is not used`);
    this.#warn(new MismatchError(`${message}; another way is tried`));
  }

  /**
   * The first plan, where nothing stands against it and all that it needs is there. One that gained nothing lately is taken only until
   * the next one is there: nobody waits for that to be compiled.
   */
  #readyPlan(request: PlanRequest): Plan | undefined {
    const { backend } = this.#context;
    if (this.hasRefused) return undefined;
    let unprofitable: Plan | undefined;
    for (const plan of backend.plans(request)) {
      const isReady = backend.trusts(plan) && backend.isReady(plan);
      if (unprofitable && !isReady) this.#context.compiler?.prepare(backend, plan);
      if (unprofitable || !isReady) return isReady ? plan : unprofitable;
      if (request.algorithm !== 'auto' || backend.pays(plan)) return plan;
      unprofitable = plan;
    }
    return unprofitable;
  }

  /** What is left when no algorithm is. @throws UnsupportedError when none was ever to be used */
  #hostPlan(request: PlanRequest): Plan {
    const name = this.#context.backend.info?.name;
    const failures = [...this.#failures];
    const reason = failures.join('; ');
    if (!this.hasRefused && !failures.some((failure) => failure.endsWith(FAILED_BEFORE))) {
      throw new UnsupportedError(`no algorithm could be used on ${name}: ${reason}`);
    }
    this.#warn(new MismatchError(`the host engine sorts, since on ${name}: ${reason}`));
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
