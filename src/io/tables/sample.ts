import type { Sorter } from '../../sort/api/sorter.js';
import { ByteStrings } from '../../sort/operations/strings/byte-strings.js';
import { UsageError } from '../../util/errors.js';
import { Random } from '../../util/random.js';
import type { Ratio } from '../../util/ratio.js';
import { assertWholeNumber } from '../../util/whole-number.js';
import { insufficientMemory } from '../external/budget.js';
import { type FileContext, orderingOptions } from '../file-sort/file-job.js';
import { assertNotAborted } from '../streams/raw.js';
import { BATCH_ROWS, ORDER_BYTES } from './policy.js';
import { CODE_BYTES, randomCodes } from './random-codes.js';
import { equalLengths, lengthList } from './row-lengths.js';
import { RowSink, type RowWriter } from './row-sink.js';
import { type RowBatch, type RowJob, type RowSource, withRows } from './row-source.js';
import { tablePositions } from './table-order.js';

/** Inputs, output, and the size of the sample: `count` or `fraction`. */
export interface SampleJob extends RowJob {
  /** Seed of 64 bits. */
  readonly seed: bigint;
  /** Number of rows to select; all rows if there are fewer. */
  readonly count?: number | undefined;
  /** Probability of each row to be selected, from 0 to 1. */
  readonly fraction?: Ratio | undefined;
  /** Memory limit in bytes for the selected rows. Default: no limit. */
  readonly memory?: number | undefined;
}

export interface SampleReport extends Pick<RowSource, 'formats' | 'noun'> {
  /** Number of rows in the input. */
  readonly n: number;
  readonly written: number;
}

/**
 * Writes a random sample of the rows of files, without replacement and in the order of the input.
 *
 * Each row gets the next 64-bit number of the generator {@link Random} (sfc32). With `count`, the rows with the smallest
 * numbers are selected: those that `shuffleFile` puts first with the same seed. With `fraction`, rows are selected whose
 * number is below that part of 2^64, so that the size of the sample varies. The sample depends on the seed and the number
 * of rows only. Every sample of the size is equally likely as far as the numbers are random and distinct; two of n are
 * equal with a probability below n² / 2^65.
 *
 * The rows are read once. With `count`, at most twice as many and a batch are in memory. Source of the algorithm: E. Cohen,
 * "Size-estimation framework with applications to transitive closure and reachability" (1997), bottom-k sketches.
 * Complexity: O(n).
 *
 * @param sorter selects the smallest numbers
 * @param job inputs, output, size and seed
 * @param context streams, signal and callbacks
 * @throws the errors of `withRows` and of the sorter
 * @throws UsageError when not exactly one of `count` and `fraction` is given, one is invalid, or the rows exceed the memory
 *   limit
 */
export async function sampleFile(
  sorter: Sorter,
  job: SampleJob,
  context: FileContext,
): Promise<SampleReport> {
  const { count, fraction } = job;
  if ((count === undefined) === (fraction === undefined)) {
    throw new UsageError('cannot sample: the size is not defined. Pass either count or fraction');
  }
  if (count !== undefined) assertWholeNumber('count', count, { min: 0 });
  return withRows(job, context, async (source, output) => {
    const { formats, noun } = source;
    const random = new Random(job.seed);
    const selection = fraction
      ? new FractionSample(fraction, await source.create(output, undefined))
      : new CountSample(sorter, job, context);
    let n = 0;
    for await (const batch of source.batches()) {
      assertNotAborted(context.signal);
      n += batch.rows;
      await selection.add(rowsBelow(batch, randomCodes(random, batch), selection.limit));
      context.onProgress?.({ phase: 'reading', done: n, total: source.total ?? n });
    }
    const written = await selection.end((rows) => source.create(output, rows));
    return { n, written, formats, noun };
  });
}

/** A number of 64 bits, or 2^64: the upper and the lower 32 bits. */
interface Limit {
  readonly high: number;
  readonly low: number;
}

const NO_LIMIT: Limit = { high: 2 ** 32, low: 0 };

interface CodedRows extends RowBatch {
  readonly codes: Uint8Array;
}

