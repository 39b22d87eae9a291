import { byteRange, newArray } from '../../keys/array.js';
import type { Dtype } from '../../keys/dtype.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import { resultMemory } from '../host/native-module.js';
import { copySteps, runYielding } from '../host/steps.js';
import { byteLengthOf, type Column, column, viewOf } from '../model/column.js';
import type { SortSettings } from '../model/options.js';
import type { ColumnKernels } from './column-kernels.js';
import type { ColumnVerifier } from './column-verifier.js';
import type { Columns, HostColumnAccess } from './columns.js';
import { NativeColumnKernels } from './native-column-kernels.js';
import { NativeColumnVerifier } from './native-column-verifier.js';
import { SELECT_ABOVE } from './policy.js';

/** Columns in host memory, where every operation runs immediately. */
export class HostColumns implements Columns {
  readonly kernels: ColumnKernels;
  readonly verifier: ColumnVerifier;
  readonly #selectAbove: number;

  constructor({ signal, tuning }: SortSettings) {
    this.kernels = new NativeColumnKernels(signal);
    this.verifier = new NativeColumnVerifier(signal);
    this.#selectAbove = tuning.select ?? SELECT_ABOVE;
  }

  temporary(dtype: Dtype, n: number): Column {
    return column(dtype, n, newArray(dtype, n, resultMemory));
  }

  bindInput(from: Column): Column {
    return from;
  }

  async bindOutput(to: Column, write: (to: Column) => MaybePromise<void>): Promise<void> {
    if (viewOf(to).byteOffset % to.info.bytes === 0) return write(to);
    // Column kernels write whole words, which must be aligned to their size.
    const aligned = this.temporary(to.dtype, to.n);
    await write(aligned);
    await this.copy(aligned, to);
  }

  /** Copies without regard to the abort signal: half a copy would leave both arrays useless. */
  copy(from: Column, to: Column): Promise<void> {
    return runYielding(copySteps(byteRange(viewOf(from), 0, byteLengthOf(to)), viewOf(to)));
  }

  lacksDoubles(): boolean {
    return false;
  }

  async copyToHost(keys: Column): Promise<HostColumnAccess> {
    return { keys, kernels: this.kernels, verifier: this.verifier };
  }

  prefersSelect(n: number, longest: number = n): boolean {
    return longest > this.#selectAbove;
  }

  prefersShortSelect(): boolean {
    return false;
  }

  flush(): void {}

  async finish(): Promise<void> {}

  async check(): Promise<void> {}

  release(): void {}
}
