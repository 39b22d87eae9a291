import type { Buffer } from '../../device/memory/buffer.js';
import { byteRange, type HostColumn, type KeyWords, keyWords } from '../../keys/array.js';
import { type Dtype, dtypeInfo } from '../../keys/dtype.js';
import { DeviceLostError, UnsupportedError } from '../../util/errors.js';

/** Memory of elements: on the host or on the device. */
export type Place = ArrayBufferView | Buffer;

/** Keys of one dtype, on the host or on the device. */
export interface Column<P extends Place = Place> extends Omit<HostColumn, 'view'> {
  /** Memory of at least n keys. */
  readonly place: P;
}

/** Values that travel with keys, `bytes` bytes each. */
export interface Values<P extends Place = Place> {
  readonly place: P;
  readonly bytes: number;
}

export const column = <P extends Place>(dtype: Dtype, n: number, place: P): Column<P> => ({
  dtype,
  info: dtypeInfo(dtype),
  n,
  place,
});

/** Returns the error for device memory that was lost. */
export const lostArrayError = (what: string): DeviceLostError =>
  new DeviceLostError(`cannot use ${what}: the device that held the data failed. Upload the data again`);

/** Returns the memory of a host column. */
export function viewOf({ place }: Pick<Column, 'place'>): ArrayBufferView {
  if (isOnDevice(place)) throw new UnsupportedError('cannot use a device column: expected host memory');
  return place;
}

/** Returns the bits of the keys of a host column. */
export const wordsOf = (from: Column): KeyWords =>
  keyWords(byteRange(viewOf(from), 0, byteLengthOf(from)), from.info);

/** Returns a host column in the form for the host engine. */
export const hostColumn = (from: Column): HostColumn => ({ ...from, view: wordsOf(from) });

/** Returns the buffer of a device column. */
export function bufferOf({ place }: Pick<Column, 'place'>): Buffer {
  if (!isOnDevice(place)) throw new UnsupportedError('cannot use a host column: expected device memory');
  return place;
}

export const isOnDevice = (place: Place): place is Buffer => !ArrayBuffer.isView(place);

/** Returns the size in bytes of the keys of a column. */
export const byteLengthOf = ({ n, dtype }: Pick<Column, 'n' | 'dtype'>): number => n * dtypeInfo(dtype).bytes;
