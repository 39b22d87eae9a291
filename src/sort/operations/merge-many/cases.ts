import { hasSameBytes, wrong } from '../../cases/checks.js';
import { bytesOf, type CaseInput } from '../../cases/input.js';
import { type CaseOptions, checked, type OperationCases, timed, type Words } from '../case.js';

/** Divides the keys into sorted arrays of increasing length. The first two are empty. */
function sortedParts({ keys, n, reference }: CaseInput, count: number, order: Uint32Array) {
  const cuts = Array.from({ length: count }, (_, i) => Math.floor(n * (i / (count - 1)) ** 2));
  return [0, ...cuts.slice(0, -1)].map((begin, part) => {
    const end = cuts[part] as number;
    const array = keys.slice(begin, end);
    bytesOf(array).set(reference.pick(order.filter((i) => i >= begin && i < end)));
    return array;
  });
}

/** Numbers of arrays of which 64-bit keys are merged in pairs, and of which all keys are sorted. */
const COUNTS = [4, 18] as const;

export const mergeManyCases: OperationCases = {
  checked: [
    checked('mergeMany', 'auto', async (sorter, input, options: CaseOptions) => {
      const order = input.reference.order(options);
      const expected = input.reference.pick(order);
      const { bitRange: _, ...rest } = options.sort;
      const calls = COUNTS.map(async (count) => {
        const parts = sortedParts(input, count, order);
        const merged = await sorter.mergeMany(parts, rest);
        if (!hasSameBytes(merged, expected)) return wrong(merged, expected);
        const again = sortedParts(input, count, order);
        const isKept = parts.every((part, i) => hasSameBytes(part, bytesOf(again[i] as typeof part)));
        return isKept ? undefined : 'a merged array was changed';
      });
      const [few, many] = await Promise.all(calls);
      return () => few ?? many;
    }),
  ],
  timed: [4, 16].map((count) =>
    timed(`mergeMany-${count}`, () => async (sorter, { values }) => [
      await sorter.mergeMany<Words>(Array.from({ length: count }, () => values)),
    ]),
  ),
};
