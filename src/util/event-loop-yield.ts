/**
 * Yields to the event loop when memory that V8 collects has grown by much since the last turn. V8 runs finalizers and
 * continues a collection only between turns. A program that awaits only short calls may never reach one: their promises
 * resolve within the same turn. Without a yield, the memory of dropped results would grow without limit.
 */
export class EventLoopYield {
  #bytes = 0;
  /** Resolves in the next turn; set while calls have to wait for it. */
  #pendingTurn: Promise<void> | undefined;
  readonly #maxBytes: number;
  readonly #onTurn: () => void;

  /**
   * @param maxBytes growth in bytes after which calls wait for the next turn
   * @param onTurn called in each such turn
   */
  constructor(maxBytes: number, onTurn: () => void) {
    this.#maxBytes = maxBytes;
    this.#onTurn = onTurn;
  }

  /**
   * Counts the bytes of a new array. Programs that dispose of each result before they make the next one never yield.
   */
  grow(bytes: number): void {
    // Scheduled here, not when the call ends: while the device works, the turn may come anyway.
    if (this.#bytes >= this.#maxBytes) this.#pendingTurn ??= this.#nextTurn();
    this.#bytes += bytes;
  }

  /** Counts bytes that are released. */
  shrink(bytes: number): void {
    this.#bytes = Math.max(0, this.#bytes - bytes);
  }

  /** Resolves in the next turn, if calls have to wait for it. */
  get turnDue(): Promise<void> | undefined {
    return this.#pendingTurn;
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
