/** Minimum time between two drawings. */
import { type Console, fitting, isDrawable } from './console.js';

/** Minimum milliseconds between two updates: the eye needs no more. */
const INTERVAL_MS = 100;

/**
 * Turns off line wrapping. Only the terminal knows which characters take two columns, and a wrapped line would misplace
 * the next drawing.
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

  /**
   * Draws the lines, at most once per `INTERVAL_MS`.
   *
   * @param lines called only when it is time to draw
   */
  update(lines: () => readonly string[]): void {
    const at = this.#now();
    if (this.#silent || at - this.#drawnAt < INTERVAL_MS) return;
    const drawn = lines().map((line) => fitting(line, this.#stderr));
    this.clear();
    this.#drawnAt = at;
    this.#stderr.write(`${NO_WRAP}${drawn.join('\n')}\n${WRAP}`);
    this.#lines = drawn.length;
  }

  /** Erases the lines; call it before other output. */
  clear(): void {
    if (this.#lines > 0) this.#stderr.write(`\u001b[${this.#lines}A\r\u001b[J`);
    this.#lines = 0;
    this.#drawnAt = Number.NEGATIVE_INFINITY;
  }
}
