import { type Plan, variantOf } from '../model/plan.js';

/** Failures after which a variant is not used again while the device is open, unless the user requests its algorithm. */
const MAX_FAILURES = 2;

/** Counts the wrong results of each variant. */
export class VariantTrust {
  readonly #failures = new Map<string, number>();

  /** Whether the variant has failed fewer than `MAX_FAILURES` times. */
  trusts(plan: Plan): boolean {
    return this.#failures.size === 0 || (this.#failures.get(variantOf(plan)) ?? 0) < MAX_FAILURES;
  }

  /** Counts a wrong result. */
  distrust(plan: Plan): void {
    const variant = variantOf(plan);
    this.#failures.set(variant, (this.#failures.get(variant) ?? 0) + 1);
  }
}
