import type { AlgorithmFactory } from '../../algorithms/algorithm.js';
import { RADIX, RUN } from '../../algorithms/amd-geometry.js';
import { amdPassModel } from '../../algorithms/amd-radix-model.js';
import { bitonic } from '../../algorithms/bitonic.js';
import { oddEven } from '../../algorithms/odd-even.js';
import type { Tuning } from '../../algorithms/parameters.js';
import { createRowSort } from '../../algorithms/row-sort.js';
import { codecArgument } from '../../device/codec-argument.js';
import type { Device } from '../../device/device.js';
import { buildFittedProgram, roundUpToGroups } from '../../device/fitted-program.js';
import { u32, u64 } from '../../device/queue/queue.js';
import { keyCodec } from '../../keys/key-codec.js';
import { UnsupportedError } from '../../util/errors.js';
import { type Prepared, type StepMaker, same, type Task } from './task.js';

const CODEC = keyCodec('u32');
const WHOLE = [0, 32] as const;
const codec = codecArgument(CODEC);

/** Returns a step that runs a whole sort with one algorithm. */
function sortStep(
  step: string,
  factory: AlgorithmFactory,
  tuning: Tuning,
  n: number,
  expected: Uint32Array,
): StepMaker {
  return {
    step,
    async make(device) {
      const shape = { keyBits: 32, valueBytes: 0, tuning } as const;
      const available = factory.available(device, shape);
      if (available !== true) throw new UnsupportedError(`cannot run ${step}: ${available}`);
      const algorithm = await factory.create(device, shape);
      const supported = algorithm.supports({ dtype: 'u32', n, bits: WHOLE, valueBytes: 0 });
      if (supported !== true) throw new UnsupportedError(`cannot run ${step}: ${supported}`);
      const sizes = algorithm.scratch(n, { inPlace: false, bits: WHOLE });
      return {
        ...{ resultBytes: n * 4, scratchBytes: Object.values(sizes) },
        enqueue([input], output, taken) {
          const scratch = Object.fromEntries(
            Object.keys(sizes).map((name, i) => [name, taken[i] as typeof output]),
          );
          if (input)
            algorithm.enqueue(device.queue, { n, input, output, codec: CODEC, bits: WHOLE, scratch });
          return output;
        },
        right: (bytes) => same(bytes, expected),
      };
    },
  };
}

/** Returns a step with the textbook's bitonic network, whose blocks alternate between ascending and descending. */
function alternatingStep(n: number, expected: Uint32Array): StepMaker {
  return {
    step: 'bitonic_alternating',
    async make(device) {
      if (2 ** Math.round(Math.log2(n)) !== n)
        throw new UnsupportedError(`cannot sort ${n} keys: the alternating form needs a power of two`);
      const { program, groupSize } = await buildFittedProgram(
        device,
        'bitonic_lab.cl',
        ['bitonic_alternating'],
        256,
        (size) => ({ KEY_BITS: 32, VALUE_BYTES: 0, GROUP_SIZE: size }),
      );
      return {
        ...{ resultBytes: n * 4, scratchBytes: [] },
        enqueue([input], output) {
          if (input) device.queue.copy(input, output, { bytes: n * 4 });
          for (let size = 2; size <= n; size *= 2) {
            for (let stride = size / 2; stride >= 1; stride /= 2) {
              const args = [output, u64(n), u64(0xffff_ffff), u64(size), u64(stride)];
              const global = roundUpToGroups(Math.ceil(n / 2), groupSize);
              device.queue.run(program.kernel('bitonic_alternating'), args, { global, local: groupSize });
            }
          }
          return output;
        },
        right: (bytes) => same(bytes, expected),
      };
    },
  };
}

/** Returns the keys in separately sorted runs of `length` keys. */
function sortRuns(keys: Uint32Array, length: number): Uint32Array {
  const out = keys.slice();
  for (let at = 0; at < out.length; at += length) out.subarray(at, at + length).sort();
  return out;
}

/** Length of the runs that one pass merges. All three regimes support it, with tiles of twice as many keys. */
const RUN_KEYS = 512;
const TILE = 2 * RUN_KEYS;
const MERGE_KERNELS = ['merge_pairs', 'merge_local', 'merge_split', 'merge_tiles'];
type MergeRegime = 'short' | 'middle' | 'long';

