/**
 * Devices for which vendors' compilers build without hardware: the compiler, the properties that determine plans and
 * programs, and the resource budget of kernels.
 */
import {
  type Capabilities,
  localBudgetOf,
  vendorInstructions,
  votesOf,
} from '../src/device/platform/capabilities.js';
import type { DeviceInfo } from '../src/device/platform/platform.js';
import { quirksOf } from '../src/device/platform/quirks.js';
import type { Described } from './variants.js';

/** Upper limits for the resources of a kernel; compile-vendors.mjs fails when one is exceeded. */
export interface Budget {
  /** Local memory of a work-group, in bytes. */
  readonly localBytes: number;
  /**
   * Private memory for spilled registers in bytes, by file of cl/, '*' for the others. At least twice the measured
   * amount: a tile in registers spills a little on devices with few registers.
   */
  readonly spilledBytes: Readonly<Record<string, number>>;
  /**
   * Statements of PTX of programs that a first call waits for, by file of cl/: a tenth more than the maximum. NVIDIA's
   * compiler takes 150 to 200 ms and 0.1 ms for each statement.
   */
  readonly statements?: Readonly<Record<string, number>>;
}

export interface Target extends Described {
  readonly compiler: 'ocloc' | 'amdgcn' | 'nvptx';
  /** Name of the target in the compiler. */
  readonly target: string;
  /** Language standard for the compiler when plans request 3.0. */
  readonly standard?: string;
  readonly budget: Budget;
}

/** Kernels that keep a tile in registers. */
const TILES = (bytes: number): Record<string, number> =>
  Object.fromEntries(
    [
      'onesweep.cl',
      'tiled_radix.cl',
      'persistent_radix.cl',
      'single_workgroup_radix.cl',
      'segment_tiles.cl',
      'segment_sweep.cl',
    ].map((file) => [file, bytes]),
  );

const KIB = 1024;
const GIB = 2 ** 30;

function described(
  info: Pick<DeviceInfo, 'name' | 'platform' | 'vendor'>,
  own: Pick<Capabilities, 'version' | 'computeUnits' | 'maxWorkGroup' | 'localBytes' | 'family'> &
    Partial<Capabilities>,
): Described {
  const device = { ...info, driver: '', type: 'gpu' } as DeviceInfo;
  const { localBytes, groupLocalBytes = localBytes, quirks = quirksOf(device) } = own;
  return {
    info: { ...info, driver: '' },
    capabilities: {
      type: 'gpu',
      architecture: undefined,
      groupLocalBytes,
      localBudget: localBudgetOf({ localBytes, groupLocalBytes, quirks }),
      unit: { localBytes, groupBytes: 0, registers: 65_536, items: 2048 },
      subGroupSizes: [],
      ptx: undefined,
      globalBytes: 16 * GIB,
      maxAllocation: 4 * GIB,
      extensions: new Set(),
      votes: votesOf(quirks, true),
      ...vendorInstructions(quirks),
      fp64: true,
      int64Atomics: true,
      unifiedMemory: false,
      deviceScopeAtomics: true,
      vectorWords: 1,
      quirks,
      ...own,
    },
  };
}

/** Devices by their ocloc names: Skylake, Ice Lake, Tiger Lake, Iris Xe MAX, Arc, Data Center GPU Max. */
const intel = (target: string, computeUnits: number, own: Partial<Capabilities> = {}): Target => ({
  compiler: 'ocloc',
  target,
  ...described(
    { name: `Intel ${target}`, platform: 'Intel(R) OpenCL Graphics', vendor: 'Intel(R) Corporation' },
    { version: 3, computeUnits, maxWorkGroup: 256, localBytes: 64 * KIB, family: 'intel', ...own },
  ),
  budget: { localBytes: 64 * KIB, spilledBytes: { ...TILES(6 * KIB), '*': KIB } },
});

const amd = (target: string, computeUnits: number): Target => ({
  compiler: 'amdgcn',
  target,
  ...described(
    { name: target, platform: 'AMD Accelerated Parallel Processing', vendor: 'Advanced Micro Devices, Inc.' },
    { version: 2, computeUnits, maxWorkGroup: 256, localBytes: 64 * KIB, family: 'amd' },
  ),
  budget: { localBytes: 64 * KIB, spilledBytes: { ...TILES(KIB), '*': 128 } },
});

/** Local memory that the hardware gives to one work-group; the driver reports 48 KiB. */
const nvidia = (target: string, name: string, localKib: number, unitKib: number): Target => ({
  compiler: 'nvptx',
  target,
  ...described(
    { name, platform: 'NVIDIA CUDA', vendor: 'NVIDIA Corporation' },
    {
      version: 3,
      computeUnits: 80,
      maxWorkGroup: 1024,
      localBytes: 48 * KIB,
      family: 'nvidia',
      votes: new Set(['masks', 'ptx']),
      architecture: target,
      groupLocalBytes: localKib * KIB,
      unit: { localBytes: unitKib * KIB, groupBytes: KIB, registers: 65_536, items: 2048 },
      ptx: { match: true, redux: true },
    },
  ),
  // Of all 1,520 programs for sm_90, 19 spill more than 256 bytes; the maximum is 580.
  budget: {
    localBytes: localKib * KIB,
    spilledBytes: { ...TILES(1280), '*': 0 },
    statements: {
      'persistent_radix.cl': 3300,
      'single_workgroup_radix.cl': 1100,
      'segment_rows.cl': 3700,
      'prefix_scan.cl': 2100,
      'compact.cl': 1400,
      'top_k.cl': 1100,
    },
  },
});

export const TARGETS: readonly Target[] = [
  intel('skl', 24),
  intel('icllp', 64, { fp64: false }),
  intel('tgllp', 96, { fp64: false, maxWorkGroup: 512 }),
  intel('dg1', 96, { fp64: false, maxWorkGroup: 512 }),
  intel('dg2', 512, { fp64: false, maxWorkGroup: 1024 }),
  // ocloc 22.43 rejects 3.0 for it: its own header needs images, which the device lacks.
  { ...intel('pvc', 512, { maxWorkGroup: 1024 }), standard: 'CL2.0' },
  amd('gfx906', 60),
  amd('gfx90a', 110),
  amd('gfx1030', 60),
  amd('gfx1100', 96),
  nvidia('sm_90', 'NVIDIA H100', 227, 228),
];

/** Cards for which the PTX of a newer card is assembled, with the local memory of a work-group. */
export const CARDS = [
  { target: 'sm_75', localBytes: 64 * KIB },
  { target: 'sm_80', localBytes: 163 * KIB },
  { target: 'sm_86', localBytes: 99 * KIB },
  { target: 'sm_89', localBytes: 99 * KIB },
  { target: 'sm_90', localBytes: 227 * KIB },
] as const;
