import type { MaybePromise } from './maybe-promise.js';

/** Runs tasks in order of arrival as long as their total load is within a limit. A task above the limit runs alone. */
export class ConcurrencyLimiter {
  readonly #maxLoad: number;
  readonly #maxRunning: number;
  #load = 0;
  #running = 0;
  readonly #waiting: { readonly load: number; start(): void }[] = [];

  /**
   * @param maxLoad maximum load of all running tasks together
   * @param maxRunning maximum number of running tasks; default: no limit
   */
  constructor(maxLoad: number, maxRunning = Number.POSITIVE_INFINITY) {
    this.#maxLoad = maxLoad;
    this.#maxRunning = maxRunning;
  }

  /** Runs `task` when its turn comes and its load is within the limit: at once, if that is now. */
  async run<T>(load: number, task: () => MaybePromise<T>): Promise<T> {
    if (this.#waiting.length === 0 && this.#hasRoom(load)) this.#acquire(load);
    else await new Promise<void>((start) => this.#waiting.push({ load, start }));
    try {
      return await task();
    } finally {
      this.#release(load);
    }
  }

  #release(load: number): void {
    this.#running--;
    this.#load -= load;
    this.#startNext();
  }

  #hasRoom(load: number): boolean {
    return this.#running === 0 || (this.#running < this.#maxRunning && this.#load + load <= this.#maxLoad);
  }

  #acquire(load: number): void {
    this.#running++;
    this.#load += load;
  }

  #startNext(): void {
    for (let next = this.#waiting[0]; next && this.#hasRoom(next.load); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#acquire(next.load);
      next.start();
    }
  }
}
