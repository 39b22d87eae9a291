/** What who hears signals and who works tell each other, be they two threads or one. */

/** To who works: the user interrupts. */
export interface Interruption {
  readonly signal: NodeJS.Signals;
}

/** From there: a file is about to be written aside, or no longer there. */
export interface TemporaryFileMessage {
  readonly path: string;
  readonly change: 'add' | 'delete';
}

/** Who hears signals, for who works. */
export interface Supervision {
  /** `hear` gets every interruption, also one that came before. */
  onInterruption(listener: (interruption: Interruption) => void): void;
  notify(message: TemporaryFileMessage): void;
}
