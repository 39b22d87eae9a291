/**
 * External merge sort of rows that do not fit into memory. Batches that fit are sorted and written as runs, which are
 * then merged. Keys are row codes followed by row numbers, so that keys are unique and the sort is stable.
 *
 * For distinct rows, a first merge of runs, whose keys start with the distinct bytes, finds the first row of each
 * group. The remaining rows are then sorted by their codes.
 */
import { join } from 'node:path';
import type { Sorter } from '../../sort/api/sorter.js';
import { ElementSum, randomSeeds } from '../../sort/host/element-sum.js';
import { runYielding } from '../../sort/host/steps.js';
import type { SortOptions } from '../../sort/model/options.js';
import type { ByteStrings } from '../../sort/operations/strings/byte-strings.js';
import { argsortCodes } from '../../sort/operations/strings/code-order.js';
import { distinctStrings } from './distinct-strings.js';
import type { EntrySink } from './entry.js';
import { FirstOfEqual } from './first-of-equal.js';
import { mergeRuns } from './merge-runs.js';
import { MAX_WINDOW, MIN_WINDOW, ROWS_PART, WINDOWS_PART } from './policy.js';
import { type Run, RunWriter } from './run-file.js';
import { shortlexCodes } from './shortlex.js';
import { tablePositions, verifyOrder } from './table-order.js';

/** Rows in memory. */
export interface GatheredRows {
  readonly rows: ByteStrings;
  readonly codes: ByteStrings;
  /** The bytes that define equality of rows, of which only the first is kept; undefined to keep all rows. */
  readonly distinct: ByteStrings | undefined;
}

export interface RunsOptions {
  /** Folder for the runs. */
  readonly folder: string;
  /** Memory limit in bytes. */
  readonly memory: number;
  readonly head: number | undefined;
  readonly verify: boolean;
  readonly signal: AbortSignal;
  readonly options: Omit<SortOptions, 'dtype' | 'descending' | 'nan' | 'bitRange' | 'device'>;
}

const NO_BYTES = new Uint8Array(0);

export class RowRuns {
  readonly #sorter: Sorter;
  readonly #how: RunsOptions;
  readonly #seeds: ReturnType<typeof randomSeeds> | undefined;
  #runs: Run[] = [];
  #made = 0;
  #rows = 0;
  #isDistinct = false;
  /** Whether the distinct bytes are the whole row. */
  #isWhole = false;
  #spilledBytes = 0;
  #sortedRuns = 0;

  constructor(sorter: Sorter, how: RunsOptions) {
    this.#sorter = sorter;
    this.#how = how;
    this.#seeds = how.verify ? randomSeeds() : undefined;
  }

  /** Size of a run in bytes, including the memory for its sort. */
  get runBytes(): number {
    return this.#how.memory * ROWS_PART;
  }

  /** Bytes written to temporary files, and number of sorted runs. */
  get facts(): { readonly runs: number; readonly spilledBytes: number } {
    return { runs: this.#sortedRuns, spilledBytes: this.#spilledBytes };
  }

  /**
   * Sorts the next rows and writes them as a run.
   *
   * @throws IoError when the run cannot be written
   * @throws MismatchError when verification fails
   * @throws the errors of the Sorter
   */
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

  /** Keys are: length of the distinct bytes, distinct bytes, code, row number. */
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

  /** Merges all runs into a sink, in order. The values of the entries are rows. Afterwards there are no runs left. */
  async merge(sink: EntrySink): Promise<void> {
    if (this.#isDistinct) await this.#keepFirst();
    await this.#reduce();
    await this.#mergeInto(sink);
  }

  /** Reduces groups of rows with equal distinct bytes to their first row, as runs that are sorted by code. */
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

  /** Merges runs until the rest can be merged in one pass. */
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
    return RunWriter.create(path, this.#seeds && new ElementSum(this.#seeds));
  }

  #addRun(run: Run): Run {
    this.#spilledBytes += run.bytes;
    return run;
  }
}

/** Encodes integers as big-endian bytes. */
class NumberBytes {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  /** @param width  4 or 8 bytes */
  constructor(width: 4 | 8 = 8) {
    this.#bytes = new Uint8Array(width);
    this.#view = new DataView(this.#bytes.buffer);
  }

  /** Returns a view that is valid until the next call. */
  of(number: number): Uint8Array {
    if (this.#bytes.length === 8) this.#view.setUint32(0, Math.floor(number / 2 ** 32));
    this.#view.setUint32(this.#bytes.length - 4, number >>> 0);
    return this.#bytes;
  }
}
