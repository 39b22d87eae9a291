import * as cl from '../opencl/index.js';
import { TimeoutError } from '../util/errors.js';
import { MOST_TIMER_SECONDS } from '../util/timer.js';
import { ArrivingWords } from './arriving-words.js';
import type { Buffer } from './buffer.js';
import type { Capabilities } from './capabilities.js';
import type { Ferry } from './ferry.js';
import { Milestones } from './milestones.js';
import type { Progress } from './progress.js';
import type { Berth } from './quay.js';
import { Scraps } from './scraps.js';
import { typedError } from './status.js';
import { type Landing, land, type Tray } from './tray.js';

/**
 * How long this thread looks for the end of a wait in one turn of the loop: as long as a small call takes where nothing else
 * happened in the turn before, since a turn takes longer than what is left of the call, and else for a moment only.
 */
const LOOK_MICROSECONDS = { quiet: 200, busy: 50 };
/** A turn that took longer was not only ours. */
const BUSY_TURN_MILLISECONDS = 0.1;
/** A program that awaits call after call leaves the loop to others at least so often. */
const TURN_MILLISECONDS = 1;

/**
 * A program that enqueues for so long at once has what it has enqueued waited for, where waits cost little: a long chain of calls is
 * then completed piece by piece while the device works on, and not all of it when that is done.
 */
const PATIENCE_MILLISECONDS = 0.75;

/** A queue, as far as its end is looked for. */
export interface Watched {
  /** What commands are given to now. */
  readonly handle: cl.CommandQueue;
  /** Hands over what waits to be. */
  submitForLater(): void;
  /** Notes that commands between two places are lost. */
  lose(from: number, to: number, why: unknown): void;
}

/** What small transfers pass through, where they do. */
interface Passages {
  readonly tray: Tray | undefined;
  /** For what comes from the device. */
  readonly ferry: Ferry | undefined;
}

/** What is read with a wait. */
interface Read {
  readonly buffer: Buffer;
  readonly offset: number;
  readonly view: ArrayBufferView;
}

/** Words that are on their way, and where they will be. */
interface WordRead extends Read {
  readonly words: ArrivingWords;
}

/** Looks for the end of what a queue was given, and brings what is to be there then. */
export class Lookout {
  readonly #queue: Watched;
  readonly #capabilities: Capabilities;
  readonly #progress: Progress;
  readonly #tray: Tray | undefined;
  readonly #ferry: Ferry | undefined;
  readonly #milestones: Milestones;
  readonly #scraps = new Scraps();
  #words: ArrivingWords[] = [];
  /** What the ferry is to bring. */
  #landings: Landing[] = [];
  /** Where the queue was when it was waited for the last time. */
  #waitedAt = 0;
  /** The last wait was short: the next one may be. */
  #brief = true;
  /** When the loop had its last turn within a wait, and whether that was ours alone. */
  #turnedAt = Number.NEGATIVE_INFINITY;
  #quiet = false;

