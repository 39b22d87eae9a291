/** Messages between the thread that handles signals and the worker, which may be the same thread. */

/** To the worker: the user interrupts. */
export interface Interruption {
  readonly signal: NodeJS.Signals;
}

/** From the worker: a temporary file is about to be created, or no longer exists. */
export interface TemporaryFileMessage {
  readonly path: string;
  readonly change: 'add' | 'delete';
}

/** The signal handler, as the worker sees it. */
export interface Supervision {
  /** The listener receives every interruption, including one before the call. */
  onInterruption(listener: (interruption: Interruption) => void): void;
  notify(message: TemporaryFileMessage): void;
}
