import type { Device } from '../../device/device.js';
import type { Plan, PlanRequest } from './plan.js';
import { devicePlans } from './planner.js';

/** Requests whose plans are kept. */
const MOST = 256;

const nameOf = ({ n, dtype, bits, valueBytes, algorithm, segments, parameters }: PlanRequest): string =>
  `${n} ${dtype} ${bits[0]} ${bits[1]} ${valueBytes} ${algorithm} ${segments !== undefined} ${Object.entries(parameters ?? {})}`;

/** Plans that were made, and how the next ones are. */
interface PlanList {
  readonly made: Plan[];
  readonly rest: Generator<Plan, void, undefined>;
}

/** The plans of one device, each made once: small sorts take little longer than planning them. */
export class PlanLists {
  readonly #device: Device;
  readonly #lists = new Map<string, PlanList>();

  constructor(device: Device) {
    this.#device = device;
  }

  /** As `devicePlans`. The same request gets the same plans, as long as it is not among the many forgotten ones. */
  *plansFor(request: PlanRequest): Generator<Plan, void, undefined> {
    const name = nameOf(request);
    const list = this.#lists.get(name) ?? this.#add(name, request);
    for (let i = 0; ; i++) {
      if (i === list.made.length) {
        const next = this.#next(name, list);
        if (!next) return;
        list.made.push(next);
      }
      yield list.made[i] as Plan;
    }
  }

  #add(name: string, request: PlanRequest): PlanList {
    if (this.#lists.size >= MOST) this.#lists.clear();
    const list = { made: [], rest: devicePlans(this.#device, request) };
    this.#lists.set(name, list);
    return list;
  }

  #next(name: string, { rest }: PlanList): Plan | undefined {
    try {
      return rest.next().value ?? undefined;
    } catch (error) {
      this.#lists.delete(name); // the next call that asks is told again
      throw error;
    }
  }
}
