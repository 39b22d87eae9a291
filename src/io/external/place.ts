/** Placing: units of a piece in the order of their partitions, each partition's in the order of the input. */
import { availableParallelism } from 'node:os';
import { keyWords } from '../../keys/array.js';
import { dtypeInfo } from '../../keys/dtype.js';
import { codecWords } from '../../keys/key-codec.js';
import * as cl from '../../opencl/index.js';
import { inSlices, runYielding } from '../../sort/host/steps.js';
import { UnsupportedError } from '../../util/errors.js';
import type { RecordOrdering } from '../record-ordering.js';
import type { Splitters, SplitterTable } from './splitters.js';

/** Bytes of units that are placed in a step. */
const SLICE_BYTES = 2 ** 19;
const MAX_SLICE_RECORDS = 2 ** 15;

/** Most units of a piece: what is known of each takes two bytes beside it. */
export const MAX_PLACED_RECORDS = 2 ** 22;

export class Placer {
  readonly #order: RecordOrdering;
  readonly #splitters: Splitters;
  readonly #slice: number;
  /** What the addon takes; undefined for units that it does not know, and where there is none. */
  #native: (SplitterTable & { readonly codec: BigUint64Array }) | undefined;

  /** @param native plain keys are placed by the addon, on all cores */
  constructor(order: RecordOrdering, splitters: Splitters, { native = true } = {}) {
    this.#order = order;
    this.#splitters = splitters;
    this.#slice = Math.max(1, Math.min(MAX_SLICE_RECORDS, Math.floor(SLICE_BYTES / order.recordBytes)));
    const { codes } = order;
    if (native && codes) {
      this.#native = { codec: codecWords(codes.codec, codes.mask), ...splitters.table };
    }
  }

  /**
   * @param piece whole units, `MAX_PLACED_UNITS` at most
   * @param to gets them; as long, and where words may stand when units are made of whole ones
   * @returns how many units go to each partition
   */
  async place(piece: Uint8Array, to: Uint8Array): Promise<Uint32Array> {
    const counts = new Uint32Array(this.#splitters.partitions);
    if (this.#native) {
      const { codec, firsts, before, shift } = this.#native;
      const width = this.#order.recordBytes as 1;
      const threads = availableParallelism();
      try {
        await cl.placeAsync(piece, width, codec, firsts, before, shift, to, counts, threads);
        return counts;
      } catch (error) {
        if (!(error instanceof UnsupportedError)) throw error;
        this.#native = undefined; // there is no addon here
      }
    }
    await this.#placeInScript(piece, to, counts);
    return counts;
  }

  async #placeInScript(piece: Uint8Array, to: Uint8Array, counts: Uint32Array): Promise<void> {
    const { recordBytes } = this.#order;
    const n = piece.length / recordBytes;
    const partitions = new Uint16Array(n);
    const classifySlice = (start: number, end: number): void =>
      this.#splitters.place(
        piece.subarray(start * recordBytes, end * recordBytes),
        partitions.subarray(start, end),
        counts,
      );
    await runYielding(inSlices(n, classifySlice, this.#slice));
    const next = new Uint32Array(counts.length);
    for (let p = 1; p < next.length; p++) next[p] = (next[p - 1] as number) + (counts[p - 1] as number);
    // Words are moved quicker than bytes.
    const isWords = recordBytes % 4 === 0;
    const word = dtypeInfo(isWords ? 'u32' : 'u8');
    const [from, moved] = [keyWords(piece, word), keyWords(to, word)] as [Uint32Array, Uint32Array];
    const words = isWords ? recordBytes / 4 : recordBytes;
    const move = (start: number, end: number): void => {
      for (let i = start, at = start * words; i < end; i++) {
        const p = partitions[i] as number;
        const place = next[p] as number;
        next[p] = place + 1;
        for (let w = place * words; w < (place + 1) * words; w++) moved[w] = from[at++] as number;
      }
    };
    await runYielding(inSlices(n, move, this.#slice));
  }
}
