import type { Buffer } from './buffer.js';
import type { Device } from './device.js';

/** Words of a board of zeros, and of one that launches write: so many may be lent before somebody waits. */
const WORDS = { zero: 256, written: 1024 } as const;
/** What words are before a launch: zeros, or anything where the launch writes all of them. */
type Before = keyof typeof WORDS;

/** Words on a board, for one launch. */
export interface Slots {
  readonly board: Buffer;
  /** Number of the first word in the buffer. */
  readonly at: number;
  /** What the words are, to be asked after the next wait of the queue. */
  words(): Uint32Array;
}

/** A word on a board, for one launch. */
export interface Slot extends Omit<Slots, 'words'> {
  /** What the word is, to be asked after the next wait of the queue: 0 unless the launch wrote on it. */
  word(): number;
}

/**
 * Words on a device on which launches leave what the host has to know after its wait: many are told by one read, which is
 * not a wait of its own.
 */
export class Board {
  readonly #device: Device;
  readonly #buffer: Buffer;
  readonly #before: Before;
  /** Where the words go at the next wait; its first `#taken` ones are lent. */
  #words: Uint32Array | undefined;
  #taken = 0;

  private constructor(device: Device, before: Before) {
    this.#device = device;
    this.#before = before;
    this.#buffer = device.keep(WORDS[before] * 4);
  }

  static readonly #boards = new WeakMap<Device, Board[]>();

  /** Words of a board that launches write. */
  static readonly MOST = WORDS.written;

  /**
   * Lends a word that is 0 until the next wait, after which it is free: the launch is to be enqueued at once, before anybody
   * can wait.
   *
   * @throws MemoryError
   */
  static slot(device: Device): Slot {
    const { board, at, words } = Board.#lend(device, 'zero', 1);
    return { board, at, word: () => words()[0] ?? 0 };
  }

  /**
   * The same for words that the launch writes, each of them: nobody has to clear them.
   *
   * @param count at most `MOST`
   * @throws MemoryError
   */
  static written(device: Device, count: number): Slots {
    return Board.#lend(device, 'written', count);
  }

  static #lend(device: Device, before: Before, count: number): Slots {
    const boards = Board.#boards.get(device) ?? [];
    Board.#boards.set(device, boards);
    for (const board of boards) {
      const slots = board.#before === before ? board.#take(count) : undefined;
      if (slots) return slots;
    }
    const added = new Board(device, before);
    boards.push(added);
    return added.#take(count) as Slots; // none of its words is taken
  }

  #take(count: number): Slots | undefined {
    const all = WORDS[this.#before];
    const { queue } = this.#device;
    const words = queue.readAtWait(this.#buffer, 0, all);
    if (words !== this.#words) {
      // Those before this wait may not be read yet, or not be zero.
      if (this.#before === 'zero' && this.#words?.some((word) => word !== 0)) queue.fill(this.#buffer, 0);
      this.#words = words;
      this.#taken = 0;
    }
    if (this.#taken + count > all) return undefined;
    const at = this.#taken;
    this.#taken += count;
    return { board: this.#buffer, at, words: () => words.subarray(at, at + count) };
  }
}
