import { finallyDo, type MaybePromise } from './maybe-promise.js';

/** Lets work in as long as there is room, in the order in which it came; whatever is too much for the room runs by itself. */
export class ConcurrencyLimiter {
  readonly #maxLoad: number;
  readonly #maxRunning: number;
  #load = 0;
  #running = 0;
  readonly #waiting: { readonly load: number; start(): void }[] = [];

  /**
   * @param maxLoad of all that runs at once together
   * @param maxRunning pieces of work that run at once
   */
  constructor(maxLoad: number, maxRunning = Number.POSITIVE_INFINITY) {
    this.#maxLoad = maxLoad;
    this.#maxRunning = maxRunning;
  }

  /** Runs `use` when it is its turn and there is room for its load: at once, where that is now. */
  run<T>(load: number, task: () => MaybePromise<T>): MaybePromise<T> {
    const release = () => this.#release(load);
    if (this.#waiting.length > 0 || !this.#hasRoom(load)) {
      return new Promise<void>((start) => this.#waiting.push({ load, start })).then(() =>
        finallyDo(task, release),
      );
    }
    this.#acquire(load);
    return finallyDo(task, release);
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
