/**
 * Lists every program that clsort would build on a device, without the device: its source and its options, as requested
 * by the algorithm factories. For vendors' compilers (compile-vendors.mjs) and drivers (ptx-targets.mjs).
 */
import { type AlgorithmShape, tunedShape } from '../src/algorithms/algorithm.js';
import type { Tuning } from '../src/algorithms/parameters.js';
import { ALGORITHMS } from '../src/algorithms/registry.js';
import { knownTunings } from '../src/algorithms/tuning.js';
import type { Device } from '../src/device/device.js';
import type { Capabilities } from '../src/device/platform/capabilities.js';
import type { DeviceInfo } from '../src/device/platform/platform.js';
import { programOptions, programSource } from '../src/device/programs/program-source.js';
import { DTYPES, dtypeInfo } from '../src/keys/dtype.js';
import { HISTOGRAM_LAB_STEPS, HistogramLab } from '../src/lab/histogram.js';
import { Reduction } from '../src/lab/reduce.js';
import { SCAN_LAB_STEPS, SCAN_STEPS, Scan } from '../src/lab/scan.js';
import { buildCompaction } from '../src/primitives/compact.js';
import { Gathers } from '../src/primitives/gather.js';
import { createGatherColumns } from '../src/primitives/gather-columns.js';
import { buildForGroups } from '../src/primitives/group.js';
import { buildHistogramColumns } from '../src/primitives/histogram-columns.js';
import { buildJoin } from '../src/primitives/join.js';
import { KINDS, REDUCE_OPS, SCAN_OPS } from '../src/primitives/possible.js';
import { buildScan } from '../src/primitives/prefix-scan.js';
import { defaultPrimitiveTuning } from '../src/primitives/primitive-program.js';
import { SELECT_BITS } from '../src/primitives/rank-select.js';
import { buildReduceOnce } from '../src/primitives/reduce.js';
import { buildReduceRuns } from '../src/primitives/reduce-runs.js';
import { Checksums } from '../src/sort/verification/checksum.js';
import { GroupSums } from '../src/sort/verification/group-sums.js';
import { Verifier } from '../src/sort/verification/verify.js';
import { UnsupportedError, UsageError } from '../src/util/errors.js';

/** A program as the driver's compiler receives it. */
export interface Variant {
  /** Path below cl/. */
  readonly file: string;
  readonly source: string;
  readonly options: string;
  /** Description of its purpose. */
  readonly purpose: string;
  /** Kernels that are requested from it. */
  readonly kernels: Set<string>;
}

/** The properties of a device that determine which programs are built. */
export interface Described {
  readonly info: Pick<DeviceInfo, 'name' | 'platform' | 'vendor' | 'driver'>;
  readonly capabilities: Capabilities;
}

const KEY_BITS = [8, 16, 32, 64] as const;
const VALUE_BYTES = [0, 1, 2, 4, 8, 16];
/** Numbers of keys at which parameters change, and around the limits of 32-bit positions. */
const SIZES = [100, 2 ** 12, 2 ** 16, 2 ** 18, 2 ** 20, 2 ** 21, 2 ** 22, 2 ** 24, 2 ** 26, 2 ** 28, 2 ** 31];

/** Programs of operations that are built per key width, with their kernels. */
const FOR_KEYS: readonly (readonly [
  file: string,
  kernels: readonly string[],
  defines?: Readonly<Record<string, number>>,
])[] = [
  ['canonical.cl', ['canonical']],
  ['unique.cl', ['unique_counts']],
  ['select_segments.cl', ['select_segments']],
  ['top_short.cl', ['top_short'], { SEGMENT: 512, FIRST: 128, ROWS: 0 }],
  ['top_short.cl', ['top_short'], { SEGMENT: 4096, FIRST: 512, ROWS: 1 }],
  [
    'top_k.cl',
    ['select_count', 'select_digit', 'select_sums', 'select_offsets', 'select_write'],
    { SELECT_BITS },
  ],
  ['top_few.cl', ['few_pass', 'few_rank'], { SELECT_BITS }],
  ['rank_select.cl', ['rank_pass'], { SELECT_BITS }],
  ['search_sorted.cl', ['search_sorted', 'contains']],
  ['member_table.cl', ['mark_members', 'find_members']],
  ['merge_arrays.cl', ['merge_arrays', 'merge_tiles'], { ITEMS: 8 }],
];
/** Widths of columns that `lexsort` packs, and of the words that it packs them into. */
const PACKED: readonly (readonly [keyBits: number, packedBits: number])[] = [
  [8, 32],
  [8, 64],
  [16, 32],
  [16, 64],
  [32, 64],
];

