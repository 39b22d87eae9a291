/** Finds the first of equal records in sorted data. */
import { keyWords } from '../../keys/array.js';
import { type DtypeInfo, infinityBits } from '../../keys/dtype.js';
import { runSync, runYielding } from '../../sort/host/steps.js';
import type { KeyWriter } from '../formats/key-file.js';
import { gatherRecords } from '../records/gather-records.js';
import type { RecordOrdering } from '../records/record-ordering.js';
import { PIECE_BYTES } from '../streams/policy.js';

/** Returns the positions of the records of a piece that differ from their predecessor, including 0. */
export type FindFirsts = (piece: Uint8Array) => Uint32Array;

/** Compares keys as numbers: all NaNs are equal, and so are −0 and +0. */
export function firstKeys(info: DtypeInfo): FindFirsts {
  const { kind, width, bytes } = info;
  return (piece) => {
    const words = keyWords(piece, info);
    const { buffer, byteOffset, length } = words;
    if (kind === 'float') {
      if (width === 64) return firstNumbers(new Float64Array(buffer, byteOffset, length));
      if (width === 32) return firstNumbers(new Float32Array(buffer, byteOffset, length));
      return firstNumbers(canonicalHalves(words as Uint16Array, Number(infinityBits(info))));
    }
    if (bytes === 8) return firstPairs(new Uint32Array(buffer, byteOffset, 2 * length));
    return firstNumbers(words as Uint32Array);
  };
}

/** Compares records by their order only, whatever other bytes they hold. */
export const firstRecords =
  (order: RecordOrdering): FindFirsts =>
  (piece) => {
    const prefixes = order.prefix(piece);
    const words = new Uint32Array(prefixes.buffer, prefixes.byteOffset, 2 * prefixes.length);
    return firstPairs(words, order.exact ? undefined : (i) => order.compare(piece, i - 1, piece, i) === 0);
  };

function firstNumbers(
  numbers: Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array,
): Uint32Array {
  const firsts = new Uint32Array(numbers.length);
  let count = 0;
  let last = 0;
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i] as number;
    // biome-ignore lint/suspicious/noSelfCompare: only NaNs differ from themselves
    if (i > 0 && (number === last || (number !== number && last !== last))) continue;
    firsts[count++] = i;
    last = number;
  }
  return firsts.subarray(0, count);
}

/**
 * @param words pairs of 32-bit words
 * @param areEqual decides for neighbours with equal words; default: they are equal
 */
function firstPairs(words: Uint32Array, areEqual: (i: number) => boolean = () => true): Uint32Array {
  const firsts = new Uint32Array(words.length / 2);
  let count = 0;
  for (let i = 0; i < words.length; i += 2) {
    const equalsPrevious = i > 0 && words[i] === words[i - 2] && words[i + 1] === words[i - 1];
    if (!equalsPrevious || !areEqual(i / 2)) firsts[count++] = i / 2;
  }
  return firsts.subarray(0, count);
}

/** Maps half-precision bits so that they are equal exactly where their numbers are. */
function canonicalHalves(halves: Uint16Array, infinity: number): Uint16Array {
  return halves.map((bits) => {
    const magnitude = bits & 0x7fff;
    if (magnitude === 0) return 0;
    return magnitude > infinity ? 0x7fff : bits;
  });
}

/** Destinations of distinct records and their counts. */
export interface DistinctOutputs {
  readonly to: KeyWriter;
  /** Receives one u64 per written record. */
  readonly counts?: Pick<KeyWriter, 'write'> | undefined;
}

/** Passes on only the first of equal sorted records, and counts the duplicates. */
export class DistinctWriter implements KeyWriter {
  /** Number of records passed on. */
  n = 0;
  readonly #recordBytes: number;
  readonly #firsts: FindFirsts;
  readonly #outputs: DistinctOutputs;
  readonly #signal: AbortSignal | undefined;
  #last: Uint8Array | undefined;
  /** Number of occurrences so far of the last record passed on. */
  #count = 0;

