import type { KeyCodec } from '../../../keys/key-codec.js';
import { enqueueSearchSorted } from '../../../primitives/search-sorted.js';
import type { DeviceContext } from '../../backend/column-kernel.js';
import { bufferOf, type Column } from '../../model/column.js';

/** Order of a search, and whether it returns the position behind equal keys. */
export interface Search {
  readonly codec: KeyCodec;
  readonly right: boolean;
}

export const searchSortedOnDevice = (
  { device }: DeviceContext,
  sorted: Column,
  keys: Column,
  search: Search,
  places: Column,
) => {
  const inputs = { sorted: bufferOf(sorted), length: sorted.n, keys: bufferOf(keys), n: keys.n };
  return enqueueSearchSorted(device, { ...inputs, ...search, places: bufferOf(places) });
};
