/**
 * Rows that are more than fits into memory: as many as do are sorted and written as a run, and runs are merged. Keys are the codes of
 * rows with their numbers behind them, so that no two are equal and rows of equal codes stay as they were.
 *
 * Of rows that are equal in some columns the first one in order is found likewise, by a merge of runs whose keys begin with what is
 * to be equal; what is left of those is sorted by codes then.
 */
import { join } from 'node:path';
import type { SortOptions } from '../../sort/api/options.js';
import type { Sorter } from '../../sort/api/sorter.js';
import { runYielding } from '../../sort/host/steps.js';
import { argsortCodes } from '../code-order.js';
import type { ByteStrings } from './byte-strings.js';
import { distinctStrings } from './distinct-strings.js';
import type { EntrySink } from './entry.js';
import { EntrySum, sumSeeds } from './entry-sum.js';
import { FirstOfEqual } from './first-of-equal.js';
import { mergeRuns } from './merge-runs.js';
import { type Run, RunWriter } from './run-file.js';
import { shortlexCodes } from './shortlex.js';
import { tablePositions, verifyOrder } from './table-order.js';

/** Least and most bytes that are read of a run at a time. */
const MIN_WINDOW = 2 ** 16;
const MAX_WINDOW = 2 ** 22;

/** Parts of the memory that rows have, with all that their sort takes, and the windows of a merge. */
const ROWS_PART = 1 / 2;
const WINDOWS_PART = 1 / 4;

/** Rows of which all are in memory. */
export interface GatheredRows {
  readonly rows: ByteStrings;
  readonly codes: ByteStrings;
  /** What is to be equal of rows of which the first one is kept; undefined where all are. */
  readonly distinct: ByteStrings | undefined;
}

export interface RunsOptions {
  /** Where runs are. */
  readonly folder: string;
  /** Bytes that all of it may take. */
  readonly memory: number;
  readonly head: number | undefined;
  readonly verify: boolean;
  readonly signal: AbortSignal;
  readonly options: Omit<SortOptions, 'dtype' | 'descending' | 'nan' | 'bits' | 'device'>;
}

const NO_BYTES = new Uint8Array(0);

export class RowRuns {
  readonly #sorter: Sorter;
  readonly #how: RunsOptions;
  readonly #seeds: ReturnType<typeof sumSeeds> | undefined;
  #runs: Run[] = [];
  #made = 0;
  #rows = 0;
  #isDistinct = false;
  /** Whether what is to be equal of rows is all of them. */
  #isWhole = false;
  #spilledBytes = 0;
  #sortedRuns = 0;

  constructor(sorter: Sorter, how: RunsOptions) {
    this.#sorter = sorter;
    this.#how = how;
    this.#seeds = how.verify ? sumSeeds() : undefined;
  }

  /** Bytes of rows, with what their sort takes, that make a run. */
  get runBytes(): number {
    return this.#how.memory * ROWS_PART;
  }