  /**
   * @param recordBytes record size in bytes
   * @param firsts finds the first of equal records
   * @param outputs destinations of records and counts
   * @param signal aborts the copying of records
   */
  constructor(recordBytes: number, firsts: FindFirsts, outputs: DistinctOutputs, signal?: AbortSignal) {
    this.#recordBytes = recordBytes;
    this.#firsts = firsts;
    this.#outputs = outputs;
    this.#signal = signal;
  }

  async write(piece: Uint8Array): Promise<void> {
    const maxBytes = Math.max(1, Math.floor(PIECE_BYTES / this.#recordBytes)) * this.#recordBytes;
    for (let at = 0; at < piece.length; at += maxBytes)
      await this.#writePart(piece.subarray(at, at + maxBytes));
  }

  async #writePart(part: Uint8Array): Promise<void> {
    const recordBytes = this.#recordBytes;
    const own = this.#firsts(part);
    const edge = this.#last && Buffer.concat([this.#last, part.subarray(0, recordBytes)]);
    const goesOn = edge !== undefined && this.#firsts(edge).length === 1;
    const firsts = goesOn ? own.subarray(1) : own;
    this.#last = part.slice(part.length - recordBytes);
    const n = part.length / recordBytes;
    const counts = this.#countFinished(firsts, n);
    this.n += firsts.length;
    if (firsts.length === n) await this.#outputs.to.write(part);
    else if (firsts.length > 0) {
      const picked = new Uint8Array(firsts.length * recordBytes);
      await runYielding(gatherRecords(part, recordBytes, firsts, picked), this.#signal);
      await this.#outputs.to.write(picked);
    }
    if (counts.length > 0) await this.#outputs.counts?.write(new Uint8Array(counts.buffer));
  }

  /** Returns the counts that are final after this piece. */
  #countFinished(firsts: Uint32Array, n: number): BigUint64Array {
    const counts: BigUint64Array = new BigUint64Array(
      this.#outputs.counts ? firsts.length - (this.n === 0 && firsts.length > 0 ? 1 : 0) : 0,
    );
    const before = this.#count + (firsts[0] ?? n);
    this.#count = firsts.length === 0 ? before : n - (firsts.at(-1) as number);
    if (counts.length === 0) return counts;
    let at = 0;
    if (this.n > 0) counts[at++] = BigInt(before);
    for (let i = 1; i < firsts.length; i++) {
      counts[at++] = BigInt((firsts[i] as number) - (firsts[i - 1] as number));
    }
    return counts;
  }

  /** Writes the last count and ends the record writer. The caller ends the writer of the counts. */
  async end(): Promise<void> {
    const { to, counts } = this.#outputs;
    if (this.n > 0) await counts?.write(new Uint8Array(BigUint64Array.of(BigInt(this.#count)).buffer));
    await to.end();
  }
}

/**
 * Passes on only records that occur more than once, with their counts. Receives distinct records and, later, as many
 * counts in the same order.
 */
export class DuplicateFilter {
  /** Number of records passed on. */
  n = 0;
  readonly #recordBytes: number;
  readonly #outputs: DistinctOutputs;
  /** Records whose counts have not arrived. */
  #pending: Uint8Array = new Uint8Array(0);

  readonly to: KeyWriter = {
    write: async (piece) => {
      this.#pending = Buffer.concat([this.#pending, piece]);
    },
    end: () => this.#outputs.to.end(),
  };

  readonly counts: Pick<KeyWriter, 'write'> = { write: (piece) => this.#count(piece) };

  constructor(recordBytes: number, outputs: DistinctOutputs) {
    this.#recordBytes = recordBytes;
    this.#outputs = outputs;
  }

  async #count(piece: Uint8Array): Promise<void> {
    const counts = new BigUint64Array(piece.slice().buffer);
    const kept = Uint32Array.from(counts.keys()).filter((i) => (counts[i] as bigint) > 1n);
    const records = new Uint8Array(kept.length * this.#recordBytes);
    runSync(gatherRecords(this.#pending, this.#recordBytes, kept, records));
    this.#pending = this.#pending.subarray(counts.length * this.#recordBytes);
    this.n += kept.length;
    if (kept.length === 0) return;
    await this.#outputs.to.write(records);
    const found = BigUint64Array.from(kept, (i) => counts[i] as bigint);
    await this.#outputs.counts?.write(new Uint8Array(found.buffer));
  }
}