  constructor(queue: Watched, capabilities: Capabilities, progress: Progress, { tray, ferry }: Passages) {
    this.#queue = queue;
    this.#capabilities = capabilities;
    this.#progress = progress;
    this.#tray = tray;
    this.#ferry = ferry;
    this.#milestones = new Milestones(
      (before) => this.#allDone(before),
      capabilities.quirks.polls > 0 ? PATIENCE_MILLISECONDS : undefined,
    );
  }

  /**
   * Words as they are when somebody waits: however often they are asked for before, they are read once.
   *
   * @returns has them after the next wait; until that begins more may be asked for
   */
  readAtWait(buffer: Buffer, offset: number, count: number): ArrivingWords {
    for (const known of this.#words) {
      if (known.buffer !== buffer || known.offset !== offset) continue;
      known.want(count);
      return known;
    }
    const words = new ArrivingWords(buffer, offset);
    words.want(count);
    this.#words.push(words);
    return words;
  }

  /** Is there nothing to be read with the next wait? */
  get hasNothing(): boolean {
    return this.#words.length === 0 && this.#landings.length === 0;
  }

  /** Has what is in a berth of the ferry brought to `view` with the next wait. */
  bring(berth: Berth, view: ArrayBufferView): void {
    this.#ferry?.board(berth);
    this.#landings.push({ from: berth.memory, to: view });
  }

  /** Waits until everything enqueued so far is done. @throws TimeoutError after so many seconds; what the driver says */
  reached(deadlineSeconds: number): Promise<void> {
    const done = this.#milestones.reached();
    // Who would wait for longer than a timer runs just waits.
    return deadlineSeconds <= MOST_TIMER_SECONDS ? withDeadline(done, deadlineSeconds) : done;
  }

  /** Resolves when nobody waits any more, however their waits ended. */
  waitsEnded(): Promise<void> {
    return this.#milestones.ended();
  }

  /** An event for all that was enqueued so far. */
  mark(): cl.Event {
    this.#progress.enqueue();
    return this.#capabilities.version < 1.2
      ? cl.enqueueMarker(this.#queue.handle, true)
      : cl.enqueueMarkerWithWaitList(this.#queue.handle, null, true);
  }

  /** Waits for all that is enqueued. @param before a wait that is to end first */
  async #allDone(before: Promise<void> | undefined): Promise<void> {
    this.#queue.submitForLater();
    const landings = this.#landings;
    this.#landings = [];
    const from = this.#waitedAt;
    const to = this.#progress.enqueued;
    this.#waitedAt = to;
    try {
      await (this.#capabilities.quirks.polls > 0 ? this.#looked(before) : this.#waited());
    } catch (error) {
      // Who waits for it later is told as well: the next wait may succeed.
      if (landings.length > 0) this.#queue.lose(from, to, typedError(error, 'downloading small arrays'));
      throw error;
    }
    for (const landing of landings) land(landing);
  }

  /**
   * A wait for the event of a marker rather than clFinish, but for drivers known for better: rusticl's may
   * return, when it is called from another thread than the enqueues, before the last commands are done.
   */
  async #waited(): Promise<void> {
    const { finishTells } = this.#capabilities.quirks;
    const words = this.#departing(undefined);
    const last = this.#read([...this.#crossing(), ...words]) ?? (finishTells ? undefined : this.mark());
    const passed = this.#pass();
    let well = false;
    try {
      await (last ? cl.waitForEventsAsync([last]) : cl.finishAsync(this.#queue.handle));
      arrived(words);
      well = true;
    } finally {
      if (last) cl.releaseAsync(last);
      passed(well);
    }
  }

  /** @param tray what they are to pass through: into ordinary memory a driver copies by a thread of its own, which has to be woken */
  #departing(tray: Tray | undefined): WordRead[] {
    return this.#words.splice(0).map((words) => {
      const { buffer, offset, count } = words;
      return { words, buffer, offset, view: tray?.room(4 * count) ?? this.#scraps.take(count) };
    });
  }

  /** What the ferry brings with this wait, to pinned memory of its own. */
  #crossing(): Read[] {
    return (
      this.#ferry?.depart().map(({ buffer, offset, memory }) => ({ buffer, offset, view: memory })) ?? []
    );
  }

  /** @returns the event of the last command, behind all others, if there is one */
  #read(reads: readonly Read[]): cl.Event | undefined {
    let last: cl.Event | undefined;
    const { handle } = this.#queue;
    for (const [i, { buffer, offset, view }] of reads.entries()) {
      this.#progress.enqueue();
      const ends = i === reads.length - 1;
      const bytes = view.byteLength;
      const event = cl.enqueueReadBuffer(handle, buffer.handle, false, offset, bytes, view, null, ends);
      if (ends) last = event as cl.Event;
    }
    return last;
  }

  /**
   * A wait that looks for the end by itself at first, in each turn of the loop for a while, since waking this thread
   * may take longer than small work. After a wait that was not small the next one is left to another thread at once.
   */
  async #looked(before: Promise<void> | undefined): Promise<void> {
    const words = this.#departing(this.#tray);
    const reads: Read[] = [...this.#crossing(), ...words];
    this.#progress.enqueue(Math.max(1, reads.length));
    const passed = this.#pass();
    let start = performance.now();
    const most = this.#brief ? this.#capabilities.quirks.polls * 1e3 : 0;
    const isDue = start - this.#turnedAt > TURN_MILLISECONDS;
    const atOnce = !isDue && !before;
    let well = false;
    let event: cl.Event | undefined;
    try {
      const buffers = reads.map(({ buffer }) => buffer.handle);
      const offsets = reads.map(({ offset }) => offset);
      const views = reads.map(({ view }) => view);
      const first = most > 0 && atOnce ? this.#moment : 0;
      try {
        event = cl.readAndLook(this.#queue.handle, buffers, offsets, views, first);
      } finally {
        if (before) await before.catch(() => undefined); // what is in the tray is taken out in turn
      }
      if (before) start = performance.now();
      else if (isDue) await this.#turn();
      for (let looked = atOnce; event; looked = true) {
        const isLate = performance.now() - start >= most;
        if (looked && !isLate) await this.#turn();
        const state = cl.lookAt(event, isLate ? 0 : this.#moment);
        if (state === cl.COMPLETE) {
          cl.releaseEvent(event); // at once: it is no work for another thread
          event = undefined;
        } else if (state < cl.COMPLETE || isLate) {
          await cl.waitForEventsAsync([event]); // which says why, if it has failed
          break;
        }
      }
      arrived(words); // before their places in the tray are free
      well = true;
    } finally {
      if (event) cl.releaseAsync(event);
      this.#brief = performance.now() - start < 2e3 * this.#capabilities.quirks.polls;
      passed(well);
    }
  }

  /** Microseconds to look for in this turn of the loop. */
  get #moment(): number {
    return this.#quiet ? LOOK_MICROSECONDS.quiet : LOOK_MICROSECONDS.busy;
  }

  /** Leaves the loop to others for a turn. */
  async #turn(): Promise<void> {
    const left = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
    this.#turnedAt = performance.now();
    this.#quiet = this.#turnedAt - left < BUSY_TURN_MILLISECONDS;
  }

  /** Notes where the queue is. @returns to be called when it has come to that point, or has failed to */
  #pass(): (well: boolean) => void {
    const passed = this.#progress.mark();
    const landed = this.#tray?.mark();
    return (well) => {
      if (well) passed();
      landed?.(well);
    };
  }
}

function arrived(reads: readonly WordRead[]): void {
  for (const { words, view } of reads) words.arrive(view);
}

async function withDeadline(done: Promise<void>, seconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new TimeoutError(`the device did not finish within ${seconds} s; it is given up`)),
      seconds * 1000,
    );
  });
  try {
    await Promise.race([done, late]);
  } finally {
    clearTimeout(timer);
    done.catch(() => undefined); // a late failure of a device that was given up concerns nobody any more
  }
}