  /** Bytes of temporary files that were written, and runs of them that rows were sorted into. */
  get facts(): { readonly runs: number; readonly spilledBytes: number } {
    return { runs: this.#sortedRuns, spilledBytes: this.#spilledBytes };
  }

  /** Sorts rows, the next ones in order, and writes them as a run. @throws what the Sorter throws; IoError, MismatchError */
  async add(gathered: GatheredRows): Promise<void> {
    const { rows, codes, distinct } = gathered;
    const first = this.#rows;
    this.#rows += rows.n;
    if (rows.n === 0) return;
    if (distinct) return this.#addDistinct(gathered, distinct, first);
    const { head, options, verify } = this.#how;
    const positions = await tablePositions(this.#sorter, codes, { head }, options);
    if (verify) verifyOrder(codes, positions);
    const number = new NumberBytes();
    await this.#writeRun(positions, (writer, row) =>
      writer.add([codes.at(row), number.of(first + row)], rows.at(row)),
    );
  }

  /** Keys are lengths of what is to be equal, this itself, codes and numbers. */
  async #addDistinct({ rows, codes }: GatheredRows, distinct: ByteStrings, first: number): Promise<void> {
    this.#isDistinct = true;
    const { options, signal } = this.#how;
    const kept = await runYielding(
      distinctStrings(distinct, (i, j) => codes.compare(i, j)),
      signal,
    );
    const order = await argsortCodes(this.#sorter, shortlexCodes(distinct, kept), options);
    const [length, number] = [new NumberBytes(4), new NumberBytes()];
    await this.#writeRun(order, (writer, i) => {
      const row = kept[i] as number;
      const key = distinct.at(row);
      return writer.add(
        [length.of(key.length), key, codes.at(row), number.of(first + row)],
        distinct === rows ? NO_BYTES : rows.at(row),
      );
    });
    this.#isWhole = distinct === rows;
  }

  /** Brings all to a sink, in order, as entries whose values are rows; afterwards there are none any more. */
  async merge(sink: EntrySink): Promise<void> {
    if (this.#isDistinct) await this.#keepFirst();
    await this.#reduce();
    await this.#mergeInto(sink);
  }

  /** Of entries that are equal in what is to be equal the first ones, as runs by their codes. */
  async #keepFirst(): Promise<void> {
    await this.#reduce();
    const { head, options } = this.#how;
    const runs: Run[] = [];
    const spill = async (codes: ByteStrings, rows: ByteStrings): Promise<void> => {
      const positions = await tablePositions(this.#sorter, codes, { head }, options);
      const write = (writer: RunWriter, i: number): boolean => writer.add([codes.at(i)], rows.at(i));
      runs.push(await this.#written(positions, write));
    };
    const sink = new FirstOfEqual(this.runBytes, this.#isWhole, spill);
    await this.#mergeInto(sink);
    await sink.end();
    this.#runs = runs;
  }

  /** Merges runs until all that are left can be merged at once. */
  async #reduce(): Promise<void> {
    const maxRuns = Math.max(2, Math.floor((this.#how.memory * WINDOWS_PART) / MIN_WINDOW));
    while (this.#runs.length > maxRuns) {
      const batch = this.#runs.splice(0, maxRuns);
      const writer = await this.#create();
      try {
        await mergeRuns(batch, writer, this.#mergeOptions(batch.length));
        this.#runs.push(this.#addRun(await writer.end()));
      } finally {
        await writer.leave();
      }
    }
  }

  async #mergeInto(sink: EntrySink): Promise<void> {
    const runs = this.#runs.splice(0);
    await mergeRuns(runs, sink, this.#mergeOptions(runs.length));
    await sink.flush();
  }

  #mergeOptions(runs: number) {
    const share = (this.#how.memory * WINDOWS_PART) / Math.max(1, runs);
    const window = Math.floor(Math.max(MIN_WINDOW, Math.min(MAX_WINDOW, share)));
    return { window, signal: this.#how.signal, seeds: this.#seeds };
  }

  async #writeRun(order: Uint32Array, write: (writer: RunWriter, i: number) => boolean): Promise<void> {
    this.#sortedRuns++;
    this.#runs.push(await this.#written(order, write));
  }

  async #written(order: Uint32Array, write: (writer: RunWriter, i: number) => boolean): Promise<Run> {
    const writer = await this.#create();
    try {
      for (const i of order) if (write(writer, i)) await writer.flush();
      return this.#addRun(await writer.end());
    } finally {
      await writer.leave();
    }
  }

  #create(): Promise<RunWriter> {
    const path = join(this.#how.folder, `run-${String(this.#made++).padStart(6, '0')}`);
    return RunWriter.create(path, this.#seeds && new EntrySum(this.#seeds));
  }

  #addRun(run: Run): Run {
    this.#spilledBytes += run.bytes;
    return run;
  }
}

/** Whole numbers as bytes, the highest first. */
class NumberBytes {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  /** @param width 4 or 8 */
  constructor(width: 4 | 8 = 8) {
    this.#bytes = new Uint8Array(width);
    this.#view = new DataView(this.#bytes.buffer);
  }

  /** Good until the next number is asked for. */
  of(number: number): Uint8Array {
    if (this.#bytes.length === 8) this.#view.setUint32(0, Math.floor(number / 2 ** 32));
    this.#view.setUint32(this.#bytes.length - 4, number >>> 0);
    return this.#bytes;
  }
}
