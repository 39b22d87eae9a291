import type { Console } from './console.js';

const WIDTH = 30;
const INTERVAL_MS = 100;

/** A bar on stderr while it is a terminal; silent otherwise. */
export class ProgressBar {
  readonly #stderr: Console['stderr'];
  #shownAt = Number.NEGATIVE_INFINITY;
  #visible = false;

  constructor({ stderr }: Console) {
    this.#stderr = stderr;
  }

  update(phase: string, done: number, total: number): void {
    if (!this.#stderr.isTTY || performance.now() - this.#shownAt < INTERVAL_MS) return;
    this.#shownAt = performance.now();
    const share = total > 0 ? Math.min(1, done / total) : 1;
    const bar = '█'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '░');
    this.#stderr.write(`\r\u001b[K${phase.padEnd(8)} ${bar} ${Math.round(share * 100)} %`);
    this.#visible = true;
  }

  /** Takes the bar away, before anything else is written. */
  clear(): void {
    if (this.#visible) this.#stderr.write('\r\u001b[K');
    this.#visible = false;
    this.#shownAt = Number.NEGATIVE_INFINITY;
  }
}
