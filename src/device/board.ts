import type { ArrivingWords } from './arriving-words.js';
import type { Buffer } from './buffer.js';
import type { Device } from './device.js';

/** Words of a board of zeros, and of one that launches write: so many may be lent before somebody waits. */
const WORDS = { zero: 256, written: 1024 } as const;
/** What words are before a launch: zeros, or anything where the launch writes all of them. */
type Before = keyof typeof WORDS;

/** Words on a board, for one launch. */
export class Slot {
  readonly board: Buffer;
  /** Number of the first word in the buffer. */
  readonly at: number;
  readonly #count: number;
  readonly #all: ArrivingWords;

  /** @param all the words of the board as they will be after the next wait */
  constructor(board: Buffer, at: number, count: number, all: ArrivingWords) {
    this.board = board;
    this.at = at;
    this.#count = count;
    this.#all = all;
  }

  /** What the words are, to be asked after the next wait of the queue. */
  words(): Uint32Array {
    return this.#all.words(this.at, this.#count);
  }

  /** What the first word is, likewise: 0 where it was so before, unless the launch wrote on it. */
  word(): number {
    return this.#all.word(this.at);
  }
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
  #words: ArrivingWords | undefined;
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
    return Board.#lend(device, 'zero', 1);
  }

  /**
   * The same for words that the launch writes, each of them: nobody has to clear them.
   *
   * @param count at most `MOST`
   * @throws MemoryError
   */
  static written(device: Device, count: number): Slot {
    return Board.#lend(device, 'written', count);
  }

  static #lend(device: Device, before: Before, count: number): Slot {
    const boards = Board.#boards.get(device) ?? [];
    Board.#boards.set(device, boards);
    for (const board of boards) {
      const slots = board.#before === before ? board.#take(count) : undefined;
      if (slots) return slots;
    }
    const added = new Board(device, before);
    boards.push(added);
    return added.#take(count) as Slot; // none of its words is taken
  }

  #take(count: number): Slot | undefined {
    const all = WORDS[this.#before];
    const { queue } = this.#device;
    const words = queue.readAtWait(this.#buffer, 0, 1);
    if (words !== this.#words) {
      // Those before this wait may not be read yet, or not be zero.
      if (this.#before === 'zero' && this.#words && !this.#words.areZero) queue.fill(this.#buffer, 0);
      this.#words = words;
      this.#taken = 0;
    }
    if (this.#taken + count > all) return undefined;
    const at = this.#taken;
    this.#taken += count;
    words.want(this.#taken);
    return new Slot(this.#buffer, at, count, words);
  }
}
