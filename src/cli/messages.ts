/** What the two threads of the command tell each other. */

/** To the thread that works: the user interrupts. */
export interface Interruption {
  readonly signal: NodeJS.Signals;
}

/** From it: a file is about to be written aside, or no longer there. */
export interface AsideMessage {
  readonly aside: string;
  readonly change: 'add' | 'delete';
}
