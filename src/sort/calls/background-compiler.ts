import type { Backend, Session } from '../backend/backend.js';
import { type Plan, variantOf } from '../model/plan.js';
import type { CallScheduler } from './call-scheduler.js';

/**
 * Compiles plans in the background, while no call waits for them. Each variant is compiled once per backend,
 * whether it succeeds or not.
 */
export class BackgroundCompiler {
  readonly #session: Session;
  readonly #scheduler: CallScheduler;
  readonly #started = new WeakMap<Backend, Set<string>>();

  constructor(session: Session, scheduler: CallScheduler) {
    this.#session = session;
    this.#scheduler = scheduler;
  }

  /**
   * Starts to compile the variant of a plan, unless that was started before.
   *
   * @param onFailure called with the error of a failed compilation; default: ignored, since the error recurs
   *   when the plan is used
   */
  prepare(backend: Backend, plan: Plan, onFailure: (error: unknown) => void = () => undefined): void {
    const started = this.#started.get(backend) ?? new Set();
    this.#started.set(backend, started);
    const variant = variantOf(plan);
    if (started.has(variant)) return;
    started.add(variant);
    const prepare = () => this.#session.run(() => backend.prepare(plan), { again: false });
    this.#scheduler.runConcurrently(0, prepare).catch(onFailure);
  }
}
