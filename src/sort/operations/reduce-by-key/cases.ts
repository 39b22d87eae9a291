import { hasSameBytes } from '../../cases/checks.js';
import { bytesOf } from '../../cases/input.js';
import { checked, type OperationCases, timed, type Words } from '../case.js';

export const reduceByKeyCases: OperationCases = {
  checked: [
    checked('reduceByKey', 'auto', async (sorter, { keys, dtype, reference, n }, options) => {
      const values = Uint32Array.from({ length: n }, (_, i) => (i * 31) % 1009);
      const found = await sorter.reduceByKey(keys, values, 'sum', { ...options.sort, dtype });
      return () => {
        const { first } = reference.distinct(options);
        const sums = new Map<number | bigint, bigint>(); // a Map treats zeros of either sign as equal, and NaNs too
        for (let i = 0; i < n; i++) {
          const key = reference.values[i] as number;
          sums.set(key, (sums.get(key) ?? 0n) + BigInt(values[i] as number));
        }
        const expected = BigUint64Array.from(first, (i) => sums.get(reference.values[i] as number) ?? 0n);
        if (!hasSameBytes(found.keys, reference.pick(first))) return 'keys are wrong';
        return hasSameBytes(found.values, bytesOf(expected)) ? undefined : 'sums are wrong';
      };
    }),
  ],
  timed: [
    timed('reduceByKey', () => async (sorter, { few, values }) => {
      const { keys, values: reduced } = await sorter.reduceByKey(few, values, 'max');
      return [keys, reduced as Words];
    }),
  ],
};
