import { type KeyWords, keyWords, newArray } from '../../keys/array.js';
import type { WindowOrder } from '../calls/sort-in-chunks.js';
import { type Column, column } from '../model/column.js';
import type { SortSettings } from '../model/options.js';
import type { DeviceWorker } from './device-worker.js';

/** Most samples of a run; the keys between two samples are fetched on demand. */
const MAX_SAMPLES = 2 ** 11;

/** A sorted run on a device that the host searches. */
export class SortedRun {
  readonly worker: DeviceWorker;
  readonly column: Column;
  readonly #order: WindowOrder;
  /** Keys between two samples. */
  readonly #stride: number;
  /** Digits of every `stride`th key. */
  readonly #digits: readonly bigint[];
  readonly #segmentCache = new Map<number, Promise<KeyWords>>();

  private constructor(
    worker: DeviceWorker,
    sorted: Column,
    order: WindowOrder,
    stride: number,
    digits: readonly bigint[],
  ) {
    this.worker = worker;
    this.column = sorted;
    this.#order = order;
    this.#stride = stride;
    this.#digits = digits;
  }

  /** Samples sorted keys. */
  static async of(
    worker: DeviceWorker,
    sorted: Column,
    order: WindowOrder,
    settings: SortSettings,
  ): Promise<SortedRun> {
    const { n, dtype, info } = sorted;
    const stride = Math.max(1, Math.ceil(n / MAX_SAMPLES));
    const positions = Uint32Array.from({ length: Math.ceil(n / stride) }, (_, i) => i * stride);
    const sample = newArray(dtype, positions.length);
    if (n > 0) {
      await worker.operate({ n, settings, onHost: false, again: false }, async (call) => {
        const at = await call.bindInput(column('u32', positions.length, positions));
        const to = column(dtype, positions.length, sample);
        await call.bindOutput(to, (out) => call.columns.kernels.gather(sorted, at, out));
        return () => undefined;
      });
    }
    const digits = Array.from(keyWords(sample, info) as Uint32Array, (key) => order.digit(key));
    return new SortedRun(worker, sorted, order, stride, digits);
  }

  /** Returns bounds for the number of keys below a digit, by the samples alone. */
  boundsBelow(digit: bigint): readonly [least: number, most: number] {
    const sampled = this.#sampledBelow(digit);
    if (sampled === 0) return [0, 0];
    return [(sampled - 1) * this.#stride + 1, Math.min(sampled * this.#stride, this.column.n)];
  }

  /** Returns the number of keys below a digit. */
  async countBelow(digit: bigint): Promise<number> {
    const sampled = this.#sampledBelow(digit);
    if (sampled === 0) return 0;
    // The last sample below the digit, and the keys before the next sample.
    const keys = await this.#keysFromSample(sampled - 1);
    return (sampled - 1) * this.#stride + this.#order.countBelow(keys, digit);
  }

  /** Returns the number of samples below a digit. */
  #sampledBelow(digit: bigint): number {
    let [low, high] = [0, this.#digits.length];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((this.#digits[middle] as bigint) < digit) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns the keys from a sample up to the next one. */
  #keysFromSample(sample: number): Promise<KeyWords> {
    let keys = this.#segmentCache.get(sample);
    if (!keys) {
      keys = this.#fetch(sample * this.#stride);
      this.#segmentCache.set(sample, keys);
    }
    return keys;
  }

  async #fetch(start: number): Promise<KeyWords> {
    const { n, dtype, info } = this.column;
    const words = keyWords(newArray(dtype, Math.min(this.#stride, n - start)), info);
    await this.worker.arrays.load(this.column, words, start);
    return words;
  }
}

/**
 * Returns for each run how many of its keys are among the first `rank` of all. Equal keys are taken from
 * earlier runs first. The device version of `cutRuns` in sort-in-chunks.ts.
 */
export async function cutDeviceRuns(
  runs: readonly SortedRun[],
  rank: number,
  { limit }: Pick<WindowOrder, 'limit'>,
): Promise<number[]> {
  const below = (digit: bigint) => Promise.all(runs.map((run) => run.countBelow(digit)));
  const total = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);
  /** Whether at most `rank` keys are below a digit. Keys are fetched only if the samples do not decide that. */
  const isLow = async (digit: bigint): Promise<boolean> => {
    const bounds = runs.map((run) => run.boundsBelow(digit));
    if (total(bounds.map(([, max]) => max)) <= rank) return true;
    if (total(bounds.map(([min]) => min)) > rank) return false;
    return total(await below(digit)) <= rank;
  };
  let [low, high] = [0n, limit];
  while (low < high) {
    const middle = (low + high + 1n) / 2n;
    if (await isLow(middle)) low = middle;
    else high = middle - 1n;
  }
  const cuts = low === limit ? runs.map(({ column: { n } }) => n) : await below(low);
  if (low === limit) return cuts;
  const ends = low + 1n === limit ? runs.map(({ column: { n } }) => n) : await below(low + 1n);
  let left = rank - total(cuts);
  return cuts.map((cut, r) => {
    const equal = Math.min(left, (ends[r] ?? cut) - cut);
    left -= equal;
    return cut + equal;
  });
}
