import type { KnownDevice } from '../../device/device.js';
import type { Plan, PlanRequest } from './plan.js';
import { devicePlans } from './planner.js';

/** Requests whose plans are kept. */
const MOST = 256;

function nameOf(request: PlanRequest): string {
  const { n, dtype, bits, valueBytes, algorithm, segments, longest, parameters = {} } = request;
  const words = [n, dtype, ...bits, valueBytes, algorithm, segments !== undefined, longest];
  return `${words.join(' ')} ${Object.entries(parameters)}`;
}

/** Are two requests alike, as far as that shows at a glance? */
const isLike = (a: PlanRequest, b: PlanRequest): boolean =>
  a.n === b.n &&
  a.dtype === b.dtype &&
  a.bits[0] === b.bits[0] &&
  a.bits[1] === b.bits[1] &&
  a.valueBytes === b.valueBytes &&
  a.algorithm === b.algorithm &&
  (a.segments !== undefined) === (b.segments !== undefined) &&
  a.longest === b.longest &&
  a.parameters === b.parameters;

/** Plans that were made, and how the next ones are. */
interface PlanList {
  readonly request: PlanRequest;
  readonly made: Plan[];
  readonly rest: Generator<Plan, void, undefined>;
}

/** The plans of one device, each made once: small sorts take little longer than planning them. */
export class PlanLists {
  readonly #device: KnownDevice;
  readonly #lists = new Map<string, PlanList>();
  /** The one that was asked for last: calls that are made together are mostly alike. */
  #last: PlanList | undefined;

  constructor(device: KnownDevice) {
    this.#device = device;
  }

  /** As `devicePlans`. The same request gets the same plans, as long as it is not among the many forgotten ones. */
  *plansFor(request: PlanRequest): Generator<Plan, void, undefined> {
    const list = this.#listFor(request);
    for (let i = 0; ; i++) {
      if (i === list.made.length) {
        const next = this.#next(list);
        if (!next) return;
        list.made.push(next);
      }
      yield list.made[i] as Plan;
    }
  }

  #listFor(request: PlanRequest): PlanList {
    if (this.#last && isLike(this.#last.request, request)) return this.#last;
    const name = nameOf(request);
    this.#last = this.#lists.get(name) ?? this.#add(name, request);
    return this.#last;
  }

  #add(name: string, request: PlanRequest): PlanList {
    if (this.#lists.size >= MOST) this.#lists.clear();
    const list = { request, made: [], rest: devicePlans(this.#device, request) };
    this.#lists.set(name, list);
    return list;
  }

  #next({ request, rest }: PlanList): Plan | undefined {
    try {
      return rest.next().value ?? undefined;
    } catch (error) {
      this.#lists.delete(nameOf(request)); // the next call that asks is told again
      this.#last = undefined;
      throw error;
    }
  }
}
