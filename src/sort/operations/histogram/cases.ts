import { hasSameBytes } from '../../cases/checks.js';
import { digitCounts, edgesFrom, valueCounts } from '../../cases/histograms.js';
import { bytesOf } from '../../cases/input.js';
import { checked, type OperationCases, timed } from '../case.js';

export const histogramCases: OperationCases = {
  checked: [
    checked('histogram', 'none', async (sorter, { keys, reference }, { call }) => {
      const edges = edgesFrom(reference);
      const counts = await sorter.histogram(keys, { ...call, edges });
      return () =>
        hasSameBytes(counts, bytesOf(valueCounts(reference, edges))) ? undefined : 'counts are wrong';
    }),
    checked('histogram-digits', 'none', async (sorter, { keys, reference }, { call }) => {
      const counts = await sorter.histogram(keys, { ...call, bitRange: [2, 8] });
      return () =>
        hasSameBytes(counts, bytesOf(digitCounts(reference, 2, 8))) ? undefined : 'counts are wrong';
    }),
  ],
  timed: [
    timed('histogram', () => async (sorter, { keys }) => [
      await sorter.histogram(keys, { bins: 256, range: [0, 2 ** 32] }),
    ]),
  ],
};
