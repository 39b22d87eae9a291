import { InputError, UnsupportedError } from '../../../util/errors.js';
import { loadTableFunctions } from '../../host/native-tables.js';
import { COPY_BYTES, SLICE } from '../../host/policy.js';
import { inSlices, runYielding, type Steps } from '../../host/steps.js';
import { type ArrowChunk, type ArrowVector, chunksOf, makeVector } from '../../model/arrow-vector.js';
import type { SortOptions, TopKOptions, UniqueOptions } from '../../model/options.js';
import { unusableOption } from '../arguments.js';
import type { OperationMethods } from '../operations.js';
import { ByteStrings, selectCodes } from '../strings/byte-strings.js';
import { argsortCodes, type Codes, type Span } from '../strings/code-order.js';
import type { UniqueColumns } from '../unique/unique.js';
import { nullBitmap, splitNulls } from './nulls.js';
import type { DistinctColumns, VectorKeys } from './vector-keys.js';

/** Identifiers of Arrow's types of byte strings with offsets of 32 or 64 bits. */
const TYPE = { binary: 4, utf8: 5, largeBinary: 19, largeUtf8: 20 } as const;
const STRING_TYPES: ReadonlySet<number> = new Set(Object.values(TYPE));

export const isStringType = ({ typeId }: ArrowVector['type']): boolean => STRING_TYPES.has(typeId);

/** Maximum bytes of a chunk with offsets of 32 bits. */
export const MAX_CHUNK_BYTES = 2 ** 31 - 1;

/**
 * The keys of a vector of strings or bytes, in the order of their bytes, which is that of code points for UTF-8. Results
 * are rows of the vector.
 */
export class StringKeys implements VectorKeys<Uint32Array> {
  static async read(
    sorter: OperationMethods,
    vector: ArrowVector,
    signal: AbortSignal | undefined,
  ): Promise<StringKeys> {
    await loadTableFunctions();
    const split = vector.nullCount === 0 ? undefined : await runYielding(splitNulls(vector), signal);
    const strings = new ByteStrings();
    let hasZeros = false;
    for (const chunk of chunksOf(vector)) {
      const { offsets, bytes } = await runYielding(batchOf(chunk), signal);
      strings.addBatch(offsets, bytes);
      hasZeros ||= bytes.subarray(offsets[0], offsets.at(-1)).includes(0);
    }
    return new StringKeys(
      sorter,
      vector,
      strings,
      hasZeros,
      split?.nulls ?? new Uint32Array(0),
      split?.others,
    );
  }

  readonly #sorter: OperationMethods;
  readonly #vector: ArrowVector;
  readonly #strings: ByteStrings;
  /** Whether a string may contain a zero byte, which padding with zeros does not distinguish from the end. */
  readonly #hasZeros: boolean;
  readonly nulls: Uint32Array;
  readonly positions: Uint32Array | undefined;

  private constructor(
    sorter: OperationMethods,
    vector: ArrowVector,
    strings: ByteStrings,
    hasZeros: boolean,
    nulls: Uint32Array,
    positions: Uint32Array | undefined,
  ) {
    this.#sorter = sorter;
    this.#vector = vector;
    this.#strings = strings;
    this.#hasZeros = hasZeros;
    this.nulls = nulls;
    this.positions = positions;
  }

  async sort(options: SortOptions): Promise<Uint32Array> {
    return this.#rows(await this.argsort(options));
  }

