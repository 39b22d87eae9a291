import type { KeyCodec } from '../../../keys/key-codec.js';
import { enqueueContains } from '../../../primitives/search-sorted.js';
import type { DeviceContext } from '../../backend/column-kernel.js';
import { bufferOf, type Column } from '../../model/column.js';

/** Order of a search, and whether it marks the keys that are missing instead of those that it finds. */
export interface Membership {
  readonly codec: KeyCodec;
  readonly inverted: boolean;
}

export const containsOnDevice = (
  { device }: DeviceContext,
  sorted: Column,
  keys: Column,
  how: Membership,
  mask: Column,
) => {
  const inputs = { sorted: bufferOf(sorted), length: sorted.n, keys: bufferOf(keys), n: keys.n };
  return enqueueContains(device, { ...inputs, ...how, mask: bufferOf(mask) });
};
