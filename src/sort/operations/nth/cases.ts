import { hasSameBytes } from '../../cases/checks.js';
import type { CaseInput } from '../../cases/input.js';
import { type CaseOptions, checked, type OperationCases, timed } from '../case.js';

/** Positions of both ends and the middle. */
const ends = (n: number): number[] => (n === 0 ? [] : [0, n >> 1, n - 1]);

const withNaN = ({ call, nan }: CaseOptions) => ({ ...call, nan });

/** Returns the place of each key in the order; that of the first of its equals. */
function placesOf({ reference }: CaseInput, nan: CaseOptions['nan']): Uint32Array {
  const places = new Uint32Array(reference.n);
  let first = 0;
  const order = reference.order({ nan });
  for (const [place, i] of order.entries()) {
    if (place > 0 && reference.bits(i) !== reference.bits(order[place - 1] as number)) first = place;
    places[i] = first;
  }
  return places;
}

export const nthCases: OperationCases = {
  checked: [
    checked('nth', 'none', async (sorter, { keys, reference, n }, options) => {
      const found = await sorter.nth(keys, ends(n), withNaN(options));
      return () => {
        const order = reference.order({ nan: options.nan });
        const expected = reference.pick(ends(n).map((k) => order[k] as number));
        return hasSameBytes(found, expected) ? undefined : 'keys are wrong';
      };
    }),
    checked(
      'quantile',
      'none',
      async (sorter, { keys, reference, n }, options) => {
        const how = { ...withNaN(options), interpolation: 'lower' } as const;
        const found = await sorter.quantile(keys, [0, 0.5, 1], how);
        return () => {
          const order = reference.order({ nan: options.nan });
          const places = [0, Math.floor((n - 1) / 2), n - 1];
          const expected = places.map((place) => Number(reference.values[order[place] as number]));
          return expected.every((value, i) => Object.is(found[i], value)) ? undefined : 'quantiles are wrong';
        };
      },
      1,
    ),
    checked('argpartition', 'none', async (sorter, input, options) => {
      const { keys, n } = input;
      const found = await sorter.argpartition(keys, ends(n), withNaN(options));
      return () => {
        if (new Set(found).size !== n) return 'positions occur more than once';
        const places = placesOf(input, options.nan);
        const sorted = places.toSorted();
        for (const k of ends(n)) {
          const isWrong = (position: number, i: number): boolean => {
            const place = places[position] as number;
            const wanted = sorted[k] as number;
            return i < k ? place > wanted : i > k ? place < wanted : place !== wanted;
          };
          if (found.some(isWrong)) return `the keys are not separated at position ${k}`;
        }
        return undefined;
      };
    }),
  ],
  timed: [
    timed('nth', (n) => async (sorter, { keys }) => [await sorter.nth<Uint32Array>(keys as never, n >> 1)]),
    timed('quantile', () => async (sorter, { keys }) => [
      ...(await sorter.quantile(keys, [0.25, 0.5, 0.75])),
    ]),
    timed('argpartition', (n) => async (sorter, { keys }) => [await sorter.argpartition(keys, n >> 1)]),
  ],
};
