import { oncePer } from '../util/memo.js';
import type { Device } from './device.js';
import type { Buffer } from './memory/buffer.js';
import type { DeferredReadback } from './queue/deferred-readback.js';

/** Words of a zeroed buffer, and of one that launches write completely: the maximum in use before a wait. */
const WORDS = { zero: 256, written: 1024 } as const;
/** Contents before a launch: zeros, or anything if the launch writes all words. */
type InitialContents = keyof typeof WORDS;

/** Status words of one launch. */
export class StatusSlot {
  readonly buffer: Buffer;
  /** Index of the first word in the buffer. */
  readonly firstWord: number;
  readonly #count: number;
  readonly #readback: DeferredReadback;

  /** @param readback words of the buffer after the next wait */
  constructor(buffer: Buffer, firstWord: number, count: number, readback: DeferredReadback) {
    this.buffer = buffer;
    this.firstWord = firstWord;
    this.#count = count;
    this.#readback = readback;
  }

  /** Returns the words. They are valid after the next wait of the queue. */
  words(): Uint32Array {
    return this.#readback.words(this.firstWord, this.#count);
  }

  /** Returns the first word, valid after the next wait: 0 if it was zeroed, unless the launch wrote it. */
  word(): number {
    return this.#readback.word(this.firstWord);
  }
}

/**
 * Device words in which launches leave status for the host. One read returns the words of many launches, with a wait
 * that happens anyway.
 */
export class StatusWords {
  readonly #device: Device;
  readonly #buffer: Buffer;
  readonly #initial: InitialContents;
  /** Readback of the next wait. Its first `#usedWords` words are in use. */
  #readback: DeferredReadback | undefined;
  #usedWords = 0;

  private constructor(device: Device, initial: InitialContents) {
    this.#device = device;
    this.#initial = initial;
    this.#buffer = device.allocatePersistent(WORDS[initial] * 4);
  }

  static readonly #instancesOf = oncePer((_device: Device): StatusWords[] => []);

  /** Maximum words of a slot of `uninitialized`. */
  static readonly MAX = WORDS.written;

  /**
   * Allocates a word that is 0 until the next wait, after which it is free. The launch must be enqueued at once,
   * before another wait can begin.
   *
   * @throws MemoryError when the device is out of memory
   */
  static zeroed(device: Device): StatusSlot {
    return StatusWords.#allocate(device, 'zero', 1);
  }

  /**
   * Allocates words that the launch writes completely, so that they need no clearing. Otherwise like `zeroed`.
   *
   * @param count at most `MAX`
   * @throws MemoryError when the device is out of memory
   */
  static uninitialized(device: Device, count: number): StatusSlot {
    return StatusWords.#allocate(device, 'written', count);
  }

  static #allocate(device: Device, initial: InitialContents, count: number): StatusSlot {
    const instances = StatusWords.#instancesOf(device);
    for (const instance of instances) {
      const slot = instance.#initial === initial ? instance.#tryAllocate(count) : undefined;
      if (slot) return slot;
    }
    const added = new StatusWords(device, initial);
    instances.push(added);
    return added.#tryAllocate(count) as StatusSlot; // all of its words are free
  }

  #tryAllocate(count: number): StatusSlot | undefined {
    const capacity = WORDS[this.#initial];
    const { queue } = this.#device;
    const readback = queue.readAtWait(this.#buffer, 0);
    if (readback !== this.#readback) {
      // Words from before this wait may be unread, or not zero.
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
