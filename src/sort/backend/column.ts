import type { Buffer } from '../../device/buffer.js';
import { type Dtype, type DtypeInfo, dtypeInfo } from '../../keys/dtype.js';

/** Memory of elements: on the host or on the device. */
export type Place = ArrayBufferView | Buffer;

/** Keys of one dtype, on the host or on the device. */
export interface Column {
  readonly dtype: Dtype;
  readonly info: DtypeInfo;
  /** Number of keys. */
  readonly n: number;
  /** Memory of at least n keys. */
  readonly place: Place;
  /** Similar keys in host memory: the ones that these were copied or derived from. */
  readonly origin?: ArrayBufferView | undefined;
}

/** Values that travel with keys, `bytes` bytes each. */
export interface Values {
  readonly place: Place;
  readonly bytes: number;
}

export const column = (dtype: Dtype, n: number, place: Place): Column => ({
  dtype,
  info: dtypeInfo(dtype),
  n,
  place,
});

export const isOnDevice = (place: Place): place is Buffer => !ArrayBuffer.isView(place);

/** Returns the size in bytes of the keys of a column. */
export const byteLengthOf = ({ n, dtype }: Pick<Column, 'n' | 'dtype'>): number => n * dtypeInfo(dtype).bytes;
