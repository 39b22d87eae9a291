import { hasSameBytes, wrong } from '../../cases/checks.js';
import type { CaseInput } from '../../cases/input.js';
import { checked, type OperationCases, timed } from '../case.js';

/** Returns a key such that some keys are less than it; 0 when it would be NaN or missing. */
const middleOf = ({ reference, n }: CaseInput): number | bigint => {
  const middle = reference.values[reference.order()[n >> 2] as number];
  return middle === undefined || Number.isNaN(middle) ? 0 : middle;
};

/** Returns the positions of the keys less than `edge`, and of all others. */
function positionsBelow(
  { reference, n }: CaseInput,
  edge: number | bigint,
): { below: number[]; others: number[] } {
  const all = Array.from({ length: n }, (_, i) => i);
  const isBelow = (i: number) => (reference.values[i] as number) < edge;
  return { below: all.filter(isBelow), others: all.filter((i) => !isBelow(i)) };
}

export const selectCases: OperationCases = {
  checked: [
    checked('filter', 'none', async (sorter, input, { call }) => {
      const edge = middleOf(input);
      const selected = await sorter.filter(input.keys, { below: edge }, call);
      return () => {
        const expected = input.reference.pick(positionsBelow(input, edge).below);
        return hasSameBytes(selected, expected) ? undefined : wrong(selected, expected);
      };
    }),
    checked('filter-mask', 'none', async (sorter, { keys, reference, n, random }, { call }) => {
      const mask = Uint8Array.from({ length: n }, () => random.below(3));
      const selected = await sorter.filter(keys, mask, call);
      return () => {
        const expected = reference.pick([...mask.keys()].filter((i) => mask[i] !== 0));
        return hasSameBytes(selected, expected) ? undefined : wrong(selected, expected);
      };
    }),
    checked('partition', 'none', async (sorter, input, { call }) => {
      const edge = middleOf(input);
      const parted = await sorter.partition(input.keys, { below: edge }, call);
      return () => {
        const { below, others } = positionsBelow(input, edge);
        if (parted.count !== below.length)
          return `expected ${below.length} keys below but got ${parted.count}`;
        const expected = input.reference.pick([...below, ...others]);
        return hasSameBytes(parted.keys, expected) ? undefined : wrong(parted.keys, expected);
      };
    }),
  ],
  timed: [
    timed('filter', () => async (sorter, { keys }) => [await sorter.filter(keys, { below: 2 ** 31 })]),
    timed('partition', () => async (sorter, { keys: from }) => {
      const { keys, count } = await sorter.partition(from, { below: 2 ** 31 });
      return [keys, count];
    }),
  ],
};
