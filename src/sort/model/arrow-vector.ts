/** Vectors of the package `apache-arrow`, which is recognised by its symbol and not imported. */

/** A vector of the package `apache-arrow`, by its shape: programs without that package compile. */
export interface ArrowVector {
  readonly type: { readonly typeId: number };
  /** The chunks of the vector. */
  readonly data: readonly unknown[];
  readonly length: number;
  readonly nullCount: number;
}

/** Option of operations on vectors. */
export interface NullOrder {
  /**
   * Position of nulls in the result, in either direction. Nulls keep their order.
   *
   * @defaultValue `'last'`
   */
  readonly nulls?: 'first' | 'last';
}

/** Options of an operation on vectors: those of the operation on arrays, and the position of nulls. */
export type VectorOptions<Options> = Omit<Options, 'dtype'> & NullOrder;

/** A chunk of a vector. Bit `offset` of the bitmap is that of the first row; the other buffers begin with that row. */
export interface ArrowChunk {
  readonly type: ArrowVector['type'];
  readonly length: number;
  readonly offset: number;
  readonly nullCount: number;
  readonly values: ArrayBufferView & ArrayLike<unknown>;
  readonly valueOffsets?: Int32Array | BigInt64Array;
  /** One bit for each row, 0 for nulls; empty without nulls. */
  readonly nullBitmap?: Uint8Array;
  /** The values of a dictionary vector. */
  readonly dictionary?: ArrowVector;
  clone(
    type: ArrowVector['type'],
    offset: number,
    length: number,
    nullCount: number,
    /** Offsets, values, bitmap. */
    buffers: readonly unknown[],
  ): ArrowChunk;
}

/** By which `apache-arrow` recognises vectors of every copy of the package. */
const VECTOR = Symbol.for('apache-arrow/Vector');

export const isVector = (value: unknown): value is ArrowVector =>
  !ArrayBuffer.isView(value) && (value as { [VECTOR]?: unknown } | null | undefined)?.[VECTOR] === true;

export const chunksOf = ({ data }: ArrowVector): readonly ArrowChunk[] => data as readonly ArrowChunk[];

/** Returns a vector of the class of `like`, without its memoization. */
export function makeVector<V extends ArrowVector>(like: V, chunks: readonly ArrowChunk[]): V {
  const { isMemoized = false, unmemoize } = like as { isMemoized?: boolean; unmemoize?: () => V };
  const { constructor: Vector } = isMemoized && unmemoize ? unmemoize.call(like) : like;
  return new (Vector as new (chunks: readonly ArrowChunk[]) => V)(chunks);
}
