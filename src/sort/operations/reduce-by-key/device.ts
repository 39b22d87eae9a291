import type { ReduceOp } from '../../../primitives/possible.js';
import { enqueueReduceRuns } from '../../../primitives/reduce-runs.js';
import type { DeviceContext } from '../../backend/column-kernel.js';
import { bufferOf, type Column } from '../../model/column.js';

export const reduceRunsOnDevice = (
  { device }: DeviceContext,
  values: Column,
  places: Column,
  op: ReduceOp,
  to: Column,
) => {
  const { n, dtype } = values;
  const runs = { places: bufferOf(places), runs: to.n, results: bufferOf(to) };
  return enqueueReduceRuns(device, { values: bufferOf(values), n, dtype, op, ...runs });
};
