/** Sorting, merging and checking of lines, as sort(1) does. */
import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { SorterOperations } from '../../sort/api/sorter-operations.js';
import { MemoryError } from '../../util/errors.js';
import { nameFacts } from '../formats/file-name.js';
import { decompressedSource } from '../streams/compression.js';
import { type Output, type OutputContext, openOutput } from '../streams/output.js';
import { ioError, isStdin, openSource } from '../streams/raw.js';
import { temporaryName } from '../streams/temporary-files.js';
import type { LineOrder } from './line-order.js';
import { numberAt, type Text } from './line-text.js';

export interface LineJob {
  readonly in: readonly string[];
  readonly out: string;
  readonly order: LineOrder;
  /** Order for files in which each line is a number; undefined when the options define the order. */
  readonly numberOrder: LineOrder | undefined;
  /** The byte that ends a line: a line feed, or zero with -z. */
  readonly terminator: number;
  readonly unique: boolean;
  /** Memory for lines, in bytes: larger inputs are sorted in parts that are merged. */
  readonly memory: number;
  /** Folder of temporary files. */
  readonly tmp: string | undefined;
}

type LineEnd = Pick<LineJob, 'terminator'>;

export interface LineContext extends OutputContext {
  readonly stdin: Readable;
}

const OUTPUT_BYTES = 2 ** 22;
/** Memory per byte of lines, with their positions, codes and the output. */
const MEMORY_FACTOR = 6;
const MAX_PART_BYTES = 2 ** 31 - 1;

/** Collects lines and writes them in large pieces. */
class LineWriter {
  readonly #out: Output;
  readonly #terminator: number;
  #buffer = Buffer.allocUnsafe(OUTPUT_BYTES);
  #length = 0;

  constructor(out: Output, terminator: number) {
    this.#out = out;
    this.#terminator = terminator;
  }

  /** Adds a line; returns a promise when the buffer must be written first. */
  add(line: Text): Promise<void> | undefined {
    return this.copy(line.bytes, line.begin, line.end) ? undefined : this.#addAfterFlush(line);
  }

  /** Adds a line if there is space for it, and returns whether there was. */
  copy(bytes: Buffer, begin: number, end: number): boolean {
    const to = this.#buffer;
    let at = this.#length;
    if (at + end - begin >= to.length) return false;
    if (end - begin <= 32) for (let i = begin; i < end; i++) to[at++] = bytes[i] as number;
    else at += bytes.copy(to, at, begin, end);
    to[at] = this.#terminator;
    this.#length = at + 1;
    return true;
  }

  async #addAfterFlush(line: Text): Promise<void> {
    await this.flush();
    const length = line.end - line.begin + 1;
    if (length > this.#buffer.length) this.#buffer = Buffer.allocUnsafe(length);
    this.add(line);
  }

  async flush(): Promise<void> {
    await this.#out.write(this.#buffer.subarray(0, this.#length));
    this.#length = 0;
    this.#buffer = Buffer.allocUnsafe(this.#buffer.length); // the output may still read the old one
  }
}

/** Yields the decompressed pieces of the inputs; a file whose last line is not terminated gets its terminator. */
async function* piecesOf(paths: readonly string[], { terminator }: LineEnd, context: LineContext) {
  for (const path of paths) {
    const source = await openSource(path, context.stdin, context.signal);
    try {
      const { compression } = isStdin(path) ? { compression: undefined } : await nameFacts(path);
      const plain = compression ? decompressedSource(source, compression, context.signal) : source;
      let last: number | undefined;
      for await (const piece of plain.pieces(1)) {
        last = piece.at(-1) ?? last;
        yield piece;
      }
      if (last !== undefined && last !== terminator) yield Uint8Array.of(terminator);
    } finally {
      await source.close();
    }
  }
}

/** Yields the inputs in parts of whole lines, each of about `maxBytes` bytes. */
export async function* partsOfLines(
  paths: readonly string[],
  job: LineEnd,
  context: LineContext,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of piecesOf(paths, job, context)) {
    pieces.push(piece);
    length += piece.length;
    if (length < maxBytes) continue;
    const all = Buffer.concat(pieces);
    const end = all.lastIndexOf(job.terminator) + 1;
    if (end === 0) {
      if (length >= MAX_PART_BYTES) throw new MemoryError('cannot sort lines: a line is longer than 2 GB');
      pieces = [all];
      continue;
    }
    yield all.subarray(0, end);
    pieces = [all.subarray(end)];
    length = all.length - end;
  }
  if (length > 0) yield Buffer.concat(pieces);
}

