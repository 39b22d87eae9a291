import type { Buffer } from './buffer.js';
import type { DeferredReadback } from './deferred-readback.js';
import type { Device } from './device.js';

/** Words of a board of zeros, and of one that launches write: so many may be lent before somebody waits. */
const WORDS = { zero: 256, written: 1024 } as const;
/** What words are before a launch: zeros, or anything where the launch writes all of them. */
type InitialContents = keyof typeof WORDS;

/** Words on a board, for one launch. */
export class StatusSlot {
  readonly buffer: Buffer;
  /** Number of the first word in the buffer. */
  readonly firstWord: number;
  readonly #count: number;
  readonly #readback: DeferredReadback;

  /** @param readback the words of the board as they will be after the next wait */
  constructor(buffer: Buffer, firstWord: number, count: number, readback: DeferredReadback) {
    this.buffer = buffer;
    this.firstWord = firstWord;
    this.#count = count;
    this.#readback = readback;
  }

  /** What the words are, to be asked after the next wait of the queue. */
  words(): Uint32Array {
    return this.#readback.words(this.firstWord, this.#count);
  }

  /** What the first word is, likewise: 0 where it was so before, unless the launch wrote on it. */
  word(): number {
    return this.#readback.word(this.firstWord);
  }
}

/**
 * Words on a device on which launches leave what the host has to know after its wait: many are told by one read, which is
 * not a wait of its own.
 */
export class StatusWords {
  readonly #device: Device;
  readonly #buffer: Buffer;
  readonly #initial: InitialContents;
  /** Where the words go at the next wait; its first `#taken` ones are lent. */
  #readback: DeferredReadback | undefined;
  #usedWords = 0;

  private constructor(device: Device, initial: InitialContents) {
    this.#device = device;
    this.#initial = initial;
    this.#buffer = device.allocatePersistent(WORDS[initial] * 4);
  }

  static readonly #instances = new WeakMap<Device, StatusWords[]>();

  /** Words of a board that launches write. */
  static readonly MAX = WORDS.written;

  /**
   * Lends a word that is 0 until the next wait, after which it is free: the launch is to be enqueued at once, before anybody
   * can wait.
   *
   * @throws MemoryError
   */
  static zeroed(device: Device): StatusSlot {
    return StatusWords.#allocate(device, 'zero', 1);
  }

  /**
   * The same for words that the launch writes, each of them: nobody has to clear them.
   *
   * @param count at most `MOST`
   * @throws MemoryError
   */
  static uninitialized(device: Device, count: number): StatusSlot {
    return StatusWords.#allocate(device, 'written', count);
  }

  static #allocate(device: Device, initial: InitialContents, count: number): StatusSlot {
    const instances = StatusWords.#instances.get(device) ?? [];
    StatusWords.#instances.set(device, instances);
    for (const instance of instances) {
      const slot = instance.#initial === initial ? instance.#tryAllocate(count) : undefined;
      if (slot) return slot;
    }
    const added = new StatusWords(device, initial);
    instances.push(added);
    return added.#tryAllocate(count) as StatusSlot; // none of its words is taken
  }

  #tryAllocate(count: number): StatusSlot | undefined {
    const capacity = WORDS[this.#initial];
    const { queue } = this.#device;
    const readback = queue.readAtWait(this.#buffer, 0, 1);
    if (readback !== this.#readback) {
      // Those before this wait may not be read yet, or not be zero.
      if (this.#initial === 'zero' && this.#readback && !this.#readback.isZero) queue.fill(this.#buffer, 0);
      this.#readback = readback;
      this.#usedWords = 0;
    }
    if (this.#usedWords + count > capacity) return undefined;
    const firstWord = this.#usedWords;
    this.#usedWords += count;
    readback.request(this.#usedWords);
    return new StatusSlot(this.#buffer, firstWord, count, readback);
  }
}
