import type { KnownDevice } from '../../device/device.js';
import type { Plan, PlanRequest } from './plan.js';
import { devicePlans } from './planner.js';

/** Requests whose plans are kept. */
const MAX_REQUESTS = 256;

function keyOf(request: PlanRequest): string {
  const { n, dtype, bits, valueBytes, algorithm, segments, longest, parameters = {} } = request;
  const words = [n, dtype, ...bits, valueBytes, algorithm, segments !== undefined, longest];
  return `${words.join(' ')} ${Object.entries(parameters)}`;
}

/** Are two requests alike, as far as that shows at a glance? */
const isSameRequest = (a: PlanRequest, b: PlanRequest): boolean =>
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
interface CachedPlans {
  readonly request: PlanRequest;
  readonly made: Plan[];
  readonly rest: Generator<Plan, void, undefined>;
}

/** The plans of one device, each made once: small sorts take little longer than planning them. */
export class PlanCache {
  readonly #device: KnownDevice;
  readonly #entries = new Map<string, CachedPlans>();
  /** The one that was asked for last: calls that are made together are mostly alike. */
  #last: CachedPlans | undefined;

  constructor(device: KnownDevice) {
    this.#device = device;
  }

  /** As `devicePlans`. The same request gets the same plans, as long as it is not among the many forgotten ones. */
  *plansFor(request: PlanRequest): Generator<Plan, void, undefined> {
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
      this.#entries.delete(keyOf(request)); // the next call that asks is told again
      this.#last = undefined;
      throw error;
    }
  }
}
