import { hasSameBytes } from '../../cases/checks.js';
import { bytesOf } from '../../cases/input.js';
import { type CallOperation, checked, type OperationCases, timed } from '../case.js';

const TOP = 100;

const topFirst = (k: number): CallOperation =>
  timed(`topK-${k}`, () => async (sorter, { keys: from }) => {
    const { keys, indices } = await sorter.topK(from, k);
    return [keys, indices];
  });

export const topKCases: OperationCases = {
  checked: [
    checked('topK', 'auto', async (sorter, { keys, reference }, options) => {
      const { descending: largest = false, ...sort } = options.sort;
      const top = await sorter.topK(keys, TOP, { ...sort, largest });
      return () => {
        const expected = reference.order(options).slice(0, TOP);
        if (!hasSameBytes(top.indices, bytesOf(expected))) return 'positions are wrong';
        return hasSameBytes(top.keys, reference.pick(expected)) ? undefined : 'keys are wrong';
      };
    }),
  ],
  timed: [topFirst(100), topFirst(65536)],
};
