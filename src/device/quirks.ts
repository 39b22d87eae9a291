import type { DeviceInfo } from './platform.js';

/** What a driver does that its capabilities don't tell. Every row of the table has its reason. */
export interface Quirks {
  /** Iterations of one loop after which a work-item stops without a word. */
  readonly maxLoopIterations: number;
  /** Values of `-cl-std` may be given. */
  readonly acceptsClStd: boolean;
  /** Event profiling returns real times. */
  readonly reportsTimes: boolean;
  /** How often the compiler counts a byte of local memory that a kernel declares. */
  readonly localBytesFactor: number;
  /** All host calls must come from one thread. */
  readonly singleThreaded: boolean;
  /** A simulator, which sorts a few thousand keys a second. */
  readonly simulated: boolean;
  /** The driver keeps compiled programs on disk by itself. */
  readonly cachesPrograms: boolean;
  /** The compiler takes inline PTX in OpenCL C. Of capabilities: and the device has what our PTX uses. */
  readonly inlinePtx: boolean;
  /** clEnqueueFillBuffer may be used. */
  readonly supportsFill: boolean;
  /** Buffers over host memory work in place, without copies. */
  readonly zeroCopy: boolean;
  /** clFinish waits for everything and tells how it ended, whatever thread it is called from. */
  readonly finishIsReliable: boolean;
  /** Seconds for which the end of a command is asked for again and again before a thread waits for it. */
  readonly pollSeconds: number;
  /** What is pinned in a context of its platform is reached directly by devices of the others, too. */
  readonly sharesPinned: boolean;
  /** Commands of a queue that times them take much longer to enqueue, whether anybody asks for the times or not. */
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
  sharesPinned: false,
  slowProfiling: false,
};

const QUIRK_ROWS: readonly QuirkRow[] = [
  {
    matches: ({ platform }) => /portable computing language/i.test(platform),
    quirks: { cachesPrograms: true },
    reason: 'PoCL keeps its own cache of compiled kernels; a corrupt binary handed to it aborts the process',
  },
  {
    matches: ({ type, platform }) => type === 'cpu' && !/oclgrind|rusticl|clover/i.test(platform),
    quirks: { zeroCopy: true },
    reason: 'a CPU device works on host memory itself when a buffer is made over it',
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
      'rusticl 22 tells, and takes, twice the local memory that a kernel declares; rusticl 25 does not, and those ' +
      'between were not asked',
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
      'a simulator that is not thread-safe; its check of uninitialised reads keeps what it knows of a buffer as ' +
      'large as the last write from the host, and a fill is many writes of one word to it',
  },
  {
    matches: ({ vendor, platform }) => /nvidia/i.test(vendor) && /nvidia cuda/i.test(platform),
    quirks: {
      cachesPrograms: true,
      inlinePtx: true,
      finishIsReliable: true,
      pollSeconds: 1e-3,
      sharesPinned: true,
      slowProfiling: true,
    },
    reason:
      'the driver compiles OpenCL C to PTX, takes inline PTX and keeps a cache in ~/.nv; a marker with an ' +
      'event costs it 12 us, clFinish none; a thread that waits hears of an end 20 us later than who asks; ' +
      'from memory that another context has pinned an H100 takes 52 GB/s, from its own 54, from ordinary memory 6',
  },
];

/** The quirks of a device: all rows that match it, where rows disagree the later one. */
export function quirksOf(device: DeviceInfo): Quirks {
  return Object.assign(
    {},
    NO_QUIRKS,
    ...QUIRK_ROWS.filter((row) => row.matches(device)).map((row) => row.quirks),
  );
}