/**
 * A device that builds nothing and records the requested programs. Every kernel supports work-groups up to the device's
 * limit, and the sub-groups that it was built for.
 */
class NotingDevice {
  readonly info: Described['info'];
  readonly capabilities: Capabilities;
  readonly noted = new Map<string, Variant>();
  purpose = '';

  constructor({ info, capabilities }: Described) {
    this.info = info;
    this.capabilities = capabilities;
  }

  async program(
    file: string,
    defines: Readonly<Record<string, string | number>> = {},
    options: readonly string[] = [],
  ): Promise<unknown> {
    const all = programOptions(this.capabilities.quirks, defines, options);
    const key = `${file} ${all}`;
    const { purpose } = this;
    const variant = this.noted.get(key) ?? {
      file,
      source: programSource(file),
      options: all,
      purpose,
      kernels: new Set<string>(),
    };
    this.noted.set(key, variant);
    const kernel = (name: string) => {
      variant.kernels.add(name);
      return {
        name,
        workGroupLimit: this.capabilities.maxWorkGroup,
        localBytes: 0,
        subGroupSize: () => Number(defines.SUB_GROUP_SIZE ?? 0),
      };
    };
    return { kernel };
  }

  /** Returns a dummy; no kernel runs. */
  allocatePersistent(): unknown {
    return {};
  }
}

/** Ignores programs that the device does not support. */
async function ifPossible(build: () => unknown): Promise<void> {
  try {
    await build();
  } catch (error) {
    if (!(error instanceof UnsupportedError || error instanceof UsageError)) throw error;
  }
}

/** Returns variants of every algorithm that tuning does not select: kinds of votes, and tunings for other devices. */
function voteVariants(name: string, { votes }: Capabilities): Tuning[] {
  const khr = votes.has('khr')
    ? [16, 32, 64].map((subGroupSize) => ({ rank: 'khr', subGroupSize, groupSize: 4 * subGroupSize }))
    : [];
  switch (name) {
    case 'row':
      return [
        {},
        { row: 32 },
        { trace: true },
        ...[...votes].filter((vote) => vote !== 'masks').map((vote) => ({ vote })),
      ];
    case 'serial':
      return [{}, { offsetBits: 64 }];
    case 'single-workgroup':
      return [{}, ...khr];
    case 'tiled':
    case 'onesweep':
      return [{}, { offsetBits: 64 }, { valuesAfter: true }, { valuesAfter: false }, ...khr];
    case 'persistent':
      return [{}, { groupsPerUnit: 1 }, { groupsPerUnit: 1, valuesAfter: true }];
    default:
      return [{}, ...knownTunings(name)];
  }
}

/** Returns all programs of a device, without duplicates, in a fixed order. */
export async function variantsOf(described: Described): Promise<Variant[]> {
  const noting = new NotingDevice(described);
  const device = noting as unknown as Device;
  const { capabilities } = described;
  for (const factory of ALGORITHMS) {
    for (const keyBits of KEY_BITS) {
      for (const valueBytes of VALUE_BYTES) {
        for (const tuning of voteVariants(factory.name, capabilities)) {
          for (const n of SIZES) {
            const shape: AlgorithmShape = { keyBits, valueBytes, tuning };
            noting.purpose = `${factory.name} of ${keyBits}-bit keys with ${valueBytes} bytes of values`;
            await ifPossible(async () => {
              for (const longest of [undefined, ...(factory.bounds ?? [])]) {
                const tuned = tunedShape(factory, device, shape, n, { longest });
                if (typeof tuned !== 'string') await factory.create(device, tuned);
              }
            });
          }
        }
      }
    }
  }
  await operations(noting, device);
  return [...noting.noted.values()];
}

