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
  ],
  timed: [
    timed('unique', () => async (sorter, { few }) => {
      const { keys, counts } = await sorter.unique(few);
      return [keys, counts];
    }),
  ],
};