function mergeStep(regime: MergeRegime, n: number, expected: Uint32Array): StepMaker {
  return {
    step: `merge_${regime}`,
    async make(device) {
      if (device.capabilities.localBytes < TILE * 4)
        throw new UnsupportedError(`cannot merge tiles of ${TILE} keys: they do not fit in local memory`);
      const { program, groupSize } = await buildFittedProgram(
        device,
        'merge.cl',
        MERGE_KERNELS,
        256,
        (size) => ({ KEY_BITS: 32, VALUE_BYTES: 0, GROUP_SIZE: size, TILE }),
      );
      const tiles = Math.ceil(n / TILE);
      return {
        ...{ resultBytes: n * 4, scratchBytes: [(tiles + 1) * 8] },
        enqueue([input], output, [splits]) {
          if (!input || !splits) return output;
          const { queue } = device;
          const order = [u64(n), u64(0xffff_ffff)];
          const last = [codec, u32(0)];
          const run = (kernel: string, args: Parameters<typeof queue.run>[1], global: number) =>
            queue.run(program.kernel(kernel), args, { global, local: groupSize });
          if (regime === 'short') {
            const pairs = roundUpToGroups(Math.ceil(n / TILE), groupSize);
            run('merge_pairs', [input, output, ...order, u32(RUN_KEYS), ...last], pairs);
          } else if (regime === 'middle') {
            run('merge_local', [input, output, ...order, u32(RUN_KEYS), ...last], tiles * groupSize);
          } else {
            run(
              'merge_split',
              [input, splits, ...order, u64(RUN_KEYS), u64(tiles)],
              roundUpToGroups(tiles, groupSize),
            );
            run('merge_tiles', [input, output, splits, ...order, u64(RUN_KEYS), ...last], tiles * groupSize);
          }
          return output;
        },
        right: (bytes) => same(bytes, expected),
      };
    },
  };
}

const ROW_KEYS = 32;

function voteStep(vote: 'masks' | 'khr' | 'ptx', n: number, expected: Uint32Array): StepMaker {
  return {
    step: `votes_${vote}`,
    async make(device) {
      if (!device.capabilities.votes.has(vote))
        throw new UnsupportedError(`cannot vote by ${vote}: the device does not support it`);
      const sort = await createRowSort(device, {
        keyBits: 32,
        valueBytes: 0,
        tuning: { vote, row: ROW_KEYS },
      });
      return {
        ...{ resultBytes: n * 4, scratchBytes: [] },
        enqueue([from], to) {
          if (from)
            sort.enqueueRows(device.queue, { from, to, n, rowLength: ROW_KEYS, codec: CODEC, bits: WHOLE });
          return to;
        },
        right: (bytes) => same(bytes, expected),
      };
    },
  };
}

const AMD_KERNELS = ['ScanArraysdim2', 'ScanArraysdim2_one_bin', 'permute', 'permute_blocks'];
/** Largest number of keys for which the host computes the tables of a pass. */
const MAX_AMD_KEYS = 2 ** 26;

const buildAmd = (device: Device) =>
  buildFittedProgram(
    device,
    'amd_lab.cl',
    AMD_KERNELS,
    Math.min(64, device.capabilities.localBytes / RADIX),
    (size) => ({ KEY_BITS: 32, VALUE_BYTES: 0, GROUP_SIZE: size }),
  );

