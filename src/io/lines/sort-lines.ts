/** Sorting, merging and checking of lines, as sort(1) does. */
import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { SorterOperations } from '../../sort/api/sorter-operations.js';
import { loadTableFunctions } from '../../sort/host/native-tables.js';
import { MemoryError } from '../../util/errors.js';
import { nameFacts } from '../formats/file-name.js';
import { decompressedSource } from '../streams/compression.js';
import { type Output, type OutputContext, withOutput } from '../streams/output.js';
import { ioError, isStdin, openSource } from '../streams/raw.js';
import { temporaryName } from '../streams/temporary-files.js';
import type { LineOrder } from './line-order.js';
import { numberAt, type Text } from './line-text.js';
import { LineWriter } from './line-writer.js';
import { Lines } from './lines.js';

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

/** Memory per byte of lines, with their positions, codes and the output. */
const MEMORY_FACTOR = 6;
const MAX_PART_BYTES = 2 ** 31 - 1;

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

/** Writes merged lines. */
async function writeLines(
  lines: AsyncIterable<Text>,
  { order, unique, terminator }: Pick<LineJob, 'order' | 'unique' | 'terminator'>,
  out: Output,
): Promise<void> {
  const writer = new LineWriter(out, terminator);
  let last: Text | undefined;
  for await (const line of lines) {
    if (unique && last && order.compareKeys(last, line) === 0) continue;
    last = line;
    await writer.add(line);
  }
  await writer.flush();
}

/**
 * Sorts the lines of files to one output.
 *
 * Lines that exceed the memory are sorted in parts, which go to temporary files and are merged.
 *
 * @throws IoError when reading or writing fails
 */
export async function sortLines(job: LineJob, sorter: SorterOperations, context: LineContext): Promise<void> {
  await loadTableFunctions();
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
      const last = await part.lines.sorted(part.codes, order, job.unique, sorter);
      if (runs.length === 0) return last.write(out);
      const inputs = [...runs.map((run) => linesOf([run], job, context)), last[Symbol.iterator]()];
      return writeLines(merged(await headsOf(inputs), order), { ...job, order }, out);
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
    await withOutput(path, context, async (out) => {
      const lines = await part.lines.sorted(part.codes, order, job.unique, sorter);
      await lines.write(out);
    });
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
