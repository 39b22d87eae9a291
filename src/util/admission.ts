import { ended, type Soon } from './soon.js';

/** Lets work in as long as there is room, in the order in which it came; whatever is too much for the room runs by itself. */
export class Admission {
  readonly #mostLoad: number;
  readonly #most: number;
  #load = 0;
  #running = 0;
  readonly #waiting: { readonly load: number; start(): void }[] = [];

  /**
   * @param mostLoad of all that runs at once together
   * @param most pieces of work that run at once
   */
  constructor(mostLoad: number, most = Number.POSITIVE_INFINITY) {
    this.#mostLoad = mostLoad;
    this.#most = most;
  }

  /** Runs `use` when it is its turn and there is room for its load: at once, where that is now. */
  run<T>(load: number, use: () => Soon<T>): Soon<T> {
    const leave = () => this.#leave(load);
    if (this.#waiting.length > 0 || !this.#hasRoom(load)) {
      return new Promise<void>((start) => this.#waiting.push({ load, start })).then(() => ended(use, leave));
    }
    this.#enter(load);
    return ended(use, leave);
  }

  #leave(load: number): void {
    this.#running--;
    this.#load -= load;
    this.#startNext();
  }

  #hasRoom(load: number): boolean {
    return this.#running === 0 || (this.#running < this.#most && this.#load + load <= this.#mostLoad);
  }

  #enter(load: number): void {
    this.#running++;
    this.#load += load;
  }

  #startNext(): void {
    for (let next = this.#waiting[0]; next && this.#hasRoom(next.load); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#enter(next.load);
      next.start();
    }
  }
}
