import { hasSameBytes, wrong } from '../../cases/checks.js';
import { bytesOf } from '../../cases/input.js';
import { equalOffsets, segmentOrder, segmentsOf } from '../../cases/segments.js';
import { type CallOperation, checked, type OperationCases, timed } from '../case.js';

/** Returns views of the keys of equal length; the last may be shorter. */
function equalArrays(keys: Uint32Array, length: number): Uint32Array[] {
  const arrays = Math.ceil(keys.length / length);
  return Array.from({ length: arrays }, (_, i) => keys.subarray(i * length, (i + 1) * length));
}

/** Sorts arrays on the host; on the device, where the keys are contiguous, it sorts segments. */
const manyOf = (length: number): CallOperation =>
  timed(`sortMany-${length}`, (n) => {
    const offsets = equalOffsets(n, length);
    let arrays: Uint32Array[] | undefined;
    return async (sorter, { keys }) => {
      if (!(keys instanceof Uint32Array)) return [await sorter.segmentedSort(keys, offsets)];
      arrays ??= equalArrays(keys, length);
      const [first] = await sorter.sortMany(arrays);
      return first ? [new Uint32Array(first.buffer, first.byteOffset, keys.length)] : [];
    };
  });

export const manyCases: OperationCases = {
  checked: [
    checked('sortMany', 'auto', async (sorter, input, options) => {
      const offsets = segmentsOf(input);
      const parts = offsets.slice(1).map((end, s) => input.keys.subarray(offsets[s], end));
      const sorted = await sorter.sortMany(parts, options.sort);
      return () => {
        const expected = input.reference.pick(segmentOrder(input, offsets, options));
        const all = Buffer.concat(sorted.map(bytesOf));
        return hasSameBytes(all, expected) ? undefined : wrong(all, expected);
      };
    }),
  ],
  timed: [manyOf(1000)],
};
