import { hasSameBytes } from '../../cases/checks.js';
import { bytesOf, type CaseInput } from '../../cases/input.js';
import { checked, type OperationCases, timed } from '../case.js';
import { type JoinKind, NO_PARTNER } from './join.js';

/** Most pairs of a case for each key. */
const MAX_PAIRS_EACH = 4;

/**
 * Cuts the keys into two overlapping arrays, [0, 2n/3) and [n/3, n), and shortens the second one if they have too many
 * pairs. `partners` has the positions in `b` of each number.
 */
function twoColumns({ keys, n, reference }: CaseInput) {
  const values = Array.from(reference.values as ArrayLike<number>);
  const [begin, end] = [Math.floor(n / 3), Math.floor((2 * n) / 3)];
  const inA = values.slice(0, end);
  const counts = new Map<number, number>(); // a Map treats zeros of either sign as equal, and NaNs too
  for (const value of inA) counts.set(value, (counts.get(value) ?? 0) + 1);
  const partners = new Map<number, number[]>();
  let stop = begin;
  for (let pairs = 0; stop < n && pairs < MAX_PAIRS_EACH * n; stop++) {
    const value = values[stop] as number;
    pairs += counts.get(value) ?? 0;
    const places = partners.get(value);
    if (places) places.push(stop - begin);
    else partners.set(value, [stop - begin]);
  }
  return { a: keys.subarray(0, end), b: keys.subarray(begin, stop), inA, partners };
}

/** Pairs of one key at position i, from the positions of its partners. */
const PAIRS: Readonly<Record<JoinKind, (places: readonly number[], i: number) => (readonly number[])[]>> = {
  inner: (places, i) => places.map((place) => [i, place]),
  left: (places, i) => (places.length > 0 ? places : [NO_PARTNER]).map((place) => [i, place]),
  semi: (places, i) => (places.length > 0 ? [[i]] : []),
  anti: (places, i) => (places.length > 0 ? [] : [[i]]),
};

const KINDS = Object.keys(PAIRS) as JoinKind[];

export const joinCases: OperationCases = {
  checked: KINDS.map((kind) =>
    checked(`join-${kind}`, 'auto', async (sorter, input, options) => {
      const { a, b, inA, partners } = twoColumns(input);
      const { left, right } = await sorter.join<typeof a, 'inner'>(a, b, {
        ...options.sort,
        kind: kind as 'inner',
      });
      return () => {
        const pairs = inA.flatMap((value, i) => PAIRS[kind](partners.get(value) ?? [], i));
        for (const [j, found] of [left, right as Uint32Array | undefined].entries()) {
          if (!found) continue;
          const expected = Uint32Array.from(pairs, (pair) => pair[j] as number);
          if (!hasSameBytes(found, bytesOf(expected))) return `${j === 0 ? 'left' : 'right'} is wrong`;
        }
        return undefined;
      };
    }),
  ),
  timed: [
    timed('join', () => async (sorter, { indices, values }) => {
      const { left, right } = await sorter.join(indices, values);
      return [left, right];
    }),
  ],
};