/** Returns the rows of a batch whose codes are below a limit. */
function rowsBelow(batch: RowBatch, codes: Uint8Array, { high, low }: Limit): CodedRows {
  const numbers = new DataView(codes.buffer);
  const lengths = new Uint32Array(batch.lengths.slice().buffer);
  const selected: number[] = [];
  let bytes = 0;
  for (let row = 0; row < batch.rows; row++) {
    const first = numbers.getUint32(row * CODE_BYTES);
    if (first > high || (first === high && numbers.getUint32(row * CODE_BYTES + 4) >= low)) continue;
    selected.push(row);
    bytes += lengths[row] as number;
  }
  if (selected.length === batch.rows) return { ...batch, codes };
  const to = { codes: new Uint8Array(selected.length * CODE_BYTES), bytes: new Uint8Array(bytes) };
  let [row, begin, end] = [0, 0, 0];
  for (const [i, one] of selected.entries()) {
    for (; row < one; row++) begin += lengths[row] as number;
    const length = lengths[one] as number;
    to.bytes.set(batch.bytes.subarray(begin, begin + length), end);
    to.codes.set(codes.subarray(one * CODE_BYTES, (one + 1) * CODE_BYTES), i * CODE_BYTES);
    end += length;
  }
  return { rows: selected.length, lengths: lengthList(selected.map((one) => lengths[one] as number)), ...to };
}

/** Writes each selected row at once. */
class FractionSample {
  readonly limit: Limit;
  readonly #writer: RowWriter;
  #written = 0;

  constructor({ numerator, denominator }: Ratio, writer: RowWriter) {
    const limit = (numerator * 2n ** 64n) / denominator;
    this.limit = { high: Number(limit >> 32n), low: Number(limit & 0xffff_ffffn) };
    this.#writer = writer;
  }

  async add({ rows, bytes }: CodedRows): Promise<void> {
    this.#written += rows;
    if (rows > 0) await this.#writer.write(rows, bytes);
  }

  /** @returns the number of rows written */
  async end(): Promise<number> {
    await this.#writer.end();
    return this.#written;
  }
}

/** Keeps the rows with the smallest codes. */
class CountSample {
  /** The largest code that is kept, or no limit while there are fewer rows. */
  limit: Limit;
  readonly #sorter: Sorter;
  readonly #count: number;
  readonly #memory: number;
  readonly #context: FileContext;
  #rows = new ByteStrings();
  #codes = new ByteStrings();
  #bytes = 0;

  constructor(
    sorter: Sorter,
    { count = 0, memory = Number.POSITIVE_INFINITY }: Pick<SampleJob, 'count' | 'memory'>,
    context: FileContext,
  ) {
    this.#sorter = sorter;
    this.#count = count;
    this.#memory = memory;
    this.#context = context;
    this.limit = count === 0 ? { high: 0, low: 0 } : NO_LIMIT;
  }

  async add({ rows, codes, lengths, bytes }: CodedRows): Promise<void> {
    this.#rows.add(lengths, bytes);
    this.#codes.add(equalLengths(rows, CODE_BYTES), codes);
    this.#bytes += bytes.length + rows * (CODE_BYTES + ORDER_BYTES);
    if (this.#rows.n > 2 * this.#count || this.#bytes > this.#memory) await this.#reduce();
    if (this.#bytes <= this.#memory) return;
    const least = Math.ceil((this.#bytes / this.#rows.n) * (2 * this.#count + BATCH_ROWS));
    throw insufficientMemory(`sample ${this.#count} rows`, this.#memory, least);
  }

  /** Returns the positions of the rows to keep, in order. */
  async #kept(): Promise<Uint32Array> {
    const options = orderingOptions({}, this.#context);
    const byCode = await tablePositions(this.#sorter, this.#codes, { head: this.#count }, options);
    const last = byCode[this.#count - 1];
    if (last !== undefined) {
      const code = this.#codes.at(last);
      const number = new DataView(code.buffer, code.byteOffset);
      this.limit = { high: number.getUint32(0), low: number.getUint32(4) };
    }
    return byCode.toSorted();
  }

  /** Drops the rows that are not among those with the smallest codes. */
  async #reduce(): Promise<void> {
    const kept = await this.#kept();
    this.#rows = copyOf(this.#rows, kept);
    this.#codes = copyOf(this.#codes, kept);
    this.#bytes = kept.length * (CODE_BYTES + ORDER_BYTES);
    for (let i = 0; i < kept.length; i++) this.#bytes += this.#rows.length(i);
  }

  /**
   * Writes the rows.
   *
   * @returns their number
   */
  async end(create: (rows: number) => Promise<RowWriter>): Promise<number> {
    const kept = await this.#kept();
    const writer = await create(kept.length);
    const sink = new RowSink(writer, kept.length, () => assertNotAborted(this.#context.signal));
    await sink.addAll(this.#rows, kept);
    await writer.end();
    return kept.length;
  }
}

/** Returns the strings at some positions, in memory of their own. */
function copyOf(strings: ByteStrings, positions: Uint32Array): ByteStrings {
  const copy = new ByteStrings();
  for (let first = 0; first < positions.length; first += BATCH_ROWS) {
    const some = Array.from(positions.subarray(first, first + BATCH_ROWS), (i) => strings.at(i));
    copy.add(lengthList(some.map(({ length }) => length)), Buffer.concat(some));
  }
  return copy;
}
