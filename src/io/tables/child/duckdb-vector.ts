/** What DuckDB's vectors keep to themselves: their memory, so that values are copied as they are. Runs in the child. */
import type { DuckDB } from '../../formats/subprocess/duckdb.js';

/** A vector of any kind. */
export interface Vector {
  readonly itemCount: number;
  /** Of values of a fixed length: their memory, as one or the other. Of texts: 16 bytes each. */
  readonly items?: ArrayBufferView;
  readonly dataView?: DataView;
  readonly validity?: { data: BigUint64Array | null };
  /** Of lists: beginnings and lengths by turns, their items, and values that are to be flushed. */
  readonly entryData?: BigUint64Array;
  readonly childData?: Vector;
  readonly itemCache?: unknown[];
  /** Of maps. */
  readonly listVector?: Vector;
  /** Of structs. */
  readonly entryVectors?: readonly Vector[];
  setItem(i: number, value: unknown): void;
  flush(): void;
}

const unknownVector = (): Error =>
  new Error('this version of @duckdb/node-api gives no access to its vectors');

/** The memory of a vector of values of a fixed length. */
export function memoryOf({ items, dataView }: Vector): Uint8Array {
  const view = items ?? dataView;
  if (!ArrayBuffer.isView(view)) throw unknownVector();
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/** Texts as the bytes that they are: what blobs do works for them, too, since they are kept alike. */
export interface ByteAccess {
  set(vector: Vector, i: number, bytes: Uint8Array): void;
  flush(vector: Vector): void;
}

/** @throws Error when the package does it otherwise */
export function byteAccess({ DuckDBBlobVector }: DuckDB): ByteAccess {
  const { setItem, flush } = DuckDBBlobVector.prototype;
  if (typeof setItem !== 'function') throw unknownVector();
  return {
    set: (vector, i, bytes) => setItem.call(vector as never, i, { bytes } as never),
    flush: (vector) => flush.call(vector as never),
  };
}
