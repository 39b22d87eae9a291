/** How far a queue has come, in numbers of commands since the beginning. */
export class Progress {
  #enqueued = 0;
  /** What of it the driver has, and with what of that it was told to start. */
  #handed = 0;
  #started = 0;
  /** What is done for sure. */
  #passed = 0;

  get enqueued(): number {
    return this.#enqueued;
  }

  /** What of it the driver has. */
  get handed(): number {
    return this.#handed;
  }

  /** Of what the driver has, what is not known to be done. */
  get underWay(): number {
    return this.#handed - this.#passed;
  }

  /** Is everything in front of that place done? */
  hasPassed(position: number): boolean {
    return position <= this.#passed;
  }

  /** Does the driver have commands that it was not told to start with? */
  get rests(): boolean {
    return this.#handed > this.#started;
  }

  /** Is all done that the driver was told to start with? */
  get isIdle(): boolean {
    return this.#started <= this.#passed;
  }

  /** Counts commands. */
  enqueue(commands = 1): void {
    this.#enqueued += commands;
  }

  /** The driver gets all that was counted so far. */
  hand(): void {
    this.#handed = this.#enqueued;
  }

  /** The driver is told to start with what it has. */
  start(): void {
    this.#started = this.#handed;
  }

  /** Notes where the queue is, for who waits, and so has the driver start. @returns to be called when it has come to that point */
  mark(): () => void {
    const position = this.#enqueued;
    this.hand();
    this.start();
    return () => {
      this.#passed = Math.max(this.#passed, position);
    };
  }
}
