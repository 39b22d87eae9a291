import type { MaybePromise } from '../../util/maybe-promise.js';

/** Bytes that device arrays, those of the host engine among them, may grow by in one turn of the event loop. */
const MAX_BYTES_PER_TURN = 4 * 2 ** 20;

/**
 * Yields to the event loop when device arrays have grown by much since it was last yielded to. V8 tells of arrays that it
 * collected, and goes on with collecting, in turns of the loop alone, and a program that awaits nothing but short calls may never
 * come to one: their promises resolve within the turn in which they were made, and the memory of dropped results would grow on.
 */
export class EventLoopYield {
  #bytes = 0;
  /** Resolves in the next turn; there while calls are to wait for it. */
  #pendingTurn: Promise<void> | undefined;
  readonly #onTurn: () => void;

  /** @param onTurn what is to be done in each such turn */
  constructor(onTurn: () => void) {
    this.#onTurn = onTurn;
  }

  /** Counts bytes of an array that is made. Who disposes of each result before the next one is made never yields. */
  grow(bytes: number): void {
    // Asked for here, not when the call ends: while the device works the turn may come by itself.
    if (this.#bytes >= MAX_BYTES_PER_TURN) this.#pendingTurn ??= this.#nextTurn();
    this.#bytes += bytes;
  }

  /** Counts bytes that are given back. */
  shrink(bytes: number): void {
    this.#bytes = Math.max(0, this.#bytes - bytes);
  }

  /** Passes on what a call has made: at once, or in the next turn where that is wanted. */
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
