import { hasSameBytes } from '../../cases/checks.js';
import type { Numbers } from '../../cases/reference.js';
import { checkScan } from '../../cases/sums.js';
import { type CheckedOperation, checked, type OperationCases, timed } from '../case.js';

const sums = (inclusive: boolean): CheckedOperation['start'] => {
  return async (sorter, { summands, summandsReference }, { call }) => {
    const sums = await sorter.scan(summands, { ...call, inclusive });
    return () => checkScan(summandsReference, sums as Numbers, inclusive);
  };
};

/** Returns a scan by minimum or maximum; from the first NaN on, the result is NaN. */
const scanExtreme = (op: 'min' | 'max'): CheckedOperation['start'] => {
  return async (sorter, { keys, reference, n }, { call }) => {
    const found = await sorter.scan(keys, { ...call, op, inclusive: true });
    return () => {
      const ranks = new Uint32Array(n);
      for (const [rank, i] of reference.order({ nan: op === 'min' ? 'first' : 'last' }).entries())
        ranks[i] = rank;
      let best = 0;
      const expected = Array.from({ length: n }, (_, i) => {
        const isBetter = (ranks[i] as number) < (ranks[best] as number) === (op === 'min');
        if (isBetter) best = i;
        return best;
      });
      return hasSameBytes(found, reference.pick(expected)) ? undefined : `the scan by ${op} is wrong`;
    };
  };
};

export const scanCases: OperationCases = {
  checked: [
    checked('scan', 'none', sums(false)),
    checked('scan-inclusive', 'none', sums(true)),
    checked('scan-min', 'none', scanExtreme('min')),
    checked('scan-max', 'none', scanExtreme('max')),
  ],
  timed: [
    timed('scan', () => async (sorter, { keys }) => [await sorter.scan(keys, { inclusive: true })]),
    timed('scanMax', () => async (sorter, { keys }) => [
      await sorter.scan(keys, { op: 'max', inclusive: true }),
    ]),
  ],
};
