import type { Backend, Session } from '../backend/backend.js';
import { type Plan, variantOf } from '../backend/plan.js';
import type { CallScheduler } from './call-scheduler.js';

/** Compiles what plans need while nobody waits for it: once for each variant, whether that goes well or not. */
export class BackgroundCompiler {
  readonly #session: Session;
  readonly #scheduler: CallScheduler;
  readonly #started = new WeakMap<Backend, Set<string>>();

  constructor(session: Session, scheduler: CallScheduler) {
    this.#session = session;
    this.#scheduler = scheduler;
  }

  /** @param onFailure hears why it did not go well; else that is told when the plan is asked for */
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
