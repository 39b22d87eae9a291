/** Access to the private memory of DuckDB vectors, to copy values without conversion. Runs in the subprocess. */
import type { DuckDB } from '../duckdb.js';

/** A vector of any type. */
export interface Vector {
  readonly itemCount: number;
  /** Types of fixed length: the memory, in one of two forms. Text: 16 bytes each. */
  readonly items?: ArrayBufferView;
  readonly dataView?: DataView;
  readonly validity?: { data: BigUint64Array | null };
  /** Lists: alternating starts and lengths, the items, and the values to flush. */
  readonly entryData?: BigUint64Array;
  readonly childData?: Vector;
  readonly itemCache?: unknown[];
  /** Maps: the underlying list. */
  readonly listVector?: Vector;
  /** Structs: the field vectors. */
  readonly entryVectors?: readonly Vector[];
  setItem(i: number, value: unknown): void;
  flush(): void;
}

const unknownVector = (): Error => new Error('this version of @duckdb/node-api does not expose its vectors');

/** Returns the memory of a vector with values of fixed length. */
export function memoryOf({ items, dataView }: Vector): Uint8Array {
  const view = items ?? dataView;
  if (!ArrayBuffer.isView(view)) throw unknownVector();
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/** Writes text as raw bytes. The blob implementation also works for text, which has the same layout. */
export interface ByteAccess {
  set(vector: Vector, i: number, bytes: Uint8Array): void;
  flush(vector: Vector): void;
}

/** @throws Error when this version of the package has other internals */
export function byteAccess({ DuckDBBlobVector }: DuckDB): ByteAccess {
  const { setItem, flush } = DuckDBBlobVector.prototype;
  if (typeof setItem !== 'function') throw unknownVector();
  return {
    set: (vector, i, bytes) => setItem.call(vector as never, i, { bytes } as never),
    flush: (vector) => flush.call(vector as never),
  };
}