/** Yields the lines of the inputs in turn. */
async function* linesOf(paths: readonly string[], job: LineJob, context: LineContext): AsyncGenerator<Text> {
  for await (const bytes of partsOfLines(paths, job, context, PART_OF_MERGE)) {
    for (let begin = 0; begin < bytes.length; ) {
      const end = bytes.indexOf(job.terminator, begin);
      yield { bytes, begin, end };
      begin = end + 1;
    }
  }
}
const PART_OF_MERGE = 2 ** 20;

/** The lines of one part. */
class Lines {
  readonly #bytes: Buffer;
  /** Begin and end of each line. */
  readonly #spans: Uint32Array<ArrayBuffer>;
  readonly count: number;

  constructor(bytes: Buffer, terminator: number) {
    let spans = new Uint32Array(2 ** 10);
    let count = 0;
    let begin = 0;
    for (let i = 0; i < bytes.length; i++) {
      if (bytes[i] !== terminator) continue;
      if (2 * count === spans.length) {
        const larger = new Uint32Array(2 * spans.length);
        larger.set(spans);
        spans = larger;
      }
      spans[2 * count] = begin;
      spans[2 * count + 1] = i;
      count++;
      begin = i + 1;
    }
    this.#bytes = bytes;
    this.#spans = spans.slice(0, 2 * count);
    this.count = count;
  }

  at(i: number): Text {
    return {
      bytes: this.#bytes,
      begin: this.#spans[2 * i] as number,
      end: this.#spans[2 * i + 1] as number,
    };
  }

  /** Returns the code of each line by an order. */
  codes(order: LineOrder): Float64Array {
    const codes = new Float64Array(this.count);
    for (let i = 0; i < this.count; i++) codes[i] = order.codeOf(this.at(i));
    return codes;
  }

