import { hasSameBytes } from '../../cases/checks.js';
import { bytesOf } from '../../cases/input.js';
import { checked, type OperationCases, timed } from '../case.js';

export const uniqueCases: OperationCases = {
  checked: [
    checked('unique', 'auto', async (sorter, { keys, reference }, options) => {
      const { keys: found, counts } = await sorter.unique(keys, options.sort);
      return () => {
        const expected = reference.distinct(options);
        if (!hasSameBytes(counts, bytesOf(Uint32Array.from(expected.counts)))) return 'counts are wrong';
        return hasSameBytes(found, reference.pick(expected.first)) ? undefined : 'keys are wrong';
      };
    }),
    checked('uniqueInverse', 'auto', async (sorter, { keys, reference }, options) => {
      const how = { ...options.sort, index: true, inverse: true } as const;
      const { keys: found, index, inverse } = await sorter.unique(keys, how);
      return () => {
        const { first, inverse: expected } = reference.distinct(options);
        if (!hasSameBytes(index, bytesOf(Uint32Array.from(first)))) return 'first positions are wrong';
        if (!hasSameBytes(inverse, bytesOf(expected))) return 'the inverse is wrong';
        return hasSameBytes(found, reference.pick(first)) ? undefined : 'keys are wrong';
      };
    }),
  ],
  timed: [
    timed('unique', () => async (sorter, { few }) => {
      const { keys, counts } = await sorter.unique(few);
      return [keys, counts];
    }),
    timed('uniqueInverse', () => async (sorter, { few }) => {
      const { keys, index, inverse } = await sorter.unique(few, { index: true, inverse: true });
      return [keys, index, inverse];
    }),
  ],
};
