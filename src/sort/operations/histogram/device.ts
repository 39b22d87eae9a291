import type { Binning } from '../../../primitives/histogram.js';
import { enqueueHistogramColumns } from '../../../primitives/histogram-columns.js';
import type { DeviceContext } from '../../backend/column-kernel.js';
import { bufferOf, type Column } from '../../model/column.js';

export const histogramOnDevice = (context: DeviceContext, keys: Column, binning: Binning) => {
  const { n, dtype } = keys;
  const tuning = context.tuning('histogram', keys);
  return enqueueHistogramColumns(context.device, { keys: bufferOf(keys), n, dtype, binning, tuning });
};
