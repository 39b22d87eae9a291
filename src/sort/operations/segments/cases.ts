import { hasSameBytes, wrong } from '../../cases/checks.js';
import { bytesOf } from '../../cases/input.js';
import { equalSegments, segmentOrder, segmentsOf, zipfOffsets } from '../../cases/segments.js';
import {
  type CallOperation,
  type CallResult,
  checked,
  type OperationCall,
  type OperationCases,
  timed,
} from '../case.js';

/** Number of keys taken from each segment. */
const FIRST_OF_SEGMENT = 10;
/** Builds a sort of segments; their offsets are passed before the inputs. */
const ofSegments = (
  name: string,
  offsetsOf: (n: number) => number | Uint32Array,
  call: (offsets: number | Uint32Array, ...rest: Parameters<OperationCall>) => Promise<CallResult>,
): CallOperation => ({
  name,
  isOneSort: true,
  prepare: (n) => {
    const offsets = offsetsOf(n);
    return (...rest) => call(offsets, ...rest);
  },
});

const sortsOf = (name: string | number, offsetsOf: (n: number) => number | Uint32Array): CallOperation =>
  ofSegments(`segmentedSort-${name}`, offsetsOf, async (offsets, sorter, { keys }, options) => [
    await sorter.segmentedSort(keys, offsets, options),
  ]);

const argsortOf = (length: number): CallOperation =>
  ofSegments(
    `segmentedArgsort-${length}`,
    (n) => equalSegments(n, length),
    async (offsets, sorter, { keys }, options) => [
      await sorter.segmentedArgsort(keys, offsets, { ...options, positions: 'segment' }),
    ],
  );

const pairsOf = (length: number): CallOperation =>
  ofSegments(
    `segmentedSortPairs-${length}`,
    (n) => equalSegments(n, length),
    async (offsets, sorter, inputs, options) => {
      const { keys, values } = await sorter.segmentedSortPairs(inputs.keys, inputs.values, offsets, options);
      return [keys, values];
    },
  );

export const segmentCases: OperationCases = {
  checked: [
    checked('segmentedSort', 'auto', async (sorter, input, options) => {
      const offsets = segmentsOf(input);
      const sorted = await sorter.segmentedSort(input.keys, offsets, options.sort);
      return () => {
        const expected = input.reference.pick(segmentOrder(input, offsets, options));
        return hasSameBytes(sorted, expected) ? undefined : wrong(sorted, expected);
      };
    }),
    checked('segmentedArgsort', 'auto', async (sorter, input, options) => {
      const offsets = segmentsOf(input);
      const places = await sorter.segmentedArgsort(input.keys, offsets, options.sort);
      return () => {
        const expected = bytesOf(Uint32Array.from(segmentOrder(input, offsets, options)));
        return hasSameBytes(places, expected) ? undefined : wrong(places, expected);
      };
    }),
    checked('topKSegments', 'auto', async (sorter, input, options) => {
      const offsets = segmentsOf(input);
      const { descending: largest = false, ...sort } = options.sort;
      const top = await sorter.topKSegments(input.keys, offsets, 10, { ...sort, largest });
      return () => {
        const all = segmentOrder(input, offsets, options);
        const expected = offsets
          .slice(1)
          .flatMap((end, s) => all.slice(offsets[s], Math.min(end, (offsets[s] as number) + 10)));
        if (!hasSameBytes(top.indices, bytesOf(Uint32Array.from(expected)))) return 'positions are wrong';
        return hasSameBytes(top.keys, input.reference.pick(expected)) ? undefined : 'keys are wrong';
      };
    }),
  ],
  timed: [
    timed('topKSegments-256', (n) => {
      const offsets = equalSegments(n, 256);
      return async (sorter, { keys: from }) => {
        const { keys, indices } = await sorter.topKSegments(from, offsets, FIRST_OF_SEGMENT);
        return [keys, indices];
      };
    }),
    ...[32, 256, 4096, 65536].map((length) => sortsOf(length, (n) => equalSegments(n, length))),
    sortsOf('zipf', zipfOffsets),
    ...[32, 256, 4096].map(argsortOf),
    ...[32, 256, 4096].map(pairsOf),
  ],
};
