import type { Buffer } from '../../device/buffer.js';
import { type Dtype, type DtypeInfo, dtypeInfo } from '../../keys/dtype.js';

/** Where elements are: memory of the host, or of the device. */
export type Place = ArrayBufferView | Buffer;

/** Keys of one dtype, wherever they are. */
export interface Column {
  readonly dtype: Dtype;
  readonly info: DtypeInfo;
  /** Number of keys. */
  readonly n: number;
  /** Of at least n keys. */
  readonly place: Place;
  /** Keys in host memory that are much like them: what these were copied or made from. */
  readonly origin?: ArrayBufferView | undefined;
}

/** Values that travel with keys, `bytes` bytes for each. */
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

/** Bytes that the keys of a column take. */
export const byteLengthOf = ({ n, dtype }: Pick<Column, 'n' | 'dtype'>): number => n * dtypeInfo(dtype).bytes;
