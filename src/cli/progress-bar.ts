import type { Console } from './console.js';

const WIDTH = 30;
const INTERVAL_MS = 100;

/** A bar on stderr while it is a terminal and nobody asked for quiet; silent otherwise. */
export class ProgressBar {
  readonly #stderr: Console['stderr'];
  readonly #silent: boolean;
  #shownAt = Number.NEGATIVE_INFINITY;
  #visible = false;

  constructor({ stderr, quiet = false }: Console) {
    this.#stderr = stderr;
    this.#silent = quiet || !stderr.isTTY;
  }

  update(phase: string, done: number, total: number): void {
    if (this.#silent || performance.now() - this.#shownAt < INTERVAL_MS) return;
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
