/** How far a queue has come, in numbers of commands since the beginning. */
export class Timeline {
  #enqueued = 0;
  /** What of it the driver has, and with what of that it was told to start. */
  #submitted = 0;
  #flushed = 0;
  /** What is done for sure. */
  #completed = 0;

  get enqueued(): number {
    return this.#enqueued;
  }

  /** What of it the driver has. */
  get submitted(): number {
    return this.#submitted;
  }

  /** Of what the driver has, what is not known to be done. */
  get inFlight(): number {
    return this.#submitted - this.#completed;
  }

  /** Is everything in front of that place done? */
  hasPassed(position: number): boolean {
    return position <= this.#completed;
  }

  /** Does the driver have commands that it was not told to start with? */
  get hasUnflushed(): boolean {
    return this.#submitted > this.#flushed;
  }

  /** Is all done that the driver was told to start with? */
  get isIdle(): boolean {
    return this.#flushed <= this.#completed;
  }

  /** Counts commands. */
  enqueue(commands = 1): void {
    this.#enqueued += commands;
  }

  /** The driver gets all that was counted so far. */
  submit(): void {
    this.#submitted = this.#enqueued;
  }

  /** The driver is told to start with what it has. */
  flush(): void {
    this.#flushed = this.#submitted;
  }

  /** Notes where the queue is, for who waits, and so has the driver start. @returns to be called when it has come to that point */
  mark(): () => void {
    const position = this.#enqueued;
    this.submit();
    this.flush();
    return () => {
      this.#completed = Math.max(this.#completed, position);
    };
  }
}
