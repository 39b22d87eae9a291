import { BuildError, type ClsortError, MismatchError, UnsupportedError } from '../../util/errors.js';
import { after, type Soon } from '../../util/soon.js';
import type { SortSettings } from '../api/options.js';
import { hostPlan, type Plan, type PlanRequest } from '../backend/plan.js';
import type { By } from './call.js';

/** A call whose results are refused is tried on this many algorithms before the host sorts. */
const DEVICE_ATTEMPTS = 2;

/** Why a variant is not tried, when it is not the first time. */
const FAILED_BEFORE = 'failed before';

const NONE: ReadonlySet<string> = new Set();

/** Says that a result must not be used, and why. */
export class Refusal {
  readonly plan: Plan;
  readonly why: string;

  constructor(plan: Plan, why: string) {
    this.plan = plan;
    this.why = why;
  }
}

/**
 * Which plan a sort is made by: the best that is left, and the host when none is. What has been tried is remembered when the call
 * is made once more; most calls have nothing to remember.
 */
export class PlanChoice {
  readonly #by: By;
  /** Names of algorithms whose result was refused. */
  #refused = NONE;
  /** Why algorithms were not used, in words. */
  #failures = NONE;

  constructor(by: By) {
    this.#by = by;
  }

  /** Was a result refused? */
  get hasRefused(): boolean {
    return this.#refused.size > 0;
  }

  /** @throws UnsupportedError when no algorithm was ever to be used; what compiling one throws, but for `auto` */
  plan(request: PlanRequest, settings: SortSettings): Soon<Plan> {
    if (this.#refused.size >= DEVICE_ATTEMPTS) return this.#ofHost(request);
    return (
      this.#ready(request) ??
      after(this.usable(request, settings), (usable) => usable ?? this.#ofHost(request))
    );
  }

  /** The first plan that was not refused and compiles; under `auto` a failure is a warning, and the next is tried. */
  async usable(request: PlanRequest, settings: SortSettings): Promise<Plan | undefined> {
    const { backend } = this.#by;
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
  refuse({ plan, why }: Refusal): void {
    const { backend, settings } = this.#by;
    this.#refused = new Set([...this.#refused, plan.algorithm]);
    this.#fail(`${plan.algorithm} ${why}`);
    backend.distrust(plan);
    const message = `${plan.algorithm} on ${backend.info?.name} ${why}`;
    if (settings.onMismatch === 'throw') throw new MismatchError(`${message}: its result is not used`);
    this.#warn(new MismatchError(`${message}; another way is tried`));
  }

  /**
   * The first plan, where nothing stands against it and all that it needs is there. One that gained nothing lately is taken only until
   * the next one is there: nobody waits for that to be compiled.
   */
  #ready(request: PlanRequest): Plan | undefined {
    const { backend } = this.#by;
    if (this.hasRefused) return undefined;
    let gainless: Plan | undefined;
    for (const plan of backend.plans(request)) {
      const isReady = backend.trusts(plan) && backend.isReady(plan);
      if (gainless && !isReady) this.#by.ahead?.prepare(backend, plan);
      if (gainless || !isReady) return isReady ? plan : gainless;
      if (request.algorithm !== 'auto' || backend.pays(plan)) return plan;
      gainless = plan;
    }
    return gainless;
  }

  /** What is left when no algorithm is. @throws UnsupportedError when none was ever to be used */
  #ofHost(request: PlanRequest): Plan {
    const name = this.#by.backend.info?.name;
    const failures = [...this.#failures];
    const why = failures.join('; ');
    if (!this.hasRefused && !failures.some((failure) => failure.endsWith(FAILED_BEFORE))) {
      throw new UnsupportedError(`no algorithm could be used on ${name}: ${why}`);
    }
    this.#warn(new MismatchError(`the host engine sorts, since on ${name}: ${why}`));
    return hostPlan(request, why);
  }

  #fail(why: string): void {
    this.#failures = new Set([...this.#failures, why]);
  }

  #warn(warning: ClsortError): void {
    const { settings, onWarning } = this.#by;
    (settings.onWarning ?? onWarning)(warning);
  }
}
