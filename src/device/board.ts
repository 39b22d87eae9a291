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
  /** Where the words go at the next wait; its first `#taken` ones are lent. */
  #words: Uint32Array | undefined;
  #taken = 0;

  private constructor(device: Device) {
    this.#device = device;
    this.#buffer = device.keep(WORDS * 4);
  }

  static readonly #boards = new WeakMap<Device, Board[]>();

  /**
   * Lends a word until the next wait, after which it is free: the launch is to be enqueued at once, before anybody can wait.
   *
   * @throws MemoryError
   */
  static slot(device: Device): Slot {
    const boards = Board.#boards.get(device) ?? [];
    Board.#boards.set(device, boards);
    for (const board of boards) {
      const slot = board.#slot();
      if (slot) return slot;
    }
    const added = new Board(device);
    boards.push(added);
    return added.#slot() as Slot; // none of its words is taken
  }

  #slot(): Slot | undefined {
    const { queue } = this.#device;
    const words = queue.readAtWait(this.#buffer, 0, WORDS);
    if (words !== this.#words) {
      // Those before this wait may not be read yet, or not be zero.
      if (this.#words?.some((word) => word !== 0)) queue.fill(this.#buffer, 0);
      this.#words = words;
      this.#taken = 0;
    }
    if (this.#taken === WORDS) return undefined;
    const at = this.#taken++;
    return { board: this.#buffer, at, word: () => words[at] ?? 0 };
  }
}
