import type { Backend, Keeper } from '../backend/backend.js';
import { type Plan, variantOf } from '../backend/plan.js';
import type { Turns } from './turns.js';

/** Compiles what plans need while nobody waits for it: once for each variant, whether that goes well or not. */
export class Ahead {
  readonly #keeper: Keeper;
  readonly #turns: Turns;
  readonly #begun = new WeakMap<Backend, Set<string>>();

  constructor(keeper: Keeper, turns: Turns) {
    this.#keeper = keeper;
    this.#turns = turns;
  }

  /** @param failed hears why it did not go well; else that is told when the plan is asked for */
  prepare(backend: Backend, plan: Plan, failed: (error: unknown) => void = () => undefined): void {
    const begun = this.#begun.get(backend) ?? new Set();
    this.#begun.set(backend, begun);
    const variant = variantOf(plan);
    if (begun.has(variant)) return;
    begun.add(variant);
    const prepare = () => this.#keeper.run(() => backend.prepare(plan), { again: false });
    this.#turns.beside(0, prepare).catch(failed);
  }
}
