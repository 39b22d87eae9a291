/** Lines at the end of a terminal that are drawn again and again, beneath what is written for good. */
import { type Console, fitting, isDrawable } from './console.js';

const INTERVAL_MS = 100;

/**
 * A line that is wider than the terminal would take two, and what is drawn next would not begin at the first. Which letters take two
 * columns only the terminal knows, so that it is asked to begin no lines by itself.
 */
const NO_WRAP = '\u001b[?7l';
const WRAP = '\u001b[?7h';

export class LiveView {
  readonly #stderr: Console['stderr'];
  readonly #silent: boolean;
  readonly #now: () => number;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #lines = 0;

  constructor(console: Pick<Console, 'stderr' | 'quiet'>, now = () => performance.now()) {
    this.#stderr = console.stderr;
    this.#silent = !isDrawable(console);
    this.#now = now;
  }

  /** @param lines are asked for when it is time to draw */
  update(lines: () => readonly string[]): void {
    const at = this.#now();
    if (this.#silent || at - this.#drawnAt < INTERVAL_MS) return;
    const drawn = lines().map((line) => fitting(line, this.#stderr));
    this.clear();
    this.#drawnAt = at;
    this.#stderr.write(`${NO_WRAP}${drawn.join('\n')}\n${WRAP}`);
    this.#lines = drawn.length;
  }

  /** Takes the lines away, before anything else is written. */
  clear(): void {
    if (this.#lines > 0) this.#stderr.write(`\u001b[${this.#lines}A\r\u001b[J`);
    this.#lines = 0;
    this.#drawnAt = Number.NEGATIVE_INFINITY;
  }
}
