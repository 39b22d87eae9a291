import type { ClsortError } from '../../util/errors.js';
import type { Session } from '../backend/backend.js';
import type { CallScheduler } from './call-scheduler.js';
import { IDLE_MS } from './policy.js';

/** Runs the deferred tests of a session round by round, while no call runs. A process that ends does not wait for them. */
export class DueTests {
  readonly #session: Session;
  readonly #scheduler: CallScheduler;
  readonly #onWarning: (warning: ClsortError) => void;
  #timer: NodeJS.Timeout | undefined;

  /** @param onWarning receives the errors of failed tests */
  constructor(session: Session, scheduler: CallScheduler, onWarning: (warning: ClsortError) => void) {
    this.#session = session;
    this.#scheduler = scheduler;
    this.#onWarning = onWarning;
    session.onDueTest(() => this.#schedule());
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#runRound();
    }, IDLE_MS).unref();
  }

  async #runRound(): Promise<void> {
    const { isClosed, isIdle } = this.#scheduler;
    if (isClosed) return;
    try {
      const run = () => this.#session.run((backend) => backend.runDueTest(), { again: false });
      if (!isIdle || (await this.#scheduler.runExclusive(run))) this.#schedule();
    } catch (error) {
      this.#onWarning(error as ClsortError);
      this.#schedule(); // the tests of other variants
    }
  }
}
