import type { DeviceInfo } from './platform.js';

/** Driver behaviour that the capabilities do not show. Every row of the table states its reason. */
export interface Quirks {
  /** Iterations of one loop after which a work-item stops silently. */
  readonly maxLoopIterations: number;
  /** Whether `-cl-std` is accepted. */
  readonly acceptsClStd: boolean;
  /** Whether event profiling returns real times. */
  readonly reportsTimes: boolean;
  /** How many times the compiler counts each byte of local memory that a kernel declares. */
  readonly localBytesFactor: number;
  /** Whether all host calls must come from one thread. */
  readonly singleThreaded: boolean;
  /** Whether this is a simulator, which sorts a few thousand keys a second. */
  readonly simulated: boolean;
  /** Whether the driver caches compiled programs on disk. */
  readonly cachesPrograms: boolean;
  /** Whether the compiler accepts inline PTX in OpenCL C. In `Capabilities`: and the device has the instructions. */
  readonly inlinePtx: boolean;
  /** Whether clEnqueueFillBuffer may be used. */
  readonly supportsFill: boolean;
  /** Whether buffers over host memory work in place, without copies. */
  readonly zeroCopy: boolean;
  /** Whether clFinish waits for everything and reports failures, whatever thread calls it. */
  readonly finishIsReliable: boolean;
  /** Seconds to poll for the end of a command before a thread waits for it. */
  readonly pollSeconds: number;
  /** Whether a profiling queue takes much longer to enqueue commands, even if no times are queried. */
  readonly slowProfiling: boolean;
}

interface QuirkRow {
  readonly matches: (device: DeviceInfo) => boolean;
  readonly quirks: Partial<Quirks>;
  readonly reason: string;
}

const NO_QUIRKS: Quirks = {
  maxLoopIterations: Number.POSITIVE_INFINITY,
  acceptsClStd: true,
  reportsTimes: true,
  localBytesFactor: 1,
  singleThreaded: false,
  simulated: false,
  cachesPrograms: false,
  inlinePtx: false,
  supportsFill: true,
  zeroCopy: false,
  finishIsReliable: false,
  pollSeconds: 0,
  slowProfiling: false,
};

const QUIRK_ROWS: readonly QuirkRow[] = [
  {
    matches: ({ platform }) => /portable computing language/i.test(platform),
    quirks: { cachesPrograms: true },
    reason: 'PoCL has its own cache of compiled kernels; a corrupt binary aborts the process',
  },
  {
    matches: ({ type, platform }) => type === 'cpu' && !/oclgrind|rusticl|clover/i.test(platform),
    quirks: { zeroCopy: true },
    reason: 'a CPU device uses host memory directly when a buffer is created over it',
  },
  {
    matches: ({ platform }) => /rusticl/i.test(platform),
    quirks: { maxLoopIterations: 65_535, reportsTimes: false },
    reason:
      'llvmpipe ends a loop after 65,535 iterations of a work-item; rusticl 22 reports all times as zero',
  },
  {
    matches: ({ platform, driver }) => /rusticl/i.test(platform) && Number.parseInt(driver, 10) < 25,
    quirks: { localBytesFactor: 2 },
    reason:
      'rusticl 22 reports and uses twice the local memory that a kernel declares; rusticl 25 does not, and versions ' +
      'between are untested',
  },
  {
    matches: ({ platform }) => /clover/i.test(platform),
    quirks: { maxLoopIterations: 65_535, acceptsClStd: false, singleThreaded: true },
    reason:
      'llvmpipe as above; Clover rejects -cl-std=CL1.2 because its devices are OpenCL 1.1, and it crashed when ' +
      'it was called from several threads',
  },
  {
    matches: ({ platform }) => /oclgrind/i.test(platform),
    quirks: { singleThreaded: true, simulated: true, supportsFill: false },
    reason:
      'a simulator that is not thread-safe; its check for uninitialised reads sizes its state of a buffer by the ' +
      'last write from the host, and a fill counts as many writes of one word',
  },
  {
    matches: ({ vendor, platform }) => /nvidia/i.test(vendor) && /nvidia cuda/i.test(platform),
    quirks: {
      cachesPrograms: true,
      inlinePtx: true,
      finishIsReliable: true,
      pollSeconds: 1e-3,
      slowProfiling: true,
    },
    reason:
      'the driver compiles OpenCL C to PTX, takes inline PTX and keeps a cache in ~/.nv; a marker with an ' +
      'event costs 12 us, clFinish none; a waiting thread learns of completion 20 us later than a polling one',
  },
];

/** Why algorithms whose work-groups wait for each other cannot run on a device with `maxLoopIterations`. */
export const NO_LONG_WAITS = 'the driver silently ends long loops, such as waits for other work-groups';

/** Returns the quirks of a device: those of all matching rows, where a later row overrides an earlier one. */
export function quirksOf(device: DeviceInfo): Quirks {
  return Object.assign(
    {},
    NO_QUIRKS,
    ...QUIRK_ROWS.filter((row) => row.matches(device)).map((row) => row.quirks),
  );
}
