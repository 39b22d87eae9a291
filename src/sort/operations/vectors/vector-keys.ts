import type { ArrowVector } from '../../model/arrow-vector.js';
import type { SortOptions, TopKOptions, UniqueOptions } from '../../model/options.js';
import type { UniqueColumns } from '../unique/unique.js';

/** Columns of the result of `unique` beside the keys. */
export type DistinctColumns = { readonly [Name in keyof UniqueColumns]?: Uint32Array };

/**
 * The keys of a vector: its rows that are not null. Indices are those among the keys.
 *
 * @typeParam K keys of a result
 */
export interface VectorKeys<K> {
  /** Positions of the nulls in the vector. */
  readonly nulls: Uint32Array;
  /** Positions of the keys in the vector; undefined without nulls. */
  readonly positions: Uint32Array | undefined;
  sort(options: SortOptions): Promise<K>;
  argsort(options: SortOptions): Promise<Uint32Array>;
  topK(k: number, options: TopKOptions): Promise<{ keys: K; indices: Uint32Array }>;
  unique(options: UniqueOptions & UniqueColumns): Promise<DistinctColumns & { readonly keys: K }>;
  /** Returns a vector of keys, with nulls before and after them. */
  toVector(keys: K, nullsBefore: number, nullsAfter: number): ArrowVector | Promise<ArrowVector>;
}
