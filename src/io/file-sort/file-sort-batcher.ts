/** Combines the small arrays of several files into one sort, to share the cost of a transfer to the device. */
import type { Dtype, KeyArray } from '../../keys/dtype.js';
import type { SorterOperations } from '../../sort/api/sorter-operations.js';
import type { SortOptions } from '../../sort/model/options.js';
import type { SortReport } from '../../sort/model/report.js';
import { MAX_ARRAY_BYTES, MAX_BATCH_BYTES } from './policy.js';
import { onlyReport } from './sort-reports.js';

type BatchSorter = Pick<SorterOperations, 'sort' | 'sortMany'>;

/** The sort options that arrays must share to be sorted together. */
type Order = Pick<SortOptions, 'descending' | 'nan' | 'bitRange'> & { readonly dtype: Dtype };

const orderOf = ({
  dtype,
  descending = false,
  nan = 'last',
  bitRange,
}: SortOptions & { dtype: Dtype }): Order => ({ dtype, descending, nan, ...(bitRange && { bitRange }) });

interface PendingArray {
  readonly keys: KeyArray;
  readonly options: SortOptions & { readonly dtype: Dtype };
  readonly resolve: (sorted: KeyArray) => void;
  readonly reject: (error: unknown) => void;
}

/** Collects arrays while the device sorts earlier ones. */
export class FileSortBatcher {
  readonly #sorter: BatchSorter;
  readonly #waiting = new Map<string, PendingArray[]>();
  #isRunning = false;

  constructor(sorter: BatchSorter) {
    this.#sorter = sorter;
  }

  /** Whether an array is small enough and its options allow a combined sort. */
  accepts(
    keys: KeyArray,
    { verify = false, algorithm = 'auto', advanced: { scan = 'auto', radixBits, tuning } = {} }: SortOptions,
  ): boolean {
    const isOpen = algorithm === 'auto' && scan === 'auto' && (radixBits ?? tuning) === undefined && !verify;
    return isOpen && keys.length > 0 && keys.byteLength <= MAX_ARRAY_BYTES;
  }

  /**
   * Sorts as `Sorter.sort` does.
   *
   * @throws the same errors as `Sorter.sort`
   */
  sort(keys: KeyArray, options: SortOptions & { readonly dtype: Dtype }): Promise<KeyArray> {
    return new Promise((resolve, reject) => {
      const name = JSON.stringify(orderOf(options));
      const others = this.#waiting.get(name) ?? [];
      this.#waiting.set(name, others);
      others.push({ keys, options, resolve, reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      setImmediate(() => void this.#run()); // collects the files that arrive in this turn of the event loop
    });
  }

  async #run(): Promise<void> {
    for (let next = this.#next(); next; next = this.#next()) await this.#sortAll(next);
    this.#isRunning = false;
  }

  #next(): PendingArray[] | undefined {
    for (const [name, waiting] of this.#waiting) {
      let bytes = 0;
      const count = waiting.findIndex(({ keys }) => {
        bytes += keys.byteLength;
        return bytes > MAX_BATCH_BYTES;
      });
      const taken = waiting.splice(0, count < 0 ? waiting.length : count);
      if (waiting.length === 0) this.#waiting.delete(name);
      return taken;
    }
    return undefined;
  }

  async #sortAll(all: readonly PendingArray[]): Promise<void> {
    const [first] = all;
    if (first && all.length > 1) {
      try {
        const arrays = all.map(({ keys }) => keys);
        const reports: SortReport[] = [];
        const options = { ...orderOf(first.options), onReport: (one: SortReport) => void reports.push(one) };
        const sorted = await this.#sorter.sortMany(arrays, options);
        for (const [i, one] of all.entries()) {
          if (reports.length > 0) one.options.onReport?.(reportShare(reports, one.keys.length, arrays));
          one.resolve(sorted[i] as KeyArray);
        }
        return;
      } catch {
        // Sort each array separately, so that only the array that caused the failure rejects.
      }
    }
    await Promise.all(
      all.map(({ keys, options, resolve, reject }) => this.#sorter.sort(keys, options).then(resolve, reject)),
    );
  }
}

/** Derives the report of one array from those of the combined sort. */
function reportShare(reports: readonly SortReport[], n: number, arrays: readonly KeyArray[]): SortReport {
  const report = onlyReport(reports);
  const all = arrays.reduce((sum, { length }) => sum + length, 0);
  const seconds = reports.reduce((sum, one) => sum + one.seconds, 0);
  return {
    ...report,
    n,
    reason: `together with ${arrays.length - 1} other arrays: ${report.reason}`,
    stages: [], // the combined stages say nothing about one array
    seconds: (seconds * n) / all,
  };
}