  /** Returns the number of each line; undefined when a line is no number. */
  numbers(): Float64Array | undefined {
    const numbers = new Float64Array(this.count);
    const [bytes, spans] = [this.#bytes, this.#spans];
    for (let i = 0; i < this.count; i++) {
      const number =
        shortDecimal(bytes, spans[2 * i] as number, spans[2 * i + 1] as number) ??
        numberAt(this.at(i), true, true);
      if (number === undefined) return undefined;
      numbers[i] = number;
    }
    return numbers;
  }

  /** Sorts the lines by their codes. The codes and the positions of the lines are used up. */
  async sorted(codes: Float64Array, order: LineOrder, sorter: SorterOperations): Promise<SortedLines> {
    const descending = order.isReverse;
    // Begins and ends travel with the codes: looking them up afterwards would miss the processor's cache.
    const spans = new BigUint64Array(this.#spans.buffer);
    const nan = descending ? 'last' : 'first';
    const { keys, values } = await sorter.sortPairs(codes, spans, { descending, nan });
    return new SortedLines(
      this.#bytes,
      keys,
      new Uint32Array(values.buffer, values.byteOffset, 2 * this.count),
      order,
    );
  }
}

/** Lines that are read ahead: they fit the first cache of a processor. */
const TOUCHED = 128;

/** The lines of one part, by their codes; those with equal codes are compared when they are visited. */
class SortedLines {
  readonly #bytes: Buffer;
  readonly #codes: Float64Array;
  readonly #spans: Uint32Array;
  readonly #order: LineOrder;
  #sum = 0;

  constructor(bytes: Buffer, codes: Float64Array, spans: Uint32Array, order: LineOrder) {
    this.#bytes = bytes;
    this.#codes = codes;
    this.#spans = spans;
    this.#order = order;
  }

  #at(i: number): Text {
    return { bytes: this.#bytes, begin: this.#spans[2 * i] as number, end: this.#spans[2 * i + 1] as number };
  }

  /** Yields the lines in order. */
  *[Symbol.iterator](): Generator<Text> {
    for (let begin = 0; begin < this.#codes.length; ) {
      const end = this.#endOfEqual(begin);
      if (end === begin + 1) yield this.#at(begin);
      else yield* this.#equal(begin, end);
      begin = end;
    }
  }

  /** Writes the lines in order, without an object for each. */
  async write(writer: LineWriter): Promise<void> {
    const [bytes, spans, codes] = [this.#bytes, this.#spans, this.#codes];
    let touched = 0;
    for (let begin = 0; begin < codes.length; ) {
      if (begin >= touched) touched = this.#touch(begin);
      // Mostly a code differs from the next one. NaN never equals itself, so it is looked at more closely.
      const code = codes[begin] as number;
      if (code < (codes[begin + 1] as number) || code > (codes[begin + 1] as number)) {
        const isCopied = writer.copy(bytes, spans[2 * begin] as number, spans[2 * begin + 1] as number);
        if (!isCopied) await writer.add(this.#at(begin));
        begin++;
        continue;
      }
      const end = this.#endOfEqual(begin);
      for (const line of this.#equal(begin, end)) await writer.add(line);
      begin = end;
    }
    await writer.flush();
  }

  /**
   * Reads a byte of each of the next lines: the processor fetches them at the same time, and later copies them without
   * waiting for memory.
   *
   * @returns the position after these lines
   */
  #touch(begin: number): number {
    const [bytes, spans] = [this.#bytes, this.#spans];
    const end = Math.min(begin + TOUCHED, this.#codes.length);
    let sum = 0;
    for (let i = begin; i < end; i++) sum += bytes[spans[2 * i] as number] as number;
    this.#sum = (this.#sum + sum) & 0xff; // the reads must not be optimised away
    return end;
  }

  #endOfEqual(begin: number): number {
    const codes = this.#codes;
    const code = codes[begin] as number;
    let end = begin + 1;
    // NaN is no number in either order.
    while (end < codes.length && (codes[end] === code || (Number.isNaN(code) && Number.isNaN(codes[end]))))
      end++;
    return end;
  }

  #equal(begin: number, end: number): Text[] {
    const lines = Array.from({ length: end - begin }, (_, i) => this.#at(begin + i));
    return lines.sort((a, b) => this.#order.compare(a, b));
  }
}

/** Parses a decimal of up to 15 digits and nothing else; undefined for everything else. */
function shortDecimal(bytes: Uint8Array, begin: number, end: number): number | undefined {
  const isNegative = bytes[begin] === 0x2d;
  let mantissa = 0;
  let digits = 0;
  let point = end;
  for (let at = isNegative ? begin + 1 : begin; at < end; at++) {
    const digit = (bytes[at] as number) - 0x30;
    if (digit >= 0 && digit <= 9) {
      mantissa = mantissa * 10 + digit;
      digits++;
    } else if (digit === -2 && point === end) point = at;
    else return undefined;
  }
  if (digits === 0 || digits > 15 || mantissa === 0) return undefined;
  const value = point === end ? mantissa : mantissa / (POWERS[end - point - 1] as number);
  return isNegative ? -value : value;
}

const POWERS = Array.from({ length: 16 }, (_, i) => 10 ** i);

/** The next line of an input, and the position of the input among the others. */
interface Head {
  readonly line: Text;
  readonly input: Iterator<Text> | AsyncIterator<Text>;
  readonly rank: number;
}

async function headsOf(inputs: readonly Head['input'][]): Promise<Head[]> {
  const heads: Head[] = [];
  for (const [rank, input] of inputs.entries()) {
    const { value, done } = await input.next();
    if (!done) heads.push({ line: value, input, rank });
  }
  return heads;
}

/** Yields the lines of sorted inputs in order; of equal ones, those of earlier inputs first. */
async function* merged(unsorted: readonly Head[], order: LineOrder): AsyncGenerator<Text> {
  const compare = (a: Head, b: Head) => order.compare(a.line, b.line) || a.rank - b.rank;
  const heads = unsorted.toSorted(compare);
  const insert = (head: Head) => {
    let [low, high] = [0, heads.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(heads[middle] as Head, head) < 0) low = middle + 1;
      else high = middle;
    }
    heads.splice(low, 0, head);
  };
  for (let head = heads.shift(); head; head = heads.shift()) {
    yield head.line;
    const { value, done } = await head.input.next();
    if (!done) insert({ ...head, line: value });
  }
}

interface Part {
  readonly lines: Lines;
  readonly codes: Float64Array;
}

async function writeLines(
  lines: Iterable<Text> | AsyncIterable<Text>,
  { order, unique, terminator }: Pick<LineJob, 'order' | 'unique' | 'terminator'>,
  out: Output,
): Promise<void> {
  const writer = new LineWriter(out, terminator);
  let last: Text | undefined;
  const add = (line: Text): Promise<void> | undefined => {
    if (unique && last && order.compareKeys(last, line) === 0) return undefined;
    last = line;
    return writer.add(line);
  };
  // An await for each line would take longer than the rest.
  if (Symbol.iterator in lines) {
    for (const line of lines) {
      const full = add(line);
      if (full) await full;
    }
  } else {
    for await (const line of lines) await add(line);
  }
  await writer.flush();
}

/** Writes an output that `write` fills, or nothing. */
async function withOutput(
  path: string,
  context: OutputContext,
  write: (out: Output) => Promise<void>,
): Promise<void> {
  const out = await openOutput(path, context);
  try {
    await write(out);
    await out.commit();
  } finally {
    out.discard();
  }
}

/**
 * Sorts the lines of files to one output.
 *
 * Lines that exceed the memory are sorted in parts, which go to temporary files and are merged.
 *
 * @throws IoError when reading or writing fails
 */
export async function sortLines(job: LineJob, sorter: SorterOperations, context: LineContext): Promise<void> {
  const maxBytes = Math.min(MAX_PART_BYTES, Math.max(2 ** 16, Math.floor(job.memory / MEMORY_FACTOR)));
  const runs: string[] = [];
  let { order } = job;
  try {
    let part: Part | undefined;
    for await (const bytes of partsOfLines(job.in, job, context, maxBytes)) {
      if (part) runs.push(await writeRun(part));
      const lines = new Lines(bytes, job.terminator);
      const numbers = job.numberOrder && runs.length === 0 && !part ? lines.numbers() : undefined;
      if (numbers && job.numberOrder) order = job.numberOrder;
      part = { lines, codes: numbers ?? lines.codes(order) };
    }
    await withOutput(job.out, context, async (out) => {
      if (!part) return out.write(new Uint8Array(0));
      const last = await part.lines.sorted(part.codes, order, sorter);
      if (runs.length === 0 && !job.unique) return last.write(new LineWriter(out, job.terminator));
      const runsOf = runs.map((run) => linesOf([run], job, context));
      const inputs = [...runsOf, last[Symbol.iterator]()];
      const all = runs.length === 0 ? last : merged(await headsOf(inputs), order);
      return writeLines(all, { ...job, order }, out);
    });
  } finally {
    for (const run of runs) await rm(run, { force: true });
  }

  async function writeRun(part: Part): Promise<string> {
    const path = join(job.tmp ?? tmpdir(), temporaryName(`lines-${runs.length}`));
    context.temporaryFiles?.add(path);
    try {
      await (await open(path, 'wx', 0o600)).close();
    } catch (error) {
      throw ioError('write', path, error);
    }
    await withOutput(path, context, (out) =>
      part.lines.sorted(part.codes, order, sorter).then((lines) => writeLines(lines, { ...job, order }, out)),
    );
    return path;
  }
}

const isNumber = (line: Text): boolean => numberAt(line, true, true) !== undefined;

/** Merges sorted files to one output. Files are merged as numbers when their first lines are numbers. */
export async function mergeLines(job: LineJob, context: LineContext): Promise<void> {
  await withOutput(job.out, context, async (out) => {
    const heads = await headsOf(job.in.map((path) => linesOf([path], job, context)));
    const order = (heads.every(({ line }) => isNumber(line)) && job.numberOrder) || job.order;
    await writeLines(merged(heads, order), { ...job, order }, out);
  });
}

/**
 * Finds the first line that is out of order.
 *
 * @returns its number, from 1, and its text; undefined when the file is sorted
 */
export async function findDisorder(
  job: LineJob,
  context: LineContext,
): Promise<{ readonly number: number; readonly text: Buffer } | undefined> {
  let last: Text | undefined;
  let number = 0;
  let { order } = job;
  for await (const line of linesOf(job.in, job, context)) {
    number++;
    if (!last && job.numberOrder && isNumber(line)) order = job.numberOrder;
    const difference = last ? order.compare(last, line) : -1;
    if (difference > 0 || (job.unique && difference === 0))
      return { number, text: line.bytes.subarray(line.begin, line.end) };
    last = line;
  }
  return undefined;
}
