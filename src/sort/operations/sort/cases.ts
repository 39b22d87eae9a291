import {
  type CheckedOperation,
  checked,
  checkKeys,
  checkPositions,
  type OperationCases,
  timedSort,
} from '../case.js';

/** Returns a sort of pairs whose values, of `valueBytes` bytes each, encode the positions of their keys. */
const sortPairs = (valueBytes: 4 | 8): CheckedOperation['start'] => {
  return async (sorter, input, options) => {
    const { n, keys } = input;
    const values = valueBytes === 4 ? new Uint32Array(n) : new BigUint64Array(n);
    for (let i = 0; i < n; i++) values[i] = (valueBytes === 4 ? i : BigInt(i) << 20n) as never;
    const sorted = await sorter.sortPairs(keys, values, options.sort);
    return () => {
      const places = Uint32Array.from(sorted.values as ArrayLike<number | bigint>, (value) =>
        typeof value === 'bigint' ? Number(value >> 20n) : value,
      );
      return checkKeys(sorted.keys, input, options) ?? checkPositions(places, input, options);
    };
  };
};

export const sortCases: OperationCases = {
  checked: [
    checked('sort', 'each', async (sorter, input, options) => {
      const sorted = await sorter.sort(input.keys, options.sort);
      return () => checkKeys(sorted, input, options);
    }),
    checked('argsort', 'each', async (sorter, input, options) => {
      const places = await sorter.argsort(input.keys, options.sort);
      return () => checkPositions(places, input, options);
    }),
    checked('argsort-8', 'auto', async (sorter, input, options) => {
      const places = await sorter.argsort(input.keys, { ...options.sort, positions: 'u64' });
      return () => checkPositions(Uint32Array.from(places, Number), input, options);
    }),
    checked('sortPairs', 'each', sortPairs(4)),
    checked('sortPairs-8', 'auto', sortPairs(8)),
    checked('sortInPlace', 'auto', async (sorter, input, options) => {
      const array = input.keys.slice();
      const sorted = await sorter.sortInPlace(array, options.sort);
      return () => (sorted === array ? checkKeys(array, input, options) : 'returned another array');
    }),
  ],
  timed: [
    timedSort('sort', async (sorter, { keys }, options) => [await sorter.sort(keys, options)]),
    timedSort('argsort', async (sorter, { keys }, options) => [await sorter.argsort(keys, options)]),
    timedSort('sortPairs', async (sorter, inputs, options) => {
      const { keys, values } = await sorter.sortPairs(inputs.keys, inputs.values, options);
      return [keys, values];
    }),
  ],
};
