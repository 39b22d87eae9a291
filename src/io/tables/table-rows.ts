/** Holds the rows between the input and the output: in memory if they fit, otherwise on disk. */

import type { Sorter } from '../../sort/api/sorter.js';
import type { SortReport } from '../../sort/model/report.js';
import { ByteStrings } from '../../sort/operations/strings/byte-strings.js';
import { insufficientMemory } from '../external/budget.js';
import { removeFolder, removeFolderNow, temporaryFolder } from '../external/temporary-folder.js';
import { type FileContext, type FileReport, orderingOptions } from '../file-sort/file-job.js';
import { onlyReport } from '../file-sort/sort-reports.js';
import type { Batch } from '../formats/subprocess/protocol.js';
import { assertNotAborted } from '../streams/raw.js';
import { measure } from '../streams/spans.js';
import { MIN_BYTES, ORDER_BYTES } from './policy.js';
import { LENGTH_BYTES } from './row-lengths.js';
import { type GatheredRows, RowRuns } from './row-runs.js';
import { RowSink, type RowWriter } from './row-sink.js';
import type { TableJob } from './table-job.js';
import { tablePositions, verifyOrder } from './table-order.js';

/** The options of a sort of rows whose codes are known. */
export type RowsJob = Pick<TableJob, 'out'> & Partial<Omit<TableJob, 'in' | 'by'>>;

/** Opens the writer of some rows; their number is undefined while unknown. */
export type OpenRows = (rows: number | undefined) => Promise<RowWriter>;

/** Report of a sort, without the fields of its reading phase. */
export type GatherReport = Omit<FileReport, 'descending' | 'argsort' | 'formats' | 'readSeconds' | 'table'>;

/** All rows: in memory if they fit, otherwise in runs. */
export class TableRows {
  readonly #sorter: Sorter;
  readonly #job: RowsJob;
  readonly #context: FileContext;
  readonly #reports: SortReport[] = [];
  #gathered: GatheredRows;
  #n = 0;
  #folder: string | undefined;
  #runs: RowRuns | undefined;

  constructor(sorter: Sorter, { job, context }: { readonly job: RowsJob; readonly context: FileContext }) {
    this.#sorter = sorter;
    this.#job = job;
    this.#context = context;
    this.#gathered = this.#none();
  }

