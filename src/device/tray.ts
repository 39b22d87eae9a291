/** Copies out of a tray what has arrived there. */
interface Landing {
  readonly from: Uint8Array;
  readonly to: ArrayBufferView;
}

/** Larger transfers are left to the driver, or to staging. */
const MOST_BYTES = 2 ** 19;
/** Places begin on multiples of a line of the cache. */
const LINE = 64;

/**
 * Pinned memory that small transfers pass through: a driver that is given ordinary memory copies it by itself, and
 * has the device wait meanwhile. Places are taken in a ring, and are free again when the queue has come past them.
 */
export class Tray {
  readonly #memory: Uint8Array;
  /** Bytes that were taken since the beginning, those that were skipped at the end of the memory among them. */
  #taken = 0;
  /** Of them, bytes that are free again. */
  #freed = 0;
  #landings: Landing[] = [];

  constructor(memory: ArrayBuffer) {
    this.#memory = new Uint8Array(memory);
  }

  /** Are these so few bytes that copying them takes less time than having the driver do it? */
  isFor({ byteLength, buffer }: ArrayBufferView): boolean {
    return byteLength <= MOST_BYTES && buffer !== this.#memory.buffer;
  }

  /** A copy for the device to read; undefined when there is no room. */
  copyOf(view: ArrayBufferView): Uint8Array | undefined {
    const place = this.#place(view.byteLength);
    place?.set(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
    return place;
  }

  /** Where the device is to write what `landed` brings to `view`; undefined when there is no room. */
  placeFor(view: ArrayBufferView): Uint8Array | undefined {
    const from = this.#place(view.byteLength);
    if (from) this.#landings.push({ from, to: view });
    return from;
  }

  /**
   * A point behind all places that were taken so far.
   *
   * @returns to be called when the queue has come to it: brings what has arrived to where it belongs, if all went well
   */
  mark(): (well: boolean) => void {
    const taken = this.#taken;
    const landings = this.#landings;
    this.#landings = [];
    return (well) => {
      if (well) for (const landing of landings) land(landing);
      this.#freed = Math.max(this.#freed, taken);
    };
  }

  #place(bytes: number): Uint8Array | undefined {
    const size = this.#memory.length;
    const room = Math.ceil(bytes / LINE) * LINE;
    const at = this.#taken % size;
    const skipped = at + room > size ? size - at : 0;
    if (this.#taken + skipped + room - this.#freed > size) return undefined;
    const begin = (at + skipped) % size;
    this.#taken += skipped + room;
    return this.#memory.subarray(begin, begin + bytes);
  }
}

function land({ from, to }: Landing): void {
  const { buffer, byteOffset, byteLength } = to;
  // Memory that was transferred or shrunk meanwhile is told of by the call whose result it was to hold.
  if (byteLength === from.length) new Uint8Array(buffer, byteOffset, byteLength).set(from);
}
