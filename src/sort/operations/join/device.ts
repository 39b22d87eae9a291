import { enqueueJoinCounts, enqueueJoinPlaces, type PairCounts } from '../../../primitives/join.js';
import type { DeviceContext } from '../../backend/column-kernel.js';
import { bufferOf, type Column } from '../../model/column.js';

/** Where the pairs and the equals of each key begin. All u32. */
export interface Matches {
  /** First pair of each key. */
  readonly begins: Column;
  /** First equal of each key among the sorted keys; `NO_PARTNER` if it has none. */
  readonly first: Column;
}

export const joinCountsOnDevice = (
  { device }: DeviceContext,
  first: Column,
  counts: Column,
  kind: PairCounts,
) => enqueueJoinCounts(device, bufferOf(first), bufferOf(counts), counts.n, kind);

export const joinPlacesOnDevice = (
  { device }: DeviceContext,
  left: Column,
  { begins, first }: Matches,
  order: Column | undefined,
  right: Column,
) =>
  enqueueJoinPlaces(device, {
    ...{ left: bufferOf(left), begins: bufferOf(begins), first: bufferOf(first) },
    ...{ order: order && bufferOf(order), right: bufferOf(right), n: right.n },
  });