  #none(): GatheredRows {
    const rows = new ByteStrings();
    const { unique, uniqueBy } = this.#job;
    return {
      rows,
      codes: new ByteStrings(),
      distinct: unique ? rows : uniqueBy === undefined ? undefined : new ByteStrings(),
    };
  }

  /** Statistics of the temporary files; undefined if all rows fitted into memory. */
  get facts(): RowRuns['facts'] | undefined {
    return this.#runs?.facts;
  }

  get #options() {
    return orderingOptions(this.#job, this.#context, (one) => this.#reports.push(one));
  }

  /**
   * Reads all rows, and spills them to runs when they exceed the memory limit.
   *
   * @param batches rows with their codes
   * @param total number of rows; undefined while unknown
   * @throws FormatError when an input is damaged
   * @throws IoError when reading or writing fails
   * @throws AbortedError when the signal is aborted
   * @throws UsageError when the memory limit is too low for temporary files
   */
  async read(batches: AsyncIterable<Batch>, total: number | undefined): Promise<void> {
    const { memory = Number.POSITIVE_INFINITY } = this.#job;
    const { signal, onProgress } = this.#context;
    let taken = 0;
    for await (const { rows, buffers } of batches) {
      assertNotAborted(signal);
      this.#n += rows;
      onProgress?.({ phase: 'reading', done: this.#n, total: total ?? this.#n });
      if (buffers.length === 0) continue; // all rows were left out
      const [codeLengths, codeBytes, rowLengths, rowBytes, lengths, bytes] = buffers as Uint8Array[];
      const kept = (codeLengths as Uint8Array).length / LENGTH_BYTES;
      const more = buffers.reduce((sum, { length }) => sum + length, 0) + kept * ORDER_BYTES;
      if (this.#gathered.rows.n > 0 && taken + more > (this.#runs?.runBytes ?? memory)) {
        await this.#spill();
        taken = 0;
      }
      taken += more;
      const { codes, rows: all, distinct } = this.#gathered;
      codes.add(codeLengths as Uint8Array, codeBytes as Uint8Array);
      all.add(rowLengths as Uint8Array, rowBytes as Uint8Array);
      if (lengths && bytes) distinct?.add(lengths, bytes);
    }
    if (this.#runs) await this.#spill();
  }

  /** Sorts the gathered rows into a run. */
  async #spill(): Promise<void> {
    this.#runs ??= await this.#openRuns();
    const gathered = this.#gathered;
    this.#gathered = this.#none();
    await this.#runs.add(gathered);
  }

  async #openRuns(): Promise<RowRuns> {
    const { memory = 0, out, tmp, head, verify = false } = this.#job;
    const { signal, temporaryFiles, onNote } = this.#context;
    if (memory < MIN_BYTES) throw insufficientMemory('sort the rows', memory, MIN_BYTES);
    const folder = await temporaryFolder({ name: 'rows', out, tmp }, temporaryFiles);
    this.#folder = folder;
    signal.addEventListener('abort', this.#onAbort, { once: true });
    onNote?.(
      `rows that do not fit in ${Math.ceil(memory / 2 ** 20)} MiB of memory are written to temporary files in ${folder}`,
    );
    return new RowRuns(this.#sorter, { folder, memory, head, verify, signal, options: this.#options });
  }

  readonly #onAbort = (): void => {
    if (this.#folder !== undefined) removeFolderNow(this.#folder);
  };

  /**
   * Writes the rows in sorted order.
   *
   * @param open opens their writer
   * @param columns number of columns, for the report
   */
  async sorted(open: OpenRows, columns = 1): Promise<GatherReport> {
    const { verify = false } = this.#job;
    if (!this.#runs) return this.#writeFromMemory(open, columns);
    const runs = this.#runs;
    const sink = await measure(async () => {
      const { head = Number.POSITIVE_INFINITY, unique, uniqueBy } = this.#job;
      const isDistinct = unique || uniqueBy !== undefined;
      const writer = await open(isDistinct ? undefined : Math.min(this.#n, head));
      const onRows = (done: number): void =>
        this.#context.onProgress?.({ phase: 'merging', done, total: Math.min(this.#n, head) });
      const to = new RowSink(writer, head, onRows);
      await runs.merge(to);
      await writer.end();
      return to;
    });
    const [{ rows }, writeSeconds] = sink;
    // The longest of the sorts is the most representative one.
    const report = this.#reports.reduce((a, b) => (b.seconds > a.seconds ? b : a));
    const seconds = this.#reports.reduce((sum, one) => sum + one.seconds, 0);
    return this.#sortReport(report, { seconds, writeSeconds }, [rows, columns], verify);
  }

  async #writeFromMemory(open: OpenRows, columns: number): Promise<GatherReport> {
    const { head, verify = false } = this.#job;
    const { rows, codes, distinct } = this.#gathered;
    const selection = { head, distinct };
    const options = this.#options;
    const [positions, seconds] = await measure(() => tablePositions(this.#sorter, codes, selection, options));
    const report = onlyReport(this.#reports);
    if (verify) verifyOrder(codes, positions);
    const [, writeSeconds] = await measure(async () => {
      const writer = await open(positions.length);
      const sink = new RowSink(writer, positions.length, () => assertNotAborted(this.#context.signal));
      await sink.addAll(rows, positions);
      await writer.end();
    });
    return this.#sortReport(report, { seconds, writeSeconds }, [positions.length, columns], verify);
  }

  #sortReport(
    { verified: _, ...report }: SortReport,
    seconds: Pick<GatherReport, 'seconds' | 'writeSeconds'>,
    shape: readonly number[],
    verify: boolean,
  ): GatherReport {
    return {
      ...report,
      ...seconds,
      ...(verify && { verified: { order: true, permutation: true } }), // a failed verification has thrown
      n: this.#n,
      shape,
    };
  }

  async close(): Promise<void> {
    this.#context.signal.removeEventListener('abort', this.#onAbort);
    if (this.#folder !== undefined) await removeFolder(this.#folder, this.#context.temporaryFiles);
  }
}
