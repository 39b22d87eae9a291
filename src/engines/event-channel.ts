/** A channel that turns pushed events into an async iteration. */
export class EventChannel<T> {
  readonly #waiting: T[] = [];
  #failure: { readonly error: unknown } | undefined;
  #ended = false;
  #wake: () => void = () => undefined;

  push(event: T): void {
    this.#waiting.push(event);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Ends the iteration with an error, after all events pushed before. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift()) yield event;
      if (this.#failure) throw this.#failure.error;
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        // An event may have arrived since the checks above.
        if (this.#waiting.length > 0 || this.#failure || this.#ended) resolve();
      });
    }
  }
}