/** Requests the programs of operations other than sorts. */
async function operations(noting: NotingDevice, device: Device): Promise<void> {
  for (const keyBits of KEY_BITS) {
    noting.purpose = `operations on ${keyBits}-bit keys`;
    for (const [file, kernels, defines] of FOR_KEYS) {
      await buildForGroups(device, file, kernels, { KEY_BITS: keyBits, VALUE_BYTES: 0, ...defines });
    }
    for (const valueBytes of VALUE_BYTES) {
      await Verifier.create(device, { keyBits, valueBytes });
    }
  }
  noting.purpose = 'operations';
  (await device.program('driver_probe.cl')).kernel('driver_probe');
  await buildForGroups(device, 'segment.cl', ['segment_ids'], {});
  await buildJoin(device);
  await buildForGroups(device, 'top_segments.cl', ['top_counts', 'top_positions'], {});
  for (const [keyBits, packedBits] of PACKED) {
    const defines = { KEY_BITS: keyBits, VALUE_BYTES: 0, PACKED_BITS: packedBits };
    await buildForGroups(device, 'append_code.cl', ['append_code'], defines);
  }
  await Checksums.create(device);
  for (const dtype of DTYPES) {
    const shape = { KEY_BITS: dtypeInfo(dtype).width, VALUE_BYTES: 0 };
    await buildForGroups(device, 'histogram.cl', ['histogram_global'], shape);
  }
  await primitives(noting, device);
  await labs(noting, device);
  for (let elementBytes = 1; elementBytes <= 16; elementBytes++) {
    await Gathers.of(device, elementBytes);
  }
  for (const elementBytes of [4, 8]) await Gathers.of(device, elementBytes, 64);
  for (const indexBits of [32, 64] as const) await createGatherColumns(device, indexBits);
}

/** Requests scans, compactions, reductions and histograms, and the verification of their results. */
async function primitives(noting: NotingDevice, device: Device): Promise<void> {
  const { hasAcquireRelease } = device.capabilities;
  for (const dtype of DTYPES) {
    noting.purpose = `primitives over ${dtype} keys`;
    const { kind, width } = dtypeInfo(dtype);
    const shape = { KEY_BITS: width, VALUE_BYTES: 0 };
    const tuned = defaultPrimitiveTuning(device, dtype);
    // For devices where groups cannot wait for each other, and where they can.
    const tunings = [
      { ...tuned, lookBack: 0 },
      ...(tuned.lookBack > 0 ? [tuned, { ...tuned, held: true }] : []),
    ];
    for (const op of SCAN_OPS) {
      for (const tuning of tunings) await ifPossible(() => buildScan(device, { dtype, op, tuning }));
      if (kind === 'float' && (op === 'sum' || op === 'product')) continue;
      const defines = { ...shape, OP: SCAN_OPS.indexOf(op), KIND: KINDS[kind], WIDE: 0 };
      await GroupSums.create(device, 'verify_scan', defines);
    }
    for (const op of REDUCE_OPS) {
      if (dtype.endsWith('f16') && op === 'sum') continue;
      await ifPossible(() => buildReduceOnce(device, { dtype, op, tuning: tuned }));
      await ifPossible(() => buildReduceRuns(device, { dtype, op }));
    }
    for (const by of ['mask', 'range', 'heads', 'moved heads'] as const) {
      for (const tuning of tunings) await buildCompaction(device, { dtype, by, tuning });
    }
    for (const by of ['bits', 'even', 'edges'] as const) {
      for (const columns of [1, 32])
        for (const handsOver of hasAcquireRelease ? [false, true] : [false])
          await buildHistogramColumns(device, { dtype, by, columns, handsOver, tuning: tuned });
    }
    for (const predicate of [0, 1, 2]) {
      await GroupSums.create(device, 'verify_sequence', { ...shape, CHOOSE: predicate });
    }
    for (const name of ['verify_unique', 'verify_top']) await GroupSums.create(device, name, shape);
  }
}

/** Requests the programs for explanations and measurements only, with and without traces. */
async function labs(noting: NotingDevice, device: Device): Promise<void> {
  noting.purpose = 'the lab';
  const steps = [...SCAN_STEPS, ...SCAN_LAB_STEPS];
  for (const lab of [{}, { groupSize: 64, trace: true }]) {
    for (const dtype of ['u8', 'u32', 'f32', 'u64'] as const) {
      for (const op of REDUCE_OPS) {
        for (const subGroups of [false, true]) {
          await ifPossible(() => Reduction.create(device, { dtype, op, lab, subGroups }));
        }
      }
      for (const step of steps) await ifPossible(() => Scan.create(device, { dtype, step, lab }));
      for (const step of HISTOGRAM_LAB_STEPS)
        await ifPossible(() => HistogramLab.create(device, { dtype, step, lab }));
    }
  }
  for (const valueBytes of [0, 4]) {
    const defines = { KEY_BITS: 32, VALUE_BYTES: valueBytes };
    await buildForGroups(device, 'bitonic_lab.cl', ['bitonic_alternating'], defines);
    await buildForGroups(device, 'amd_lab.cl', ['permute_blocks'], defines, { groupSize: 64 });
  }
}
