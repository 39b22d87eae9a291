import { checkSum } from '../../cases/sums.js';
import { type CheckedOperation, checked, type OperationCases, timed } from '../case.js';

const extreme = (op: 'min' | 'max'): CheckedOperation['start'] => {
  return async (sorter, { keys, reference, n }, { call }) => {
    const got = await sorter.reduce(keys, op, call);
    return () => {
      const order = reference.order();
      const last = reference.values[order[n - 1] as number] as number;
      const expected = op === 'min' && !Number.isNaN(last) ? reference.values[order[0] as number] : last;
      return Object.is(got, expected) ? undefined : `expected ${expected} for the ${op} but got ${got}`;
    };
  };
};

export const reduceCases: OperationCases = {
  checked: [
    checked('reduce-sum', 'none', async (sorter, { summands, summandsReference }, { call }) => {
      const sum = await sorter.reduce(summands, 'sum', call);
      return () => checkSum(summandsReference, sum);
    }),
    checked('reduce-min', 'none', extreme('min'), 1),
    checked('reduce-max', 'none', extreme('max'), 1),
  ],
  timed: [
    timed('reduce', () => async (sorter, { keys }) => [await sorter.reduce(keys, 'sum')]),
  ],
};
