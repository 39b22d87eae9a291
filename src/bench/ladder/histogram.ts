import type { Device } from '../../device/device.js';
import type { Buffer } from '../../device/memory/buffer.js';
import type { Dtype } from '../../keys/dtype.js';
import { HistogramLab, type HistogramLabStep, MERGES } from '../../lab/histogram.js';
import { type StepMaker, same, type Task } from './task.js';

function hostHistogram(keys: Uint32Array | Uint8Array, bins: number): Uint32Array {
  const counts = new Uint32Array(bins);
  for (const key of keys) counts[key % bins] = (counts[key % bins] as number) + 1;
  return counts;
}

/** Returns a counting step, including the merge of the work-groups' histograms. */
function counter(
  step: HistogramLabStep,
  keys: Uint32Array | Uint8Array,
  bins: number,
  { expected, dtype, name = step }: { expected: Uint32Array; dtype: Dtype; name?: string },
): StepMaker {
  const n = keys.length;
  return {
    step: name,
    async make(device) {
      const lab = await HistogramLab.create(device, { dtype, step });
      return {
        ...{ resultBytes: bins * 4, scratchBytes: [step === 'global' ? 4 : lab.groups(n) * bins * 4] },
        enqueue([input], counts, [partials = counts]) {
          const bits = [0, Math.log2(bins)] as const;
          if (input) lab.enqueue(device.queue, { keys: input, n, bits, partials, counts });
          return counts;
        },
        right: (bytes) => same(bytes, expected),
      };
    },
  };
}

/**
 * Returns the histogram tasks: counts by the lowest bits with 64 and 256 bins, an image of bytes, and the merge of the
 * work-groups' histograms.
 */
export function histogramTasks(keys: Uint32Array): Task[] {
  const n = keys.length;
  const of = (task: string, bins: number, steps: readonly HistogramLabStep[]): Task => {
    const expected = hostHistogram(keys, bins);
    return {
      ...{ ladder: 'histogram', task, inputs: [keys], bytes: n * 4, host: () => hostHistogram(keys, bins) },
      steps: steps.map((step) => counter(step, keys, bins, { expected, dtype: 'u32' })),
    };
  };
  const image = new Uint8Array(n);
  for (let i = 0; i < n; i++) image[i] = keys[i] as number;
  const shades = hostHistogram(image, 256);
  const shadeNames = { expected: shades, dtype: 'u8' } as const;
  return [
    of('64 bins', 64, ['global', 'private_items', 'private_bins', 'permuted', 'tagged', 'waves']),
    of('256 bins', 256, ['global', 'tagged', 'waves']),
    {
      ...{ ladder: 'histogram', task: 'image of bytes', inputs: [image], bytes: n },
      host: () => hostHistogram(image, 256),
      steps: [
        counter('waves', image, 256, { ...shadeNames, name: 'bytes_scalar' }),
        counter('bytes_vector', image, 256, shadeNames),
      ],
    },
    mergeTask(n),
  ];
}

/** Returns the number of work-groups whose histograms are merged, for n keys. */
const groupsFor = (n: number): number => Math.max(1, Math.ceil(n / (240 * 256)));

function mergeTask(n: number): Task {
  const bins = 64;
  const groups = groupsFor(n);
  const partials = new Uint32Array(groups * bins).map((_, i) => (i * 2654435761) >>> 24);
  const merged = (): Uint32Array => {
    const counts = new Uint32Array(bins);
    for (let i = 0; i < partials.length; i++)
      counts[i % bins] = (counts[i % bins] as number) + (partials[i] as number);
    return counts;
  };
  const expected = merged();
  const make = (merge: (typeof MERGES)[number]) => async (device: Device) => {
    const lab = await HistogramLab.create(device, { dtype: 'u32', step: 'waves' });
    return {
      ...{ resultBytes: bins * 4, scratchBytes: [] },
      enqueue([input]: readonly Buffer[], counts: Buffer) {
        if (input) lab.enqueueMerge(device.queue, { partials: input, counts, bins, groups, merge });
        return counts;
      },
      right: (bytes: Uint8Array) => same(bytes, expected),
    };
  };
  return {
    ...{
      ladder: 'histogram',
      task: 'merge of groups',
      inputs: [partials],
      bytes: partials.byteLength,
      host: merged,
    },
    steps: MERGES.map((merge) => ({ step: `merge_${merge}`, make: make(merge) })),
  };
}
