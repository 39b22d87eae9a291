import { hasSameBytes, wrong } from '../../cases/checks.js';
import { bytesOf } from '../../cases/input.js';
import { checked, type OperationCases, timed } from '../case.js';

export const mergeCases: OperationCases = {
  checked: [
    checked('merge', 'none', async (sorter, { keys, reference, n }, { call }) => {
      const order = reference.order();
      const [a, b] = [keys.slice(0, n >> 1), keys.slice(n >> 1)];
      bytesOf(a).set(reference.pick(order.filter((i) => i < n >> 1)));
      bytesOf(b).set(reference.pick(order.filter((i) => i >= n >> 1)));
      const merged = await sorter.merge(a, b, call);
      return () => {
        if (!hasSameBytes(a, reference.pick(order.filter((i) => i < n >> 1))))
          return 'a merged array was changed';
        const expected = reference.pick(order);
        return hasSameBytes(merged, expected) ? undefined : wrong(merged, expected);
      };
    }),
  ],
  timed: [
    timed('merge', () => async (sorter, { values }) => [await sorter.merge(values, values)]),
  ],
};
