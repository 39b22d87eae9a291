import { hasSameBytes } from '../../cases/checks.js';
import { bytesOf } from '../../cases/input.js';
import { referenceRows } from '../../cases/reference.js';
import type { DeviceArray } from '../../model/device-array.js';
import { checked, type OperationCases, timed } from '../case.js';

export const lexsortCases: OperationCases = {
  checked: [
    checked('lexsort', 'auto', async (sorter, { keys, dtype, n, random, reference }, options) => {
      const { dtype: _, ...sort } = options.sort;
      const few = Uint32Array.from({ length: n }, () => random.below(9));
      const places = await sorter.lexsort([few, { keys, dtype }], { ...sort, nan: 'last' });
      return () => {
        const expected = referenceRows([few, reference.values], n, options.descending);
        return hasSameBytes(places, bytesOf(Uint32Array.from(expected))) ? undefined : 'rows are wrong';
      };
    }),
  ],
  timed: [
    // The overloads distinguish columns on the host and on the device; here both may be either.
    timed('lexsort', () => async (sorter, { few, keys }) => [
      await sorter.lexsort([few, keys] as readonly DeviceArray[]),
    ]),
  ],
};
