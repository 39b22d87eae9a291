import type { Buffer } from './buffer.js';
import type { Device } from './device.js';

/** Words of a board: so many launches may write on it before somebody waits. */
const WORDS = 256;

/** A word on a board, for one launch. */
export interface Slot {
  readonly board: Buffer;
  /** Number of the word in the buffer. */
  readonly at: number;
  /** What the word is, to be asked after the next wait of the queue: 0 unless the launch wrote on it. */
  word(): number;
}

/**
 * Words on a device, all zero, on which launches leave what the host has to know after its wait: many are told by one
 * read, which is not a wait of its own.
 */
export class Board {
  readonly #device: Device;
  readonly #buffer: Buffer;
  /** Words are zero when they are lent. */
  readonly #blank: boolean;
  /** Where the words go at the next wait; its first `#taken` ones are lent. */
  #words: Uint32Array | undefined;
  #taken = 0;

  private constructor(device: Device, blank: boolean) {
    this.#device = device;
    this.#blank = blank;
    this.#buffer = device.keep(WORDS * 4);
  }

  static readonly #blanks = new WeakMap<Device, Board[]>();
  static readonly #used = new WeakMap<Device, Board[]>();

  /**
   * Lends a word until the next wait, after which it is free: the launch is to be enqueued at once, before anybody can wait.
   *
   * @throws MemoryError
   */
  static slot(device: Device): Slot {
    return Board.#lend(device, Board.#blanks, 1)[0] as Slot;
  }

  /** As `slot`, words of one board that the launch writes in any case: they need not be zero before. */
  static slots(device: Device, count: number): Slot[] {
    return Board.#lend(device, Board.#used, count);
  }

  static #lend(device: Device, of: WeakMap<Device, Board[]>, count: number): Slot[] {
    const boards = of.get(device) ?? [];
    of.set(device, boards);
    for (const board of boards) {
      const slots = board.#slots(count);
      if (slots) return slots;
    }
    const added = new Board(device, of === Board.#blanks);
    boards.push(added);
    return added.#slots(count) as Slot[]; // none of its words is taken
  }

  #slots(count: number): Slot[] | undefined {
    const { queue } = this.#device;
    const words = queue.readAtWait(this.#buffer, 0, WORDS);
    if (words !== this.#words) {
      // Those before this wait may not be read yet, or not be zero.
      if (this.#blank && this.#words?.some((word) => word !== 0)) queue.fill(this.#buffer, 0);
      this.#words = words;
      this.#taken = 0;
    }
    if (this.#taken + count > WORDS) return undefined;
    const first = this.#taken;
    this.#taken += count;
    return Array.from({ length: count }, (_, i) => {
      const at = first + i;
      return { board: this.#buffer, at, word: () => words[at] ?? 0 };
    });
  }
}
