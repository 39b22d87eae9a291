import type { Dtype, KeyArray } from '../../../keys/dtype.js';
import { hasSameBytes } from '../../cases/checks.js';
import type { DeviceArray } from '../../model/device-array.js';
import { checked, checkKeys, type OperationCases, timed } from '../case.js';

export const gatherCases: OperationCases = {
  checked: [
    checked(
      'gather',
      'none',
      async (sorter, { keys, n, random, reference }, { call }) => {
        const indices = Uint32Array.from({ length: n }, () => random.below(n));
        const gathered = await sorter.gather(keys, indices, call);
        return () => (hasSameBytes(gathered, reference.pick(indices)) ? undefined : 'elements are wrong');
      },
      1,
    ),
    checked('deviceArrays', 'auto', async (sorter, input, options) => {
      const { dtype, keys } = input;
      const { dtype: _, ...sort } = options.sort;
      const there: DeviceArray<Dtype> = await sorter.upload(keys, { dtype });
      try {
        const sorted = await (await sorter.gather(there, sorter.argsort(there, sort))).read();
        return () => checkKeys(sorted as KeyArray, input, options);
      } finally {
        there.dispose();
      }
    }),
  ],
  timed: [
    timed('gather', () => async (sorter, { keys, indices }) => [await sorter.gather(keys, indices)]),
  ],
};
