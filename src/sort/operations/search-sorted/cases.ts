import { hasSameBytes } from '../../cases/checks.js';
import { bytesOf } from '../../cases/input.js';
import type { DeviceArray } from '../../model/device-array.js';
import { checked, type OperationCases, timed } from '../case.js';

export const searchSortedCases: OperationCases = {
  checked: [
    checked('searchSorted', 'none', async (sorter, input, { call }) => {
      const { keys, reference, n } = input;
      const sorted = keys.slice();
      bytesOf(sorted).set(reference.pick(reference.order()));
      const places = await sorter.searchSorted(sorted, keys, { ...call, side: 'left' });
      return () => {
        if (!hasSameBytes(sorted, reference.pick(reference.order()))) return 'the searched array was changed';
        // Keys of equal bits are adjacent in the order; their insertion point is that of the first of them.
        const expected = new Uint32Array(n);
        let first = 0;
        for (const [place, i] of reference.order().entries()) {
          if (place > 0 && reference.bits(i) !== reference.bits(reference.order()[place - 1] as number))
            first = place;
          expected[i] = first;
        }
        return hasSameBytes(places, bytesOf(expected)) ? undefined : 'positions are wrong';
      };
    }),
  ],
  timed: [
    // The overloads distinguish arrays on the host and on the device; here both may be either.
    timed('searchSorted', () => async (sorter, { values, indices }) => [
      await sorter.searchSorted(values as DeviceArray, indices as DeviceArray<'u32'>),
    ]),
  ],
};
