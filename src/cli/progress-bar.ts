import { type Console, fitting, isDrawable } from './console.js';

const WIDTH = 24;
const INTERVAL_MS = 100;

/** Shorter than this, a rate says little of what is to come. */
const SETTLED_MS = 1000;

/** A bar on stderr, with rate and time left, while it is a terminal and nobody asked for quiet; silent otherwise. */
export class ProgressBar {
  readonly #stderr: Console['stderr'];
  readonly #silent: boolean;
  readonly #now: () => number;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #visible = false;
  /** Where the count began: what an earlier run has done tells nothing of the rate. */
  #since: { readonly at: number; readonly done: number; readonly total: number } | undefined;

  constructor(console: Pick<Console, 'stderr' | 'quiet'>, now = () => performance.now()) {
    this.#stderr = console.stderr;
    this.#silent = !isDrawable(console);
    this.#now = now;
  }

  /** @param total NaN where it is not known */
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

  /** Rate and time left; nothing before they can be told. */
  #pace(at: number, done: number, total: number): string {
    const { at: began, done: from } = this.#since ?? { at, done };
    const rate = ((done - from) / (at - began)) * 1000;
    if (at - began < SETTLED_MS || !(rate > 0)) return '';
    const left = Number.isNaN(total) ? '' : `, ${clock((total - done) / rate)} left`;
    return `, ${scaled(rate)}/s${left}`;
  }

  /** Takes the bar away, before anything else is written. */
  clear(): void {
    if (this.#visible) this.#stderr.write('\r\u001b[K');
    this.#visible = false;
    this.#drawnAt = Number.NEGATIVE_INFINITY;
  }
}

/** A count with three digits: 12.3 M. */
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

/** Seconds as minutes and seconds, from an hour on with hours. */
export function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const two = (part: number): string => String(part).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}
