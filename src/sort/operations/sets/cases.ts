import { hasSameBytes } from '../../cases/checks.js';
import type { CaseInput } from '../../cases/input.js';
import { type CaseOptions, checked, type OperationCases, timed, type Words } from '../case.js';

/** The operations on two sets, and whether a number is in the result, by whether it is in each of them. */
const SETS = {
  intersect: (inA: boolean, inB: boolean) => inA && inB,
  union: (inA: boolean, inB: boolean) => inA || inB,
  difference: (inA: boolean, inB: boolean) => inA && !inB,
  setXor: (inA: boolean, inB: boolean) => inA !== inB,
} as const;

const NAMES = ['intersect', 'union', 'difference', 'setXor'] as const;

/** Cuts the keys into two overlapping arrays: [0, 2n/3) and [n/3, n). */
function twoSets({ keys, n, reference }: CaseInput) {
  const [begin, end] = [Math.floor(n / 3), Math.floor((2 * n) / 3)];
  const values = Array.from(reference.values as ArrayLike<number>);
  const sets = [new Set(values.slice(0, end)), new Set(values.slice(begin))] as const; // of numbers, with one zero and one NaN
  return { a: keys.subarray(0, end), b: keys.subarray(begin), sets, values };
}

/** Returns the position of the first occurrence of each number of the result, in order. */
function expectedSet(name: keyof typeof SETS, input: CaseInput, options: CaseOptions): number[] {
  const { sets, values } = twoSets(input);
  const { first } = input.reference.distinct(options);
  return first.filter((i) => SETS[name](sets[0].has(values[i] as number), sets[1].has(values[i] as number)));
}

export const setCases: OperationCases = {
  checked: [
    checked('isIn', 'auto', async (sorter, input, options) => {
      const { a, b, sets, values } = twoSets(input);
      const mask = await sorter.isIn(a, b, options.sort);
      return () => {
        const expected = values.slice(0, a.length).map((value) => Number(sets[1].has(value)));
        return hasSameBytes(mask, Uint8Array.from(expected)) ? undefined : 'the mask is wrong';
      };
    }),
    ...NAMES.map((name) =>
      checked(name, 'auto', async (sorter, input, options) => {
        const { a, b } = twoSets(input);
        const found = await sorter[name](a, b, options.sort);
        return () => {
          const expected = input.reference.pick(expectedSet(name, input, options));
          return hasSameBytes(found, expected) ? undefined : 'keys are wrong';
        };
      }),
    ),
  ],
  timed: [
    timed('isIn', () => async (sorter, { keys, few }) => [
      (await sorter.isIn(keys, few)) as unknown as Words, // of u8
    ]),
    ...NAMES.map((name) =>
      timed(name, () => async (sorter, { indices, keys }) => [await sorter[name](indices, keys)]),
    ),
  ],
};