  async argsort({ descending = false, nan: _, bitRange, ...options }: SortOptions): Promise<Uint32Array> {
    if (bitRange !== undefined) throw unusableOption('bitRange', 'vectors of strings do not support it');
    const codes = this.#codes(descending);
    if (!this.#hasZeros) return argsortCodes(this.#sorter, codes, options);
    // Padded with zeros, a string equals a longer one with zeros at its end. Sorts are stable, so these keep the order of
    // their lengths.
    const { onReport: _report, ...unreported } = options;
    const lengths = new Uint32Array(codes.n).map((_length, i) => this.#strings.length(this.#row(i)));
    const byLength = await this.#sorter.argsort(lengths, { ...unreported, descending });
    const order = await argsortCodes(this.#sorter, selectCodes(codes, byLength), options);
    return order.map((i) => byLength[i] as number);
  }

  async topK(
    k: number,
    { largest = true, ...options }: TopKOptions,
  ): Promise<{ keys: Uint32Array; indices: Uint32Array }> {
    if ('descending' in options) throw unusableOption('descending', "topK uses 'largest' instead");
    const order = await this.argsort({ ...options, descending: largest });
    const indices = order.slice(0, k);
    return { keys: this.#rows(indices), indices };
  }

  async unique({
    counts,
    index,
    inverse,
    ...options
  }: UniqueOptions & UniqueColumns): Promise<DistinctColumns & { readonly keys: Uint32Array }> {
    const order = await this.argsort(options);
    const begins = await runYielding(this.#groups(order), options.signal);
    const first = begins.map((at) => order[at] as number);
    const columns = {
      ...(index && { index: first }),
      ...(inverse && { inverse: groupOfEach(order, begins) }),
    };
    const isCounted = counts ?? (index === undefined && inverse === undefined);
    return {
      keys: this.#rows(first),
      ...columns,
      ...(isCounted && { counts: begins.map((at, i) => (begins[i + 1] ?? order.length) - at) }),
    };
  }

  async toVector(rows: Uint32Array, nullsBefore: number, nullsAfter: number): Promise<ArrowVector> {
    return makeVector(
      this.#vector,
      await runYielding(this.chunks(rows, nullsBefore, nullsAfter, MAX_CHUNK_BYTES)),
    );
  }

  /** Copies the strings of rows to new chunks of at most `maxBytes` bytes, with nulls before and after them. */
  *chunks(rows: Uint32Array, nullsBefore: number, nullsAfter: number, maxBytes: number): Steps<ArrowChunk[]> {
    const strings = this.#strings;
    const [like] = chunksOf(this.#vector) as readonly [ArrowChunk];
    const chunks: ArrowChunk[] = [];
    let [begin, before] = [0, nullsBefore];
    do {
      // The offsets of the chunk: those of nulls before, of its strings, and of nulls after them.
      const offsets = new Int32Array(before + (rows.length - begin) + nullsAfter + 1);
      let [end, bytes] = [begin, 0];
      while (end < rows.length) {
        const next = bytes + strings.length(rows[end] as number);
        if (next > maxBytes && end > begin) break;
        bytes = next;
        end++;
        offsets[before + end - begin] = bytes;
        if (end % SLICE === 0) yield;
      }
      const values = new Uint8Array(bytes);
      yield* this.#copy(rows.subarray(begin, end), values);
      const after = end === rows.length ? nullsAfter : 0;
      const [from, to] = [before, before + end - begin];
      const n = to + after;
      offsets.fill(bytes, to, n + 1);
      const buffers = [
        like.valueOffsets instanceof BigInt64Array
          ? widen(offsets.subarray(0, n + 1))
          : offsets.subarray(0, n + 1),
        values,
        nullBitmap(n, from, to),
      ];
      chunks.push(like.clone(like.type, 0, n, before + after, buffers));
      [begin, before] = [end, 0];
    } while (begin < rows.length);
    return chunks;
  }

  *#copy(rows: Uint32Array, to: Uint8Array): Steps {
    const strings = this.#strings;
    const limits = { maxStrings: SLICE, full: COPY_BYTES };
    for (let [from, at] = [0, 0]; from < rows.length; ) {
      const copied = strings.gather(rows, { from, ...limits }, to.subarray(at));
      if (copied) {
        from += copied.strings;
        at += copied.bytes;
      } else {
        for (const end = Math.min(from + SLICE, rows.length); from < end; from++) {
          const row = rows[from] as number;
          strings.copy(row, to, at);
          at += strings.length(row);
        }
      }
      yield;
    }
  }

  /** Returns where groups of equal strings begin in the order. */
  *#groups(order: Uint32Array): Steps<Uint32Array> {
    const begins = new Uint32Array(order.length);
    let n = 0;
    yield* inSlices(order.length, (start, end) => {
      for (let i = start; i < end; i++) {
        const isNew =
          i === 0 || !this.#strings.equal(this.#row(order[i - 1] as number), this.#row(order[i] as number));
        if (isNew) begins[n++] = i;
      }
    });
    return begins.slice(0, n);
  }

  #codes(descending: boolean): Codes {
    const codes = this.positions ? pickedCodes(this.#strings, this.positions) : this.#strings;
    return descending ? complement(codes) : codes;
  }

  #row(index: number): number {
    return this.positions ? (this.positions[index] as number) : index;
  }

  #rows(indices: Uint32Array): Uint32Array {
    return this.positions ? indices.map((index) => this.#row(index)) : indices;
  }
}

/** Returns the group of each index of the order, by the begins of the groups. */
function groupOfEach(order: Uint32Array, begins: Uint32Array): Uint32Array {
  const groups = new Uint32Array(order.length);
  for (let [i, group] = [0, -1]; i < order.length; i++) {
    if (i === begins[group + 1]) group++;
    groups[order[i] as number] = group;
  }
  return groups;
}

/** Returns the codes at `rows`. The words of all codes are written and picked, which the addon helps with. */
function pickedCodes(codes: ByteStrings, rows: Uint32Array): Codes {
  const some = selectCodes(codes, rows);
  return {
    ...some,
    *fill(span, words, at) {
      if (at) return yield* some.fill(span, words, at);
      const all = new BigUint64Array(codes.n);
      yield* codes.fill(span, all);
      const [from, to] = [halvesOf(all), halvesOf(words)];
      yield* inSlices(rows.length, (start, end) => {
        for (let i = start; i < end; i++) {
          const row = rows[i] as number;
          to[2 * i] = from[2 * row] as number;
          to[2 * i + 1] = from[2 * row + 1] as number;
        }
      });
    },
  };
}

/** Returns codes in the reverse order. */
function complement(codes: Codes): Codes {
  return {
    n: codes.n,
    bytes: codes.bytes,
    shared: codes.shared ?? 0,
    isOver: (code, end) => codes.isOver?.(code, end) ?? end >= codes.bytes,
    *fill(span: Span, words: BigUint64Array, at?: Uint32Array): Steps {
      yield* codes.fill(span, words, at);
      const bits = 8 * (span.end - span.begin);
      const [low, high] = [maskOf(Math.min(bits, 32)), maskOf(Math.max(bits - 32, 0))];
      const halves = halvesOf(words);
      yield* inSlices(words.length, (start, end) => {
        for (let i = 2 * start; i < 2 * end; i += 2) {
          halves[i] = (halves[i] as number) ^ low;
          halves[i + 1] = (halves[i + 1] as number) ^ high;
        }
      });
    },
  };
}

const maskOf = (bits: number): number => 2 ** bits - 1;

const halvesOf = (words: BigUint64Array): Uint32Array =>
  new Uint32Array(words.buffer, words.byteOffset, 2 * words.length);

function widen(offsets: Int32Array): BigInt64Array {
  const wide = new BigInt64Array(offsets.length);
  const halves = new Int32Array(wide.buffer);
  for (let i = 0; i < offsets.length; i++) halves[2 * i] = offsets[i] as number;
  return wide;
}

/**
 * Returns the strings of a chunk.
 *
 * @throws InputError when its offsets do not ascend within its bytes
 * @throws UnsupportedError when its strings have 4 GiB or more
 */
function* batchOf({
  length,
  valueOffsets,
  values,
}: ArrowChunk): Steps<{ offsets: Uint32Array; bytes: Uint8Array }> {
  const bytes = values as unknown as Uint8Array;
  if (length === 0) return { offsets: new Uint32Array(1), bytes: bytes.subarray(0, 0) };
  if (!valueOffsets || valueOffsets.length <= length) throw damagedOffsets(`${length} rows`);
  const isWide = valueOffsets instanceof BigInt64Array;
  const first = Number(valueOffsets[0]);
  const last = Number(valueOffsets[length]);
  if (first < 0 || last < first || last > bytes.length)
    throw damagedOffsets(`offsets from ${first} to ${last}`);
  if (last - first >= 2 ** 32) {
    throw new UnsupportedError(
      `cannot sort a chunk with ${last - first} bytes of strings: at most ${2 ** 32 - 1} are supported. Split the vector into smaller chunks`,
    );
  }
  const { buffer, byteOffset } = valueOffsets;
  const [step, base] = isWide ? [2, first] : [1, 0];
  const halves = new Uint32Array(buffer, byteOffset, step * (length + 1));
  const offsets = isWide ? new Uint32Array(length + 1) : halves;
  let before = first - base;
  yield* inSlices(length + 1, (start, end) => {
    for (let i = start; i < end; i++) {
      const high = isWide ? (halves[2 * i + 1] as number) * 2 ** 32 : 0;
      const offset = (halves[step * i] as number) + high - base;
      if (offset < before || offset > last - base)
        throw damagedOffsets(`offset ${offset + base} of row ${i}`);
      before = offset;
      if (isWide) offsets[i] = offset;
    }
  });
  return { offsets, bytes: isWide ? bytes.subarray(first, last) : bytes };
}

const damagedOffsets = (what: string): InputError =>
  new InputError(`cannot read the vector: the offsets of a chunk do not ascend within its bytes (${what})`);
