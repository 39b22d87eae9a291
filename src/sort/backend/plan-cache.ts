import type { KnownDevice } from '../../device/device.js';
import type { Plan, PlanRequest } from '../model/plan.js';
import { devicePlans } from './planner.js';

/** Most cached requests, so that programs with many sizes need little memory. */
const MAX_REQUESTS = 256;

function keyOf(request: PlanRequest): string {
  const { n, dtype, bits, valueBytes, algorithm, segments, longest, parameters = {} } = request;
  const words = [n, dtype, ...bits, valueBytes, algorithm, segments !== undefined, longest];
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
  a.parameters === b.parameters;

/** Plans that were generated, and the generator of the remaining ones. */
interface CachedPlans {
  readonly request: PlanRequest;
  readonly made: Plan[];
  readonly rest: Generator<Plan, void, undefined>;
}

/** Caches the plans of one device: planning would take a large part of the time of a small sort. */
export class PlanCache {
  readonly #device: KnownDevice;
  readonly #entries = new Map<string, CachedPlans>();
  /** The entry of the last request: consecutive calls are mostly alike. */
  #last: CachedPlans | undefined;

  constructor(device: KnownDevice) {
    this.#device = device;
  }

  /** Like `devicePlans`. Equal requests return identical plans, unless the cache was cleared in between. */
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
      this.#entries.delete(keyOf(request)); // the next call gets the error again
      this.#last = undefined;
      throw error;
    }
  }
}
