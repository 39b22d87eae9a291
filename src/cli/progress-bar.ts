import { type Console, fitting, isDrawable } from './console.js';

/** Characters of the bar, and minimum milliseconds between two updates: the eye needs no more. */
const WIDTH = 24;
const INTERVAL_MS = 100;

/** Minimum time for a meaningful rate. */
const SETTLED_MS = 1000;

/** A progress bar on stderr, with rate and time left. It is silent when stderr is not a terminal or with `--quiet`. */
export class ProgressBar {
  readonly #stderr: Console['stderr'];
  readonly #silent: boolean;
  readonly #now: () => number;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #visible = false;
  /** Start of the rate measurement; excludes work that an earlier run has done. */
  #since: { readonly at: number; readonly done: number; readonly total: number } | undefined;

  constructor(console: Pick<Console, 'stderr' | 'quiet'>, now = () => performance.now()) {
    this.#stderr = console.stderr;
    this.#silent = !isDrawable(console);
    this.#now = now;
  }

  /**
   * Draws the bar, at most once per `INTERVAL_MS`.
   *
   * @param total NaN when unknown
   */
  update(phase: string, done: number, total: number): void {
    const at = this.#now();
    const since = this.#since;
    if (!since || done < since.done || !Object.is(total, since.total)) this.#since = { at, done, total };
    if (this.#silent || at - this.#drawnAt < INTERVAL_MS) return;
    this.#drawnAt = at;
    const share = total > 0 ? Math.min(1, done / total) : 1;
    const bar = '█'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '░');
    const how = Number.isNaN(total) ? scaled(done) : `${bar} ${Math.round(share * 100)} %`;
    const line = `${phase.padEnd(9)} ${how}${this.#pace(at, done, total)}`;
    this.#stderr.write(`\r\u001b[K${fitting(line, this.#stderr)}`);
    this.#visible = true;
  }

  /** Returns rate and time left; empty until they are known. */
  #pace(at: number, done: number, total: number): string {
    const { at: began, done: from } = this.#since ?? { at, done };
    const rate = ((done - from) / (at - began)) * 1000;
    if (at - began < SETTLED_MS || !(rate > 0)) return '';
    const left = Number.isNaN(total) ? '' : `, ${clock((total - done) / rate)} left`;
    return `, ${scaled(rate)}/s${left}`;
  }

  /** Erases the bar; call it before other output. */
  clear(): void {
    if (this.#visible) this.#stderr.write('\r\u001b[K');
    this.#visible = false;
    this.#drawnAt = Number.NEGATIVE_INFINITY;
  }
}

/** Formats a count with three significant digits: 12.3 M. */
function scaled(count: number): string {
  const [unit, letter] = (
    [
      [1e9, ' G'],
      [1e6, ' M'],
      [1e3, ' k'],
    ] as const
  ).find(([one]) => count >= one) ?? [1, ''];
  return `${(count / unit).toPrecision(3)}${letter}`;
}

/** Formats seconds as m:ss, or as h:mm:ss from one hour on. */
export function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const two = (part: number): string => String(part).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}
