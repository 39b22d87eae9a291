import type { MaybePromise } from '../../util/maybe-promise.js';

/** Bytes by which device arrays, including those of the host engine, may grow in one turn of the event loop. */
const MAX_BYTES_PER_TURN = 4 * 2 ** 20;

/**
 * Yields to the event loop when device arrays have grown by more than 4 MiB since the last turn. V8 runs
 * finalizers and continues a collection only between turns. A program that awaits only short calls may never
 * reach one: their promises resolve within the same turn. Without a yield, the memory of dropped results
 * would grow without limit.
 */
export class EventLoopYield {
  #bytes = 0;
  /** Resolves in the next turn; set while calls have to wait for it. */
  #pendingTurn: Promise<void> | undefined;
  readonly #onTurn: () => void;

  /** @param onTurn called in each such turn */
  constructor(onTurn: () => void) {
    this.#onTurn = onTurn;
  }

  /**
   * Counts the bytes of a new array. Programs that dispose of each result before they make the next one never
   * yield.
   */
  grow(bytes: number): void {
    // Scheduled here, not when the call ends: while the device works, the turn may come anyway.
    if (this.#bytes >= MAX_BYTES_PER_TURN) this.#pendingTurn ??= this.#nextTurn();
    this.#bytes += bytes;
  }

  /** Counts bytes that are released. */
  shrink(bytes: number): void {
    this.#bytes = Math.max(0, this.#bytes - bytes);
  }

  /** Returns the result of a call: at once, or in the next turn if a yield is due. */
  yieldIfDue<T>(result: T): MaybePromise<T> {
    return this.#pendingTurn ? this.#pendingTurn.then(() => result) : result;
  }

  #nextTurn(): Promise<void> {
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#bytes = 0;
        this.#pendingTurn = undefined;
        this.#onTurn();
        resolve();
      });
    });
  }
}