/** Returns tasks for the two slowest kernels of the classic pipeline, on the tables of its first pass. */
function amdTasks(keys: Uint32Array): Task[] {
  const n = keys.length;
  if (n > MAX_AMD_KEYS) return [];
  const model = amdPassModel(
    keys.map((key) => key & 0xff),
    RADIX - 1,
  );
  const { blocks, runs } = model.geometry;
  const expected = new Uint32Array(n);
  keys.forEach((key, i) => {
    expected[model.places[i] as number] = key;
  });
  const scan =
    (kernel: string, groupsOfBins: number) =>
    async (device: Device): Promise<Prepared> => {
      const { program, groupSize } = await buildAmd(device);
      return {
        ...{ resultBytes: blocks * RADIX * 4, scratchBytes: [RADIX * runs * 4] },
        enqueue([buckets], scanned, [sums]) {
          if (!buckets || !sums) return scanned;
          const ranges = { global: [runs * groupSize, groupsOfBins], local: [groupSize, 1] };
          device.queue.run(program.kernel(kernel), [buckets, scanned, sums], ranges);
          return scanned;
        },
        right: (bytes) => same(bytes, model.scannedInRuns),
      };
    };
  const move =
    (kernel: string, groupsOf: (groupSize: number) => number) =>
    async (device: Device): Promise<Prepared> => {
      const { program, groupSize } = await buildAmd(device);
      return {
        ...{ resultBytes: n * 4, scratchBytes: [] },
        enqueue([input, places], output) {
          if (!input || !places) return output;
          const args = [input, output, places, u64(n), codec, u32(0), u32(0), u32(8)];
          device.queue.run(program.kernel(kernel), args, {
            global: groupsOf(groupSize) * groupSize,
            local: groupSize,
          });
          return output;
        },
        right: (bytes) => same(bytes, expected),
      };
    };
  const scanOnHost = (): void => {
    for (let slot = 0, block = 0; slot < model.buckets.length; slot++) {
      if (slot % RADIX === 0) block = slot / RADIX;
      if (block % RUN === 0) scratch[slot] = 0;
      else scratch[slot] = (scratch[slot - RADIX] as number) + (model.buckets[slot - RADIX] as number);
    }
  };
  const scratch = new Uint32Array(model.buckets.length);
  const moved = new Uint32Array(n);
  const moveOnHost = (): void => {
    const next = model.binBases.slice();
    for (const key of keys) {
      const digit = key & 0xff;
      const place = next[digit] as number;
      next[digit] = place + 1;
      moved[place] = key;
    }
  };
  return [
    {
      ...{
        ladder: 'sorts',
        task: 'scan of blocks',
        inputs: [model.buckets],
        bytes: 2 * model.buckets.byteLength,
      },
      host: scanOnHost,
      steps: [
        { step: 'amd_scan_one_bin', make: scan('ScanArraysdim2_one_bin', RADIX) },
        { step: 'amd_scan_16_bins', make: scan('ScanArraysdim2', RADIX / 16) },
      ],
    },
    {
      ...{ ladder: 'sorts', task: 'move of a pass', inputs: [keys, model.scannedBuckets], bytes: n * 8 },
      host: moveOnHost,
      steps: [
        { step: 'amd_permute_64_blocks', make: move('permute_blocks', (groupSize) => blocks / groupSize) },
        { step: 'amd_permute_one_block', make: move('permute', () => blocks) },
      ],
    },
  ];
}

/**
 * Returns the sort tasks: whole sorts by networks, one pass of the merge sort in its three regimes, rows of 32 keys,
 * and kernels of the AMD pipeline.
 */
export function sortTasks(keys: Uint32Array): Task[] {
  const n = keys.length;
  const sorted = keys.toSorted();
  const runs = sortRuns(keys, RUN_KEYS);
  const merged = sortRuns(keys, TILE);
  const rows = sortRuns(keys, ROW_KEYS);
  const bytes = n * 8;
  return [
    {
      ...{ ladder: 'sorts', task: 'network', inputs: [keys], bytes, host: () => keys.toSorted() },
      steps: [
        sortStep('bitonic_global', bitonic, { network: true }, n, sorted),
        alternatingStep(n, sorted),
        sortStep('bitonic_local', bitonic, {}, n, sorted),
        sortStep('odd_even', oddEven, {}, n, sorted),
      ],
    },
    {
      ...{
        ladder: 'sorts',
        task: 'merge of runs of 512',
        inputs: [runs],
        bytes,
        host: () => sortRuns(runs, TILE),
      },
      steps: (['short', 'middle', 'long'] as const).map((regime) => mergeStep(regime, n, merged)),
    },
    {
      ...{ ladder: 'sorts', task: 'rows of 32', inputs: [keys], bytes, host: () => sortRuns(keys, ROW_KEYS) },
      steps: (['masks', 'khr', 'ptx'] as const).map((vote) => voteStep(vote, n, rows)),
    },
    ...amdTasks(keys),
  ];
}
