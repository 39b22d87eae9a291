/** Placement: groups the records of a piece by partition, in input order within each. */
import { keyWords } from '../../keys/array.js';
import { dtypeInfo } from '../../keys/dtype.js';
import { codecWords } from '../../keys/key-codec.js';
import { placeAsync } from '../../native-host/host-functions.js';
import { inSlices, runYielding } from '../../sort/host/steps.js';
import { UnsupportedError } from '../../util/errors.js';
import { hostThreads } from '../../util/threads.js';
import type { RecordOrdering } from '../records/record-ordering.js';
import { MAX_SLICE_RECORDS, SLICE_BYTES } from './policy.js';
import type { Splitters, SplitterTable } from './splitters.js';

export class Placer {
  readonly #order: RecordOrdering;
  readonly #splitters: Splitters;
  readonly #slice: number;
  /** Arguments for the addon; undefined without it and for records that it does not support. */
  #native: (SplitterTable & { readonly codec: BigUint64Array }) | undefined;

  /**
   * @param order order of the records
   * @param splitters bounds of the partitions
   * @param options.native places plain keys with the addon, on all cores; default true
   */
  constructor(order: RecordOrdering, splitters: Splitters, { native = true } = {}) {
    this.#order = order;
    this.#splitters = splitters;
    this.#slice = Math.max(1, Math.min(MAX_SLICE_RECORDS, Math.floor(SLICE_BYTES / order.recordBytes)));
    const { codes } = order;
    if (native && codes) this.#native = { codec: codecWords(codes.codec, codes.mask), ...splitters.table };
  }

  /**
   * Places the records of a piece.
   *
   * @param piece whole records, at most `MAX_PLACED_RECORDS`
   * @param to output of the same length; aligned to words when the record size is a multiple of words
   * @returns the number of records per partition
   */
  async place(piece: Uint8Array, to: Uint8Array): Promise<Uint32Array> {
    const counts = new Uint32Array(this.#splitters.partitions);
    if (this.#native) {
      const { codec, firsts, before, shift } = this.#native;
      const width = this.#order.recordBytes as 1;
      const threads = hostThreads();
      try {
        await placeAsync(piece, width, codec, firsts, before, shift, to, counts, threads);
        return counts;
      } catch (error) {
        if (!(error instanceof UnsupportedError)) throw error;
        this.#native = undefined; // the addon is not available
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
    // Words are copied faster than bytes.
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
