import type { ArrayStore } from '../calls/array-store.js';
import type { Calls } from '../calls/calls.js';
import type { DeviceGroup } from '../multi-device/device-group.js';
import type { ShardedArrays } from '../multi-device/sharded-arrays.js';

/** Dependencies of the operation classes of a Sorter. */
export interface OperationContext {
  readonly calls: Calls;
  readonly arrays: ArrayStore;
  /** Devices that share large host arrays. */
  readonly group: DeviceGroup | undefined;
  /** Returns the operations on sharded arrays, which are created on first use. */
  readonly shardedArrays: () => ShardedArrays;
}
