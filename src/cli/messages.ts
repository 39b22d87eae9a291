/** What who hears signals and who works tell each other, be they two threads or one. */

/** To who works: the user interrupts. */
export interface Interruption {
  readonly signal: NodeJS.Signals;
}

/** From there: a file is about to be written aside, or no longer there. */
export interface AsideMessage {
  readonly aside: string;
  readonly change: 'add' | 'delete';
}

/** Who hears signals, for who works. */
export interface Supervision {
  /** `hear` gets every interruption, also one that came before. */
  onInterruption(hear: (interruption: Interruption) => void): void;
  tell(message: AsideMessage): void;
}
