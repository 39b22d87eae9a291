import type { ArrayStore } from '../calls/array-store.js';
import type { Calls } from '../calls/calls.js';
import type { DeviceGroup } from '../multi-device/device-group.js';
import type { ShardedArrays } from '../multi-device/sharded-arrays.js';

/** What the operations of a Sorter are made with. */
export interface OperationContext {
  readonly calls: Calls;
  readonly arrays: ArrayStore;
  /** Several devices that share what is large and on the host. */
  readonly group: DeviceGroup | undefined;
  /** Operations on sharded arrays, made when the first one is. */
  readonly shardedArrays: () => ShardedArrays;
}
