import type { ArrayOf } from '../../keys/array.js';
import type { Dtype } from '../../keys/dtype.js';
import type { ReduceOp } from '../../primitives/possible.js';
import type { Session } from '../backend/backend.js';
import type { ArrayStore } from '../calls/array-store.js';
import type { Calls } from '../calls/calls.js';
import type { Column } from '../model/column.js';
import type { SortSettings } from '../model/options.js';
import type { ShardedArray } from '../model/sharded-array.js';
import type { HostBufferPool } from '../transfer/host-buffer-pool.js';
import type { PositionDtype } from './arguments.js';

/** First keys of an order, and their positions (u32, or u64 on the host engine). */
export interface TopColumns {
  readonly keys: Column;
  readonly positions: Column;
}

/** Operations of several devices on one host array. Each returns undefined if one device should compute it. */
interface SharedOperations {
  isWorthSharing(bytes: number, settings: SortSettings): boolean;
  reduce(keys: Column, op: ReduceOp, settings: SortSettings): (() => Promise<number | bigint>) | undefined;
  topK(keys: Column, out: TopColumns, settings: SortSettings): (() => Promise<void>) | undefined;
}

/** Operations on sharded arrays. */
interface ShardedOperations {
  sort(keys: ShardedArray, settings: SortSettings): Promise<ShardedArray>;
  argsort<P extends PositionDtype>(
    keys: ShardedArray,
    settings: SortSettings,
    positions: P,
  ): Promise<ShardedArray<P>>;
  sortPairs(
    keys: ShardedArray,
    values: ShardedArray,
    settings: SortSettings,
  ): Promise<{ keys: ShardedArray; values: ShardedArray }>;
  reduce(keys: ShardedArray, op: ReduceOp, settings: SortSettings): Promise<number | bigint>;
  topK<D extends Dtype, P extends PositionDtype>(
    keys: ShardedArray<D>,
    k: number,
    settings: SortSettings,
    positions: P,
  ): Promise<{ keys: ArrayOf<D>; indices: ArrayOf<P> }>;
}

/** The state of a Sorter that its operations use. */
export interface OperationContext {
  readonly session: Session;
  readonly calls: Calls;
  readonly arrays: ArrayStore;
  /** Devices that share large host arrays. */
  readonly group: SharedOperations | undefined;
  /** Returns the operations on sharded arrays, which are created on first use. */
  readonly shardedArrays: () => ShardedOperations;
  /** Buffers of `sortMany` and `argsortMany`. */
  readonly partPool: HostBufferPool;
}

// biome-ignore lint/suspicious/noExplicitAny: only `any` matches methods with every list of parameters.
export type AnyMethod = (...args: any) => unknown;

/**
 * Implementation of an operation.
 *
 * @typeParam M interface that declares nothing but the method of the operation. For overloads, the implementation has
 *   the signature of the last one.
 */
export type Run<M> = M[keyof M] extends infer F extends AnyMethod
  ? (context: OperationContext, ...args: Parameters<F>) => ReturnType<F>
  : never;
